"""After each evaluation: the summary, printed where a person is watching."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from inspect_ai.hooks import EvalSetEnd, Hooks, RunEnd, hooks
from inspect_ai.util import display_type

from workbench.core.types import TASK_PREFIX


@dataclass
class Gate:
    """Whether a run of this process left more trials out than a report may bear (exit code 4)."""

    failed: bool = False


GATE = Gate()


@hooks(name="workbench_summary", description="Prints the summary of workbench tasks after a run.")
class PrintSummary(Hooks):
    """Reads the logs just written; a failure to summarise never fails a run."""

    def __init__(self) -> None:
        self._ours = False

    async def on_run_end(self, data: RunEnd) -> None:
        """One ``inspect eval`` has ended, or one round of an ``eval-set``."""
        logs = [Path(log.location) for log in data.logs if log.eval.task.startswith(TASK_PREFIX)]
        self._ours = self._ours or bool(logs)
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

    if display_type() != "none":
        GATE.failed = not print_summary(paths, console(), quiet=quiet)
