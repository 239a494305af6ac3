"""The speed report, on a real router."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.routing.speakers import Said, Scripted
from tests.servers.openai_server import OpenAIServer
from tests.unit.routing.conftest import MakeRouter
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
    assert found.single_per_second is not None
    assert found.batched_per_second is not None
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


def test_a_router_that_asks_a_model_has_no_rate_measured_on_kept_answers(
    pool: Pool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    monkeypatch.setenv("SKILL_WORKBENCH_CACHE", str(tmp_path / "cache"))
    Path("routers").mkdir()
    recipe = "description: d\nstages:\n  - bm25:\n  - judge: {model: openai/any, top: 5}\n"
    Path("routers/judged.yaml").write_text(recipe)
    texts = {"a": "draw charts of tables", "b": "extract tables", "c": "write CSV tables"}
    lines = [json.dumps({"task_id": task, "instruction_text": text}) for task, text in texts.items()]
    Path("q.jsonl").write_text("\n".join(lines))
    Path("g.json").write_text(json.dumps({"a": {"gt_skill_ids": ["data/charts"]}}))
    options = ["--pool", str(pool.path), "--queries", "q.jsonl", "--qrels", "g.json", "--json"]
    with OpenAIServer(lambda request: "none of them") as server:
        asked = ["route", "--router", "judged", "--speed", "--llm-base-url", server.url, *options]
        assert run(asked) == 0
        cold = json.loads(capsys.readouterr().out)["speed"]["judged"]
        assert len(server.requests) == 3  # nobody pays twice for a measurement
        assert run(asked) == 0
        kept = json.loads(capsys.readouterr().out)["speed"]["judged"]
    assert [stage["answers"] for stage in cold["stages"]] == ["", "asks a model"]
    assert [stage["answers"] for stage in kept["stages"]] == ["", "from kept answers"]
    assert cold["single_per_second"] is cold["batched_per_second"] is None
    assert "judge: 3 of 3 answers could not be used; the order was left as it was" in cold["notes"]
    assert any(note.startswith("language model: 3 calls") for note in cold["notes"])
    assert any("set SKILL_WORKBENCH_CACHE to an empty folder" in note for note in kept["notes"])


def test_what_answers_need_is_imported_before_the_first_query(make_router: MakeRouter) -> None:
    class Slow(Scripted):
        ready = False

        def prepare(self) -> None:
            self.ready = True

    complete = Slow(lambda ask: Said("1"))
    make_router("- bm25:\n- judge: {model: a/b}", complete=complete).prepare()
    assert complete.ready
    program = (
        "import sys; from pathlib import Path; from workbench.models.completion import Completer\n"
        "complete = Completer(Path('none')); assert 'litellm' not in sys.modules\n"
        "complete.prepare(); assert 'litellm' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
