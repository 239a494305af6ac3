"""What a sweep shows: fits 80 columns, counts what is known, and says what is not."""

from __future__ import annotations

import io
from pathlib import Path

from rich.console import Console, RenderableType

from workbench.cli._sweep_ledger import Cell, Ledger, Progress
from workbench.cli._sweep_prices import Price, Prices
from workbench.cli._sweep_view import Board, forecast, standing

CELLS: dict[Cell, Progress] = {
    ("litellm/openai/gpt-5.1", "auto", "none"): Progress(60, 60, 0, 0, 12.0, 1.5),
    ("litellm/openai/gpt-5.1", "auto", "bm25 k=5"): Progress(60, 20, 1, 4, 11.0, 0.75),
    ("none/none", "oracle", "random"): Progress(60),
}


def drawn(content: RenderableType) -> str:
    console = Console(file=io.StringIO(), width=80, color_system=None)
    console.print(content)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_every_cell_has_a_line_with_success_so_far_and_spend() -> None:
    text = drawn(standing(CELLS, 80))
    assert max(map(len, text.splitlines())) <= 80
    line = next(line for line in text.splitlines() if "bm25 k=5" in line)
    assert "21/60" in line
    assert "0.55" in line
    assert "$0.75" in line
    assert next(line for line in text.splitlines() if "random" in line).split()[-1] == "-"


def test_the_summary_line_counts_all_cells_and_guesses_no_time_without_a_pace(tmp_path: Path) -> None:
    board = Board(Ledger(tmp_path / "ledger.jsonl", dict(CELLS)), 80)
    assert board.line() == "81 of 180 trials · 4 running · $2.25 spent"


def test_a_forecast_multiplies_what_is_left_and_leaves_unknowns_unknown() -> None:
    prices = {("litellm/openai/gpt-5.1", "auto", "bm25 k=5"): Price(9.0, 4000.0, 0.02, 36.0)}
    text = drawn(forecast(CELLS, Prices(prices), 80))
    line = next(line for line in text.splitlines() if "bm25 k=5" in line)
    assert line.split()[-4:] == ["360", "160,000", "$0.80", "0.40"]
    total = next(line for line in text.splitlines() if line.startswith("in all"))
    assert total.split() == ["in", "all", "180", "80", "-", "-", "-", "-"]
    assert "not known" in text
