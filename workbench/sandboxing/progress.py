"""Builds shown to people: live lines in a terminal, one line per finished build when piped."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING

from workbench.core.terminal import console, safe
from workbench.sandboxing.config import BuildPlan
from workbench.sandboxing.images import BuildResult

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, TaskID


class BuildDisplay:
    """A `BuildWatcher` on standard error. Use as a context manager; silent when nothing is built."""

    def __init__(self, out: Console | None = None) -> None:
        self._console = out or console(stderr=True)
        self._progress: Progress | None = None
        self._rows: dict[str, TaskID] = {}

    def __enter__(self) -> BuildDisplay:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._progress is not None:
            self._progress.stop()

    def started(self, plan: BuildPlan) -> None:
        """A row for the build."""
        if not self._console.is_terminal:
            self._console.print(f"building {safe(plan.title)} ...")
            return
        if self._progress is None:
            self._progress = self._rows_of_builds()
            self._progress.start()
        self._rows[plan.tag] = self._progress.add_task(safe(plan.title, 32), total=None, said="")

    def said(self, plan: BuildPlan, line: str) -> None:
        """The latest line of output."""
        if self._progress is not None and plan.tag in self._rows:
            self._progress.update(self._rows[plan.tag], said=safe(line, 60))

    def ended(self, result: BuildResult) -> None:
        """The row becomes one line that stays; images that were there are not mentioned."""
        if self._progress is not None and result.tag in self._rows:
            self._progress.remove_task(self._rows.pop(result.tag))
        if result.built:
            what = f"built {safe(result.title)} in {result.seconds:.0f} s"
            swapped = ", ".join(f"{new} for {old}" for old, new in sorted(result.substitutes.items()))
            self._console.print(f"{what} (with {swapped})" if swapped else what)
        elif not result.ok:
            self._console.print(f"cannot build {safe(result.title)}: {safe(result.error)}")

    def _rows_of_builds(self) -> Progress:
        from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        columns = (
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            TimeElapsedColumn(),
            TextColumn("{task.fields[said]}", style="dim"),
        )
        return Progress(*columns, console=self._console, transient=True)
