"""Trials as Parquet: one row each, typed, what was not measured null."""

from __future__ import annotations

from pathlib import Path

from pyarrow import parquet

from workbench.reporting.announce import summary_of
from workbench.reporting.table import TrialTable


def test_every_planned_trial_is_a_row_and_the_summary_is_the_same(mixed_log: Path, tmp_path: Path) -> None:
    table = TrialTable()
    assert summary_of([mixed_log], table) == summary_of([mixed_log])
    table.write(tmp_path / "trials.parquet")
    rows = parquet.read_table(tmp_path / "trials.parquet").to_pylist()
    assert len(rows) == 18
    found = {(r["task"], r["condition"], r["epoch"]): r for r in rows}
    lost = found["a", "gold", 2]
    assert (lost["status"], lost["cause"], lost["reward"]) == ("excluded", "infra:start", None)
    kept = found["a", "routed", 1]
    assert (kept["status"], kept["reward"], kept["router"]) == ("scored", 1.0, "bm25")
    assert kept["gold"] == ["gt/a"]
