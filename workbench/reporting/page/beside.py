"""Published tables with our numbers below them."""

from __future__ import annotations

from workbench.reporting.numbers import Estimate
from workbench.reporting.page.evidence import section
from workbench.reporting.page.markup import Html, el
from workbench.reporting.page.table import Cell, Head, Row, table
from workbench.reporting.published_view import lead, notes, own, printed, title
from workbench.reporting.schema import Beside, Summary


def published(summary: Summary) -> Html | None:
    """Every table that was set beside ours."""
    if not summary.published:
        return None
    return section("Published numbers", lead(summary), [_table(found) for found in summary.published])


def _table(found: Beside) -> Html:
    heads = [Head("System", numeric=False), *(Head(name) for name in found.columns)]
    theirs: list[Row] = [
        [row.system, *map(Cell, cells, row.values)]
        for row, cells in zip(found.theirs, printed(found), strict=True)
    ]
    ours: list[Row] = [
        [el("strong", row.system, class_="tone-routed"), *(_own(value) for value in row.values)]
        for row in found.ours
    ]
    return el(
        "details",
        el("summary", title(found)),
        el("p", ". ".join(notes(found)), class_="lead"),
        table(title(found), heads, [*theirs, *ours]),
        open=True,
    )


def _own(found: Estimate | None) -> Cell:
    """Sorts among theirs, so in percent."""
    if found is None or found.value is None:
        return Cell(el("span", found.reason, class_="reason") if found and found.reason else "-", None)
    return Cell(own(found), 100 * found.value)
