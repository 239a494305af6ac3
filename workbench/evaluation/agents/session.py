"""What every agent of ours runs inside: the trial's facts, its time limit, and where to report.

Routing, installation and proof happen in the task's setup, so any Inspect solver works as agent;
one that opens a `session` also gets the task's own time limit and reports what it was shown.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

from inspect_ai.log import transcript
from inspect_ai.solver import TaskState
from inspect_ai.util import ExecResult, Limit, apply_limits, cost_limit, sandbox, time_limit

from workbench.benchmarks.task import BenchmarkTask
from workbench.core.record import Installed, Load
from workbench.evaluation.faults import as_faults
from workbench.evaluation.layout import Layout
from workbench.evaluation.state import TrialState
from workbench.evaluation.transcripts import answered
from workbench.evaluation.trials import Trial, state_of, trial_of


@dataclass(frozen=True)
class Session:
    """One agent at work on one trial."""

    trial: Trial
    record: TrialState

    @property
    def task(self) -> BenchmarkTask:
        """What is tried."""
        return self.trial.task

    @property
    def installed(self) -> tuple[Installed, ...]:
        """What its sandbox was proven to hold."""
        return self.record.exposure.installed if self.record.exposure else ()

    @property
    def layout(self) -> Layout:
        """Where things lie in the sandbox; only for a trial that works in one."""
        return self.trial.sandbox_layout

    def observe(self, load: Load) -> None:
        """Report a load as it happens; it is dated to the model's latest turn."""
        turn = len(answered(transcript().events))
        self.record.loads.append(load.model_copy(update={"turn": turn}))

    def incident(self, name: str) -> None:
        """Report something that happened on the way and does not change the score."""
        self.record.incident(name)

    def note(self, text: str) -> None:
        """Leave a line in the transcript for people."""
        transcript().info(text, source="workbench")

    async def execute(self, command: list[str], env: Mapping[str, str]) -> ExecResult[str] | None:
        """Run a command within the task's agent time; ``None`` when it ran out (an incident)."""
        seconds = max(1, round(self.task.limits.agent_seconds))
        try:
            return await sandbox().exec(command, env=dict(env), timeout=seconds, timeout_retry=False)
        except TimeoutError:
            self.incident("agent_timeout")
            return None


@asynccontextmanager
async def session(
    name: str, state: TaskState, *, blind: bool = False, limited: bool = False
) -> AsyncIterator[Session]:
    """Open the trial of `state` for an agent called `name`.

    Args:
        blind: the agent is shown nothing by design, so the funnel skips what it was shown.
        limited: end the block when the task's agent time is over (an incident, not an error).
    """
    trial, record = trial_of(state.uuid), state_of(state.uuid)
    record.agent, record.blind = name, blind
    started = time.monotonic()
    limits: list[Limit] = [time_limit(trial.task.limits.agent_seconds)] if limited else []
    if limited and trial.ceiling is not None:
        limits.append(cost_limit(trial.ceiling))
    try:
        with as_faults("harness_bug"), apply_limits(limits, catch_errors=True) as scope:
            yield Session(trial, record)
        if scope.limit_error is not None:
            record.incident("budget" if scope.limit_error.type == "cost" else "agent_timeout")
    finally:
        record.agent_seconds = time.monotonic() - started
