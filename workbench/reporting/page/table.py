"""Tables: sortable by a click or a key, with a filter where they are long."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from workbench.reporting.numbers import Estimate
from workbench.reporting.page.markup import Content, Html, el
from workbench.reporting.wording import interval

_LONG, _TALL, _BROAD = 12, 20, 12
"""Rows from which a table can be filtered, and scrolls by itself; columns from which it is printed small."""
_WORD = 24
"""Characters of a word that is kept whole."""


@dataclass(frozen=True)
class Cell:
    """A cell that sorts by a number; without one it comes last. Any other content sorts by its text."""

    content: Content
    sort: float | None


@dataclass(frozen=True)
class Head:
    """A column: its title (or an axis), whether it holds numbers, whether it can be sorted."""

    title: Content
    numeric: bool = True
    sortable: bool = True
    hint: str | None = None


Row = Sequence[Cell | Content]


def table(caption: str, heads: Sequence[Head], rows: Sequence[Row], *, key: str = "") -> Html:
    """A table in a region that scrolls by itself; the first column heads the rows.

    Args:
        caption: for screen readers, who jump between tables.
        key: adds a filter over rows, under this id, where there are many.
    """
    body = [el("tr", [_cell(cell, i == 0, heads[i]) for i, cell in enumerate(row)]) for row in rows]
    drawn = el(
        "table",
        el("caption", caption, class_="aside"),
        el("thead", el("tr", [_head(head) for head in heads])),
        el("tbody", body),
        id=key or None,
        class_="broad" if len(heads) > _BROAD else None,
    )
    region = el(
        "div",
        drawn,
        class_="scroll tall" if len(rows) > _TALL else "scroll",
        tabindex="0",
        role="group",
        aria_label=caption,
    )
    return Html(_filter(key, caption) + region) if key and len(rows) > _LONG else region


def wrapping(name: str) -> Html:
    """A name that may break over lines where a table is narrow; within words only where one is very long."""
    long = any(len(word) > _WORD for word in re.split(r"[\s-]", name))
    return el("span", name, class_="wrap long" if long else "wrap")


def sorting(value: float | None) -> str:
    """What a script sorts a cell by: the number in full, empty where there is none."""
    return "" if value is None else repr(float(value))


def numbers(found: Estimate, text: str) -> list[Cell]:
    """Two cells: a value, and its interval (or why there is none)."""
    missing = el("span", found.reason, class_="reason") if found.reason else ""
    return [Cell(el("b", text), found.value), Cell(interval(found) or missing, found.low)]


def _filter(key: str, caption: str) -> Html:
    box = el(
        "input", type="search", placeholder="Filter rows", aria_label=f"Filter: {caption}", data_filter=key
    )
    return el("p", box, el("span", "", class_="count", role="status"), class_="filter")


def _head(head: Head) -> Html:
    classes = "number" if head.numeric else None
    if not head.sortable:
        return el("th", head.title, scope="col", class_=classes)
    button = el("button", head.title, type="button", title=head.hint)
    return el("th", button, scope="col", class_=classes, aria_sort="none")


def _cell(cell: Cell | Content, first: bool, head: Head) -> Html:
    content, sort = (cell.content, sorting(cell.sort)) if isinstance(cell, Cell) else (cell, None)
    if first:
        name = wrapping(content) if isinstance(content, str) and not isinstance(content, Html) else content
        return el("th", name, scope="row", data_sort=sort)
    return el("td", content, class_="number" if head.numeric else None, data_sort=sort)
