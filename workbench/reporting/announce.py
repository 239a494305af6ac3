"""Logs -> summary, and the summary printed where a person is watching."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.core.errors import UsageError, WorkbenchError
from workbench.core.terminal import safe
from workbench.reporting.drawing import UNICODE
from workbench.reporting.find import find_logs
from workbench.reporting.read import Notes, read_trials
from workbench.reporting.report import Canvas
from workbench.reporting.schema import Summary
from workbench.reporting.summary import summarise

if TYPE_CHECKING:
    from rich.console import Console

    from workbench.reporting.table import TrialTable


def summary_of(logs: Sequence[Path], table: TrialTable | None = None) -> Summary:
    """The summary of log files; `table` is told of every trial on the way.

    Raises:
        UsageError: not one of them is a log of a workbench task; says what each is.
    """
    notes = Notes()
    trials = read_trials(logs, notes)
    summary = summarise(trials if table is None else table.watch(trials), notes)
    if not notes.read and not summary.planned:
        found = [*notes.unreadable, *notes.foreign]
        listed = "; ".join(f"{path}: {reason}" for path, reason in found[:3])
        more = f"; and {len(found) - 3} more" if len(found) > 3 else ""
        raise UsageError(f"no log of a workbench task that can be read ({listed}{more})")
    return summary


def canvas_of(console: Console) -> Canvas:
    """What a console can show."""
    return Canvas(
        width=max(console.width, 20),
        colour=console.is_terminal and not console.no_color and console.color_system is not None,
        unicode=_shows_unicode(console.encoding),
    )


def print_summary(paths: Sequence[Path], console: Console, *, quiet: bool = False) -> bool:
    """Print the summary of logs or folders, and where to read on. Never raises: a run is worth more.

    Args:
        quiet: say nothing where there is no log of a workbench task.

    Returns:
        Whether no more trials are missing than a report may bear, as far as that is known.
    """
    from workbench.reporting.reports import terminal

    try:
        logs = find_logs(paths)
        summary = summary_of(logs)
        console.print(terminal.build(summary, canvas_of(console)))
        folder = _short(logs[0].parent)
        console.print(f"workbench report {folder}  |  inspect view --log-dir {folder}", style="dim")
    except WorkbenchError as error:
        if not quiet:
            console.print(f"no summary: {safe(str(error))}")
    except Exception as error:
        where = " ".join(_short(path) for path in paths)
        with suppress(Exception):
            console.print(f"no summary: {safe(repr(error))}; try: workbench report {where}")
    else:
        return summary.complete
    return True


def _short(path: Path) -> str:
    """The path as one would type it from here."""
    text = os.path.relpath(path)
    return safe(str(path) if text.startswith("..") else text)


def _shows_unicode(encoding: str) -> bool:
    """Whether every character of the drawings can be written in an encoding."""
    try:
        "".join([UNICODE.point, UNICODE.line, UNICODE.axis, UNICODE.rule, *UNICODE.stages.values()]).encode(
            encoding
        )
    except (UnicodeEncodeError, LookupError):
        return False
    return True
