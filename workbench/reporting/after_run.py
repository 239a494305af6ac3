"""After each evaluation: the summary, printed where a person is watching."""

from __future__ import annotations

from pathlib import Path

from inspect_ai.hooks import EvalSetEnd, Hooks, RunEnd, hooks
from inspect_ai.util import display_type

from workbench.core.types import TASK_PREFIX


@hooks(name="workbench_summary", description="Prints the summary of workbench tasks after a run.")
class PrintSummary(Hooks):
    """Reads the logs just written; a failure to summarise never fails a run."""

    async def on_run_end(self, data: RunEnd) -> None:
        """One ``inspect eval`` has ended."""
        if data.eval_set_id is None:
            _print([Path(log.location) for log in data.logs if log.eval.task.startswith(TASK_PREFIX)])

    async def on_eval_set_end(self, data: EvalSetEnd) -> None:
        """An ``inspect eval-set`` has ended; logs of earlier starts count too."""
        _print([Path(data.log_dir.removeprefix("file://"))])


def _print(paths: list[Path]) -> None:
    if not paths or display_type() == "none":
        return
    from workbench.core.terminal import console
    from workbench.reporting.announce import print_summary

    print_summary(paths, console())
