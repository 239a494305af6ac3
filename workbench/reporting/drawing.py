"""Bars and tables made of characters, in Unicode or ASCII, at any width."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from workbench.core.types import FUNNEL, FunnelStage
from workbench.reporting.wording import wrapped

_GAP = 2
_NARROWEST = 10


@dataclass(frozen=True)
class Glyphs:
    """The characters of one alphabet. Funnel stages differ without colour as well."""

    point: str
    line: str
    axis: str
    dot: str
    times: str
    rule: str
    stages: Mapping[FunnelStage, str]


UNICODE = Glyphs("●", "━", "·", "·", "×", "─", dict(zip(FUNNEL, "╌┄░▒▓█", strict=True)))
ASCII = Glyphs("o", "=", ".", "-", "x", "-", dict(zip(FUNNEL, "prslf#", strict=True)))

STAGE_STYLES: Mapping[FunnelStage, str] = {
    "not_in_pool": "bright_black",
    "not_routed": "red",
    "not_shown": "magenta",
    "not_loaded": "bright_blue",
    "failed": "yellow",
    "passed": "green",
}


def interval_bar(value: float, low: float, high: float, width: int, glyphs: Glyphs, style: str) -> Text:
    """A point and its interval on the axis from 0 to 1."""
    cells = [glyphs.axis] * width
    first, last = _cell(low, width), _cell(high, width)
    for position in range(first, last + 1):
        cells[position] = glyphs.line
    cells[_cell(value, width)] = glyphs.point
    bar = Text("".join(cells), style="bright_black", no_wrap=True)
    bar.stylize(style, first, last + 1)
    return bar


def stacked_bar(counts: Mapping[FunnelStage, int], width: int, glyphs: Glyphs) -> Text:
    """Trials by funnel stage, best first; every stage with a trial gets at least one character."""
    bar = Text(no_wrap=True)
    order = tuple(reversed(FUNNEL))
    for stage, size in zip(order, shares([counts.get(s, 0) for s in order], width), strict=True):
        bar.append(glyphs.stages[stage] * size, style=STAGE_STYLES[stage])
    return bar


def shares(counts: Sequence[int], width: int) -> list[int]:
    """Whole cells in proportion to counts, `width` in all, at least one for every count above 0."""
    total = sum(counts)
    if total == 0:
        return [0] * len(counts)
    exact = [count * width / total for count in counts]
    cells = [max(int(size), 1) if count else 0 for size, count in zip(exact, counts, strict=True)]
    while (spare := width - sum(cells)) != 0:
        wanted = [size - cell for size, cell in zip(exact, cells, strict=True)]
        if spare > 0:
            cells[wanted.index(max(wanted))] += 1
        else:
            able = [i for i, cell in enumerate(cells) if cell > 1]
            if not able:
                break
            cells[min(able, key=wanted.__getitem__)] -= 1
    return cells


def _cell(value: float, width: int) -> int:
    return min(width - 1, max(0, round(value * (width - 1))))


@dataclass(frozen=True)
class Column:
    """A column of a grid.

    Attributes:
        header: may have several lines.
        label: the header in a list, if other than its lines joined.
        optional: left out, the last first, where space is short.
    """

    header: str
    numeric: bool = True
    label: str = ""
    optional: bool = False

    @property
    def in_list(self) -> str:
        """The header as one line."""
        return self.label or " ".join(self.header.split())


Rows = Sequence[Sequence[Text]]


def grid(columns: Sequence[Column], rows: Rows, width: int) -> RenderableType:
    """A table where it fits into `width`: at need without its optional columns, then with its first
    column folded; else a list."""
    kept = list(range(len(columns)))
    while (excess := natural_width(columns, rows, kept) - width) > 0:
        spare = [index for index in kept if columns[index].optional]
        if not spare:
            break
        kept.remove(spare[-1])
    first = _width(columns, rows, kept[0])
    if excess > 0 and first - excess < _NARROWEST:
        return _listed([columns[i] for i in kept], [[row[i] for i in kept] for row in rows])
    return _table(columns, rows, kept, first - max(excess, 0))


def grid_and_line(columns: Sequence[Column], rows: Rows, width: int) -> RenderableType:
    """A grid whose last column is told in a line below it where the table has no room for it."""
    needed = [index for index, column in enumerate(columns) if not column.optional]
    if natural_width(columns, rows, needed) <= width:
        return grid(columns, rows, width)
    found = [f"{row[0].plain} {' '.join(row[-1].plain.split())}" for row in rows if row[-1].plain != "-"]
    table = grid(columns[:-1], [row[:-1] for row in rows], width)
    line = Text(wrapped(f"{columns[-1].in_list}: {', '.join(found)}", width))
    return Group(table, line) if found else table


def natural_width(columns: Sequence[Column], rows: Rows, kept: Sequence[int] | None = None) -> int:
    """Width that columns (all, or those `kept`) need when nothing is folded."""
    chosen = range(len(columns)) if kept is None else kept
    return sum(_width(columns, rows, index) + _GAP for index in chosen) - _GAP


def _width(columns: Sequence[Column], rows: Rows, index: int) -> int:
    lines = [columns[index].header, *(row[index].plain for row in rows)]
    return max(cell_len(part) for line in lines for part in line.split("\n"))


def _table(columns: Sequence[Column], rows: Rows, kept: Sequence[int], first: int) -> Table:
    table = Table(box=None, padding=(0, _GAP, 0, 0), pad_edge=False, header_style="dim", show_edge=False)
    table.show_header = any(columns[index].header for index in kept)
    for index in kept:
        lead = index == kept[0]
        table.add_column(
            columns[index].header,
            justify="right" if columns[index].numeric else "left",
            no_wrap=not lead,
            overflow="fold",
            width=first if lead else None,
        )
    for row in rows:
        table.add_row(*(row[index] for index in kept))
    return table


def _listed(columns: Sequence[Column], rows: Rows) -> RenderableType:
    """Each row as its first cell, and below it every other cell after its header."""
    parts: list[RenderableType] = []
    for row in rows:
        if row[0].plain:
            parts.append(row[0])
        pairs = [
            Text.assemble((f"{column.in_list} ", "dim"), Text(" ").join(cell.split("\n")))
            for column, cell in zip(columns[1:], row[1:], strict=True)
            if cell.plain.strip(" -")
        ]
        parts.append(Padding(Text(", ").join(pairs), (0, 0, 0, 2)))
    return Group(*parts)
