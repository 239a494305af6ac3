"""After each evaluation: the summary, printed where a person is watching."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from inspect_ai.hooks import EvalSetEnd, Hooks, RunEnd, RunStart, hooks
from inspect_ai.util import display_type

from workbench.core.types import TASK_PREFIX


@dataclass
class Gate:
    """How the command that ran ended.

    Attributes:
        code: 130 if a run was interrupted, 4 if one left more trials out than a report may bear, else 0.
    """

    code: int = 0


GATE = Gate()


@hooks(name="workbench_summary", description="Prints the summary of workbench tasks after a run.")
class PrintSummary(Hooks):
    """Reads the logs just written; a failure to summarise never fails a run."""

    def __init__(self) -> None:
        self._ours = False
        self._started = False

    async def on_run_start(self, data: RunStart) -> None:
        """Remember whether a task of ours is among those that run."""
        self._started = any(name.startswith(TASK_PREFIX) for name in data.task_names)

    async def on_run_end(self, data: RunEnd) -> None:
        """One ``inspect eval`` has ended, or one round of an ``eval-set``."""
        logs = [Path(log.location) for log in data.logs if log.eval.task.startswith(TASK_PREFIX)]
        self._ours = self._ours or bool(logs)
        if self._started and not data.logs:  # what Inspect tells of a run that was interrupted
            GATE.code = 130
        if data.eval_set_id is None and logs:
            _sum_up(logs)

    async def on_eval_set_end(self, data: EvalSetEnd) -> None:
        """An ``inspect eval-set`` has ended; logs of earlier starts count too."""
        folder = Path(data.log_dir.removeprefix("file://"))
        if self._ours or any(folder.glob("*.eval")):
            _sum_up([folder], quiet=not self._ours)


def _sum_up(paths: list[Path], *, quiet: bool = False) -> None:
    from workbench.core.terminal import console
    from workbench.reporting.announce import print_summary

    if display_type() == "none":
        return
    out = console()
    if not out.is_terminal:
        out.print()  # Inspect leaves its last line open
    if not print_summary(paths, out, quiet=quiet) and not GATE.code:
        GATE.code = 4
