"""A router taken apart."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.routing.speakers import saying
from tests.unit.routing.conftest import MakeRouter
from workbench.cli.main import run
from workbench.core.workspace import Workspace
from workbench.metrics.scoring import Relevance
from workbench.routing.explain import described, passages
from workbench.routing.router import Query
from workbench.skills.pool import Pool

RECIPE = """description: Fused, then judged
source: a paper
stages:
  - self_cot: {model: some/reasoner}
  - fuse:
      by: rrf
      channels:
        - {weight: 0.7, stages: [bm25: {k1: 1.2}]}
        - stages: [dense: {model: unpublished/encoder}]
  - judge: {model: some/judge}
"""


def test_a_recipe_is_described_with_what_it_lacks(workspace: Workspace) -> None:
    (workspace.roots[0] / "routers" / "r.yaml").write_text(RECIPE, encoding="utf-8")
    found = described("r", workspace)
    assert [(line.place, line.method) for line in found.stages] == [
        ("1", "self_cot"),
        ("2", "fuse"),
        ("2a1", "bm25"),
        ("2b1", "dense"),
        ("3", "judge"),
    ]
    assert found.stages[1].options == {"by": "rrf", "weights": "0.7, 1.0"}
    assert found.stages[2].options == {"k1": "1.2"}
    assert found.asks == ("some/reasoner", "some/judge")
    assert found.lacks[-1].startswith("the weights of encoder are not published")


def test_every_stage_tells_what_it_kept(make_router: MakeRouter, pool: Pool) -> None:
    router = make_router(
        "- self_cot: {model: some/reasoner}\n- bm25:\n- judge: {model: some/judge, top: 2}",
        complete=saying("2"),
    )
    queries = [Query("a", "tables as charts", gold=("data/charts",)), Query("b", "zzz", gold=("misc/bare",))]
    tasks = {query.id: Relevance(query.gold) for query in queries}
    cot, bm25, judge = passages(router, queries, tasks, pool, 9)
    assert not cot.ranked
    assert (bm25.method, bm25.gold_kept) == ("bm25", 0.5)
    assert bm25.candidates == len(router.route(queries[:1], 9)[0]) / 2
    assert bm25.hit + judge.hit == 0.5  # the judge changes which of two stands first
    assert min(cot.milliseconds, bm25.milliseconds, judge.milliseconds) > 0


def test_a_trace_ends_with_the_answer(make_router: MakeRouter) -> None:
    router = make_router("- bm25:\n- without_gold:")
    query = Query("t", "tables", gold=("gt/pdf-tables",))
    trace = router.trace(query, 3)
    assert [step.method for step in trace] == list(router.methods()) == ["bm25", "without_gold"]
    assert trace[-1].ranking == router.route([query], 3)[0]


def test_the_command_lists_and_explains(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "routers").mkdir()
    (tmp_path / "routers" / "mine.yaml").write_text(RECIPE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert run(["route", "--list"]) == 0
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 80
    (line,) = [line for line in out.splitlines() if line.startswith("mine ")]
    assert "Fused, then judged" in line
    assert "weights, LLM" in line
    assert run(["route", "--list", "--json"]) == 0
    rows = {row["router"]: row for row in json.loads(capsys.readouterr().out)}
    assert rows["mine"]["asks"] == ["some/reasoner", "some/judge"]
    assert rows["bm25"]["lacks"] == []
    assert run(["route", "--explain", "mine"]) == 0
    out = capsys.readouterr().out
    assert "2a1 bm25 (k1: 1.2)" in out
    assert "asks some/judge, or what --llm names" in out
    assert run(["route", "--explain", "mien"]) == 1
    assert "did you mean 'mine'" in capsys.readouterr().err


def test_explaining_with_queries_needs_the_rest(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["route", "--explain", "bm25", "--queries", "q.jsonl"]) == 1
    assert "give --suite NAME, or --pool" in capsys.readouterr().err
