"""Published tables with our numbers below them: how they are told, and how a terminal shows them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.text import Text

from workbench.core.terminal import safe
from workbench.reporting.drawing import Column, grid
from workbench.reporting.numbers import Estimate
from workbench.reporting.schema import Beside, Summary
from workbench.reporting.wording import measured, percent_interval, wrapped


def published(summary: Summary, width: int) -> RenderableType | None:
    """Every table that was set beside ours, each under its source."""
    if not summary.published:
        return None
    parts = [part for found in summary.published for part in (*_table(found, width), Text(""))]
    return Group(Text(wrapped(lead(summary), width), style="dim"), Text(""), *parts[:-1])


def lead(summary: Summary) -> str:
    """How to read the tables, said once."""
    return (
        "In percent. The papers print no intervals; ours, below theirs, are "
        f"value [{100 * summary.level:g}% interval] (tasks)."
    )


def title(found: Beside) -> str:
    """``SkillReason, table 5: SRA-Bench``."""
    place = found.table if found.table.startswith("text") else f"table {found.table}"
    return f"{found.paper}, {place}: {found.benchmark}"


def notes(found: Beside) -> list[str]:
    """The setting of a table, and what differs."""
    differs = f"differs: {'; '.join(found.differs)}" if found.differs else ""
    return [note for note in (found.setting, differs) if note]


def printed(found: Beside) -> list[list[str]]:
    """The paper's numbers, row by row, with its decimals: ``49.42``, or ``-`` where it has none."""
    values = [value for row in found.theirs for value in row.values if value is not None]
    places = 1 if all(value == round(value, 1) for value in values) else 2
    return [["-" if v is None else f"{v:.{places}f}" for v in row.values] for row in found.theirs]


def own(found: Estimate | None, *, apart: str = " ") -> str:
    """``49.4 [38, 61] (87)``, in percent; the interval comes after `apart`."""
    if found is None or found.value is None:
        return "-"
    return measured(f"{100 * found.value:.1f}", percent_interval(found), found.tasks, apart=apart).rstrip()


def _table(found: Beside, width: int) -> Iterator[RenderableType]:
    yield Text(wrapped(safe(title(found)), width), style="bold")
    for note in notes(found):
        yield Text(wrapped(safe(note), width), style="dim")
    columns = [Column("%", numeric=False), *(Column(_header(name), label=name) for name in found.columns)]
    theirs = [
        [Text(safe(row.system)), *map(Text, cells)]
        for row, cells in zip(found.theirs, printed(found), strict=True)
    ]
    ours = [
        [Text(safe(row.system), style="cyan"), *(Text(own(v, apart="\n")) for v in row.values)]
        for row in found.ours
    ]
    yield grid(columns, [*theirs, *ours], width)


def _header(name: str) -> str:
    """A long name in lines, broken where a word of it ends."""
    return re.sub(r"(Full(?=Coverage)|-(?=\w+$))|( )(?=\()", r"\1\n", name)
