"""The trials in progress: what belongs to a sample but not into its log, by the sample's uuid."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from workbench.benchmarks.task import BenchmarkTask
from workbench.core.errors import UsageError
from workbench.evaluation.layout import Layout


@dataclass(frozen=True)
class Trial:
    """One trial.

    Attributes:
        task: what is tried.
        layout: where things lie in its sandbox.
        disclosure: how skills are shown.
        skill_texts: id -> the SKILL.md that was installed and proven.
    """

    task: BenchmarkTask
    layout: Layout
    disclosure: str
    skill_texts: Mapping[str, str]


_trials: dict[str, Trial] = {}


def begin(uuid: str, trial: Trial) -> None:
    """Register a trial; `end` must follow."""
    _trials[uuid] = trial


def end(uuid: str) -> None:
    """Forget a trial."""
    _trials.pop(uuid, None)


def trial_of(uuid: str) -> Trial:
    """The trial of a sample.

    Raises:
        UsageError: the sample is not one of a workbench task.
    """
    if uuid not in _trials:
        raise UsageError("this agent runs only in workbench tasks, e.g. inspect eval workbench/quickstart")
    return _trials[uuid]
