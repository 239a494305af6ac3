"""Published tables with our numbers below them, at a terminal."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.text import Text

from workbench.core.terminal import safe
from workbench.reporting.drawing import Column, grid
from workbench.reporting.schema import Beside, Summary


def published(summary: Summary, width: int) -> RenderableType | None:
    """Every table that was set beside ours, each under its source."""
    if not summary.published:
        return None
    parts = [part for found in summary.published for part in (*_table(found, width), Text(""))]
    return Group(*parts[:-1])


def title(found: Beside) -> str:
    """``SkillReason, table 5: SRA-Bench``."""
    place = found.table if found.table.startswith("text") else f"table {found.table}"
    return f"{found.paper}, {place}: {found.benchmark}"


def _table(found: Beside, width: int) -> list[RenderableType]:
    columns = [Column("%", numeric=False), *(Column(name) for name in found.columns)]
    rows = [
        [
            Text(safe(row.system), style="cyan" if row.ours else ""),
            *(Text("-" if v is None else f"{v:.1f}") for v in row.values),
        ]
        for row in found.rows
    ]
    notes = [found.setting, f"differs: {'; '.join(found.differs)}" if found.differs else ""]
    said: list[RenderableType] = [Text(safe(note), style="dim") for note in notes if note]
    return [Text(safe(title(found)), style="bold"), *said, grid(columns, rows, width)]
