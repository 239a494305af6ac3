"""The speed report, on a real router."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from workbench.cli.main import run
from workbench.core.workspace import Workspace, packaged_root
from workbench.routing.load import RecipeRouter, load_router
from workbench.routing.router import Query
from workbench.routing.speed import measure_speed
from workbench.skills.pool import Pool

QUERIES = [Query("a", "Extract the tables of a PDF"), Query("b", "draw charts"), Query("c", "zzz")]


def test_a_router_is_built_apart_and_timed(pool: Pool, tmp_path: Path) -> None:
    workspace = Workspace((packaged_root(),), tmp_path, tmp_path / "cache")
    made: list[Path] = []

    def make(apart: Workspace) -> RecipeRouter:
        made.append(apart.cache)
        return load_router("without-gold", pool, apart)

    found = measure_speed(make, workspace, QUERIES, 5)
    assert not (tmp_path / "cache" / "indexes").exists()
    assert len(made) == 2
    assert not made[0].exists()
    assert [stage.method for stage in found.stages] == ["bm25", "without_gold"]
    assert all(0 < stage.median <= stage.p95 for stage in found.stages)
    assert found.index_bytes > 1000
    assert min(found.build_seconds, found.open_seconds, found.first_milliseconds) > 0
    assert min(found.single_per_second, found.batched_per_second) > 0


def test_the_command_prints_it(
    pool: Pool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("q.jsonl").write_text(json.dumps({"task_id": "a", "instruction_text": "draw charts"}))
    Path("g.json").write_text(json.dumps({"a": {"gt_skill_ids": ["data/charts"]}}))
    options = ["--pool", str(pool.path), "--queries", "q.jsonl", "--qrels", "g.json"]
    assert run(["route", "--router", "bm25", "--speed", *options]) == 0
    out = capsys.readouterr().out
    assert "cold: ready after" in out
    assert "queries/s one at a time" in out
    assert run(["route", "--router", "bm25", "--speed", "--json", *options]) == 0
    report = json.loads(capsys.readouterr().out)["speed"]["bm25"]
    assert report["stages"][0]["method"] == "bm25"
    assert run(["route", "--speed", *options]) == 1
    assert "--router is needed here" in capsys.readouterr().err
