"""The trials in progress: what belongs to a sample but not into its log, by the sample's uuid."""

from __future__ import annotations

from dataclasses import dataclass

from inspect_ai.tool import Tool, ToolDef

from workbench.benchmarks.task import BenchmarkTask
from workbench.core.errors import TrialError, UsageError
from workbench.disclosure.presentation import Showing, ShownSkill
from workbench.evaluation.layout import Layout
from workbench.evaluation.state import TrialState


@dataclass(frozen=True)
class Trial:
    """One trial.

    Attributes:
        task: what is tried.
        layout: where things lie in its sandbox; ``None`` where nothing was put into one.
        showing: how skills are shown.
        ceiling: the most that it may spend, in US dollars; ``None`` without a budget.
        kit: tools that come with a question.
        skills: what there is to show, in order: as installed and proven, or as the pool has it.
    """

    task: BenchmarkTask
    layout: Layout | None
    showing: Showing
    skills: tuple[ShownSkill, ...]
    kit: tuple[Tool | ToolDef, ...] = ()
    ceiling: float | None = None

    @property
    def sandbox_layout(self) -> Layout:
        """The layout of a trial that has a sandbox to work in."""
        if self.layout is None:
            raise TrialError("harness_bug", f"nothing was installed for '{self.task.id}'")
        return self.layout


_trials: dict[str, Trial] = {}
_states: dict[str, TrialState] = {}


def start(uuid: str) -> TrialState:
    """A new state for a sample, also where an earlier attempt left one; `end` must follow."""
    _states[uuid] = TrialState()
    return _states[uuid]


def begin(uuid: str, trial: Trial) -> None:
    """Register a trial that is set up."""
    _trials[uuid] = trial


def end(uuid: str) -> None:
    """Forget a trial."""
    _trials.pop(uuid, None)
    _states.pop(uuid, None)


def state_of(uuid: str) -> TrialState:
    """The state of a sample; an empty one where its setup never started."""
    return _states.get(uuid) or TrialState()


def trial_of(uuid: str) -> Trial:
    """The trial of a sample.

    Raises:
        UsageError: the sample is not one of a workbench task.
    """
    if uuid not in _trials:
        raise UsageError("this agent runs only in workbench tasks, e.g. inspect eval workbench/quickstart")
    return _trials[uuid]
