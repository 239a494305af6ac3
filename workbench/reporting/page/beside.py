"""Published tables with our numbers below them."""

from __future__ import annotations

from workbench.reporting.page.evidence import section
from workbench.reporting.page.markup import Html, el
from workbench.reporting.page.table import Cell, Head, Row, table
from workbench.reporting.published_view import title
from workbench.reporting.schema import Beside, Summary


def published(summary: Summary) -> Html | None:
    """Every table that was set beside ours."""
    if not summary.published:
        return None
    lead = "What the papers print, in percent, with our numbers on the same benchmark. Mind what differs."
    return section("Published numbers", lead, [_table(found) for found in summary.published])


def _table(found: Beside) -> Html:
    heads = [Head("System", numeric=False), *(Head(name) for name in found.columns)]
    rows: list[Row] = [
        [
            el("strong", row.system, class_="tone-routed") if row.ours else row.system,
            *(Cell("-" if value is None else f"{value:.1f}", value) for value in row.values),
        ]
        for row in found.rows
    ]
    notes = [found.setting, f"differs: {'; '.join(found.differs)}" if found.differs else ""]
    text = ". ".join(note for note in notes if note)
    return el(
        "details",
        el("summary", title(found)),
        el("p", text, class_="lead"),
        table(title(found), heads, rows),
        open=True,
    )
