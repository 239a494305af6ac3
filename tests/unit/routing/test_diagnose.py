"""The gap between request and skill, by hand; and a recipe taken apart."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from tests.unit.routing.conftest import MakeRouter
from workbench.cli.main import run
from workbench.core.errors import UsageError
from workbench.metrics.scoring import Relevance
from workbench.routing.ablation import anatomy, variants
from workbench.routing.diagnose import (
    MEASURES,
    Diagnosis,
    Gap,
    background_gap,
    content_words,
    correlations,
    partial_correlation,
)
from workbench.routing.recipe import load_recipe
from workbench.routing.router import Query
from workbench.skills.pool import Pool

DENSE = "- dense:\n    model: tiny/encoder\n    path: {path}\n    device: cpu\n    dtype: float32\n"
WHOLE = """description: all modules
source: a paper
stages:
  - expand_query: {{model: a/b}}
  - fuse:
      by: zscore
      channels:
        - weight: 0.7
          stages:
            - dense: {{model: tiny/encoder, path: "{path}", device: cpu, dtype: float32}}
            - project: {{generic_words: 4}}
        - weight: 0.3
          stages: [bm25: ]
  - without_gold:
"""


def test_a_background_gap_is_what_the_shared_part_adds_to_wrong_skills() -> None:
    basis = np.array([[1.0, 0.0, 0.0]])
    query, gold = np.array([0.5, 0.5, 0.0]), np.array([0.2, 0.9, 0.0])
    competitors = np.array([[0.6, 0.1, 0.0], [0.8, 0.0, 0.2]])
    assert background_gap(query, gold, competitors, basis) == pytest.approx(100 * (0.5 * 0.7 - 0.5 * 0.2))
    assert math.isnan(background_gap(query, gold, competitors[:0], basis))


def test_a_partial_correlation_is_that_of_the_residuals() -> None:
    rng = np.random.default_rng(0)
    control = rng.normal(size=200)
    measure = 2 * control + rng.normal(size=200)
    gain = -3 * control + rng.normal(size=200)
    assert abs(float(np.corrcoef(measure, gain)[0, 1])) > 0.7
    assert abs(partial_correlation(measure.tolist(), gain.tolist(), [control.tolist()])) < 0.2
    related = (measure - 2 * control).tolist()
    assert partial_correlation(measure.tolist(), related, [control.tolist()]) == pytest.approx(1.0, abs=0.01)
    assert math.isnan(partial_correlation([1.0, 2.0, 3.0], [1.0, 1.0, 1.0], [[0.0, 1.0, 3.0]]))
    assert math.isnan(partial_correlation([1.0, 1.0, 1.0, 1.0, 1.0], [1.0, 2.0, 3.0, 4.0, 5.0], []))


def test_the_measures_of_a_query_are_those_of_its_gold_skills(
    make_router: MakeRouter, models: Path, pool: Pool
) -> None:
    router = make_router(DENSE.format(path=models / "tiny/encoder"))
    queries = [
        Query("m", "Measure the volume of a mesh"),
        Query("c", "charts"),
        Query("g", "nothing of it"),
    ]
    tasks = {
        "m": Relevance(("gt/mesh-analysis",)),
        "c": Relevance(("misc/bare",)),
        "g": Relevance(("gone",)),
    }
    mesh, bare = Diagnosis(router, pool, queries).measure(tasks)
    skill = pool.get("gt/mesh-analysis")
    needed = content_words(f"{skill.name} {skill.description} {skill.body}")
    assert mesh.values["lexical"] == pytest.approx(len(needed & {"measure", "volume", "mesh"}) / len(needed))
    assert mesh.values["lexical"] <= mesh.values["semantic"] <= 1
    assert 0 < mesh.values["soft"] <= 1
    space = router.stages()[0]
    query = space.encode(queries[:1])[0].astype(np.float64)  # type: ignore[attr-defined]
    section = space.encode_skills([skill.body])[0].astype(np.float64)  # type: ignore[attr-defined]
    own = dict(router.route(queries[:1], 50)[0])["gt/mesh-analysis"]
    assert mesh.values["dilution"] == pytest.approx(float(section @ query) - own, abs=1e-3)
    assert math.isnan(bare.values["dilution"])
    assert [gap.query for gap in (mesh, bare)] == ["m", "c"]


def test_gains_are_related_to_measures_over_the_queries_that_have_all() -> None:
    rng = np.random.default_rng(1)
    gaps = [Gap(str(n), dict(zip(MEASURES, rng.normal(size=6).tolist(), strict=True))) for n in range(60)]
    gaps.append(Gap("undefined", dict.fromkeys(MEASURES, math.nan)))
    before = {gap.query: float(rng.normal()) for gap in gaps}
    after = {gap.query: before[gap.query] + gap.values["dilution"] for gap in gaps}
    found = correlations(gaps, before, after)
    assert found["dilution"] == pytest.approx(1.0)
    assert set(found) == set(MEASURES)


def test_a_recipe_is_taken_apart_into_its_modules(models: Path, tmp_path: Path) -> None:
    path = tmp_path / "whole.yaml"
    path.write_text(WHOLE.format(path=models / "tiny/encoder"), encoding="utf-8")
    parts = anatomy(load_recipe(path))
    assert parts.modules == ("expand_query", "project", "bm25", "without_gold")
    made = variants(parts)
    shapes = {
        label: [
            [[s.method for s in channel] for channel in spec.channels] or spec.method
            for spec in recipe.stages
        ]
        for label, recipe in made.items()
    }
    assert shapes == {
        "encoder": ["dense"],
        "expand_query alone": ["expand_query", "dense"],
        "project alone": ["dense", "project"],
        "bm25 alone": [[["dense"], ["bm25"]]],
        "without_gold alone": ["dense", "without_gold"],
        "expand_query last": [[["dense", "project"], ["bm25"]], "without_gold"],
        "project last": ["expand_query", [["dense"], ["bm25"]], "without_gold"],
        "bm25 last": ["expand_query", "dense", "project", "without_gold"],
        "without_gold last": ["expand_query", [["dense", "project"], ["bm25"]]],
        "whole": ["expand_query", [["dense", "project"], ["bm25"]], "without_gold"],
    }


def test_a_second_encoder_is_a_module(tmp_path: Path) -> None:
    path = tmp_path / "two.yaml"
    channel = "      - stages: [dense: {model: a/b}, project: ]\n"
    text = "description: d\nstages:\n  - fuse:\n      by: zscore\n      channels:\n"
    path.write_text(f"{text}{channel * 2}      - stages: [bm25: ]\n", encoding="utf-8")
    parts = anatomy(load_recipe(path))
    assert parts.modules == ("project", "dense", "bm25")
    (bare,) = parts.keeping(["dense"]).stages
    assert [[s.method for s in made] for made in bare.channels] == [["dense"], ["dense", "project"]]


def test_a_recipe_without_an_encoder_cannot_be(tmp_path: Path) -> None:
    path = tmp_path / "r.yaml"
    path.write_text("description: d\nstages:\n  - bm25:\n", encoding="utf-8")
    with pytest.raises(UsageError, match="'r' has no single encoder with modules around it"):
        anatomy(load_recipe(path))


def test_the_command_diagnoses(
    models: Path,
    pool: Pool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("routers").mkdir()
    recipe = WHOLE.format(path=models / "tiny/encoder").replace("  - expand_query: {model: a/b}\n", "")
    Path("routers/mine.yaml").write_text(recipe, encoding="utf-8")
    tasks = {"a": ("draw charts", "data/charts"), "b": ("clean CSV", "data/csv-clean"), "c": ("mesh", "gone")}
    lines = [json.dumps({"task_id": t, "instruction_text": text}) for t, (text, _) in tasks.items()]
    Path("q.jsonl").write_text("\n".join(lines))
    Path("g.json").write_text(json.dumps({t: {"gt_skill_ids": [gold]} for t, (_, gold) in tasks.items()}))
    options = ["--pool", str(pool.path), "--queries", "q.jsonl", "--qrels", "g.json"]
    assert run(["route", "--router", "mine", "--diagnose", "--json", *options]) == 0
    report = json.loads(capsys.readouterr().out)["diagnosis"]["mine"]
    assert report["queries"] == 2
    for metric in ("MRR@10", "Recall@10", "nDCG@10"):
        values = {label: scores[metric] for label, scores in report["scores"].items()}
        alone, last = report["gains"][metric]["bm25"]["alone"], report["gains"][metric]["project"]["last"]
        assert alone["difference"] == pytest.approx(values["bm25 alone"] - values["encoder"])
        assert last["difference"] == pytest.approx(values["whole"] - values["project last"])
        assert alone["low"] <= alone["difference"] <= alone["high"]
    assert run(["route", "--router", "mine", "--diagnose", *options]) == 0
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 80
    assert "MRR@10 x 100 [95 % interval]" in out
    assert "rho of project" in out
