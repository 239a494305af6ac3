"""Bars and grids: right in proportion, never too wide, never silent about a small count."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from rich.text import Text

from workbench.core.types import FUNNEL
from workbench.reporting.drawing import ASCII, UNICODE, Column, grid, interval_bar, shares, stacked_bar

COLUMNS = [
    Column("", numeric=False),
    Column("mean", label="success"),
    Column("bar", numeric=False, optional=True),
]
ROWS = [[Text("bm25"), Text("0.50"), Text("----o----")], [Text("random"), Text("1.00"), Text("--------o")]]


def printed(width: int, columns: list[Column] = COLUMNS, rows: list[list[Text]] = ROWS) -> list[str]:
    console = Console(file=io.StringIO(), width=width)
    console.print(grid(columns, rows, width))
    assert isinstance(console.file, io.StringIO)
    return [line.rstrip() for line in console.file.getvalue().splitlines()]


def test_an_interval_is_drawn_where_it_lies() -> None:
    assert interval_bar(0.5, 0.2, 0.9, 11, ASCII, "").plain == "..===o====."
    assert interval_bar(0.0, 0.0, 0.0, 5, ASCII, "").plain == "o...."
    assert interval_bar(1.0, 0.5, 1.0, 5, UNICODE, "").plain == "··━━●"


@given(st.lists(st.integers(0, 500), min_size=6, max_size=6), st.integers(6, 80))
def test_shares_fill_the_width_and_drop_no_count(counts: list[int], width: int) -> None:
    cells = shares(counts, width)
    assert sum(cells) == (width if any(counts) else 0)
    assert all((cell > 0) == (count > 0) for cell, count in zip(cells, counts, strict=True))
    if any(counts):
        assert all(
            abs(cell - count * width / sum(counts)) < 6 for cell, count in zip(cells, counts, strict=True)
        )


def test_a_stacked_bar_begins_with_what_passed() -> None:
    counts = {"passed": 5, "failed": 3, "not_routed": 1, "not_in_pool": 1}
    assert stacked_bar(counts, 10, ASCII).plain == "#####fffrp"  # type: ignore[arg-type]


@pytest.mark.parametrize("glyphs", [ASCII, UNICODE])
def test_stages_can_be_told_apart_without_colour(glyphs: object) -> None:
    assert len(set(glyphs.stages.values())) == len(FUNNEL)  # type: ignore[attr-defined]


def test_the_ascii_alphabet_is_ascii() -> None:
    drawn = [ASCII.point, ASCII.line, ASCII.axis, ASCII.dot, ASCII.times, ASCII.rule, *ASCII.stages.values()]
    assert all(len(character) == 1 and character.isascii() for character in drawn)


def test_a_grid_is_a_table_where_it_fits() -> None:
    assert printed(40) == ["        mean  bar", "bm25    0.50  ----o----", "random  1.00  --------o"]


def test_optional_columns_go_first() -> None:
    assert printed(15) == ["        mean", "bm25    0.50", "random  1.00"]


def test_a_long_first_cell_is_folded_before_the_table_is_given_up() -> None:
    rows = [[Text("skillrouter-0.6b-rerank"), Text("0.50"), Text("-")]]
    assert printed(20, rows=rows) == ["                mean", "skillrouter-0.  0.50", "6b-rerank"]


def test_what_fits_no_table_is_a_list_without_empty_cells() -> None:
    rows = [[Text("bm25"), Text("0.50 [0.10, 0.90]"), Text("")], [Text("x"), Text("-"), Text("")]]
    columns = [Column("", numeric=False), Column("mean", label="success"), Column("p")]
    assert printed(20, columns, rows)[:3] == ["bm25", "  success 0.50", "  [0.10, 0.90]"]
