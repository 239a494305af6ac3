"""Showing how a build goes on: a line that moves in a terminal, nothing when piped."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from workbench.core.terminal import console
from workbench.core.types import Progress, silent

_EVERY = 50
"""Steps between two updates of the line: reading a skill takes less time than drawing it."""


@contextmanager
def shown_progress() -> Iterator[Progress]:
    """A `Progress` on stderr for the block; silent unless stderr is a terminal."""
    stream = console(stderr=True)
    if not stream.is_terminal:
        yield silent
        return
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed:,}"),
        TimeElapsedColumn(),
    )
    with Bars(*columns, console=stream, transient=True) as bars:
        task = bars.add_task("", total=None)
        last = ""

        def update(what: str, done: int, total: int | None) -> None:
            nonlocal last
            if what != last or done % _EVERY == 0 or done == total:
                last = what
                bars.update(task, description=what, completed=done, total=total)

        yield update
