"""What `--diagnose` calls whole is the router, and every part of it but the encoder is a module."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.routing import tiny_models
from tests.servers.openai_server import OpenAIServer
from workbench.cli.main import run
from workbench.core.errors import UsageError
from workbench.core.workspace import packaged_root
from workbench.models.completion import Completer
from workbench.routing.ablation import anatomy, variants
from workbench.routing.language import Ask, user
from workbench.routing.recipe import Recipe, load_recipe
from workbench.routing.weights import MODELS_VARIABLE, ModelChoice
from workbench.skills.pool import Pool

SHIPPED = [load_recipe(path) for path in sorted((packaged_root() / "routers").glob("*.yaml"))]
WITH_ENCODER = [recipe for recipe in SHIPPED if any(spec.method == "dense" for spec in recipe.specs())]
SHAPES = ["qwen3-0.6b-rerank", "skillrouter-judge", "skillreason-selfcot", "skillrep", "minilm"]
TASKS = {
    "pdf": ("Extract the tables of a PDF", "gt/pdf-tables"),
    "mesh": ("Measure the volume of a mesh", "gt/mesh-analysis"),
    "csv": ("clean CSV data", "data/csv-clean"),
    "chart": ("draw charts of a table", "data/charts"),
}


def _named(recipe: Recipe) -> str:
    return recipe.name


@pytest.mark.parametrize("recipe", WITH_ENCODER, ids=_named)
def test_the_whole_has_every_stage_of_the_recipe(recipe: Recipe) -> None:
    made = variants(anatomy(recipe))
    assert made["whole"].stages == recipe.stages
    assert [spec.method for spec in made["encoder"].stages] == ["dense"]
    inside = {spec.method for spec in recipe.specs()} - {"dense", "fuse"}
    assert inside <= set(anatomy(recipe).modules)


def test_stages_behind_the_encoder_are_modules(tmp_path: Path) -> None:
    path = tmp_path / "r.yaml"
    stages = "  - dense: {model: a/b}\n  - project:\n  - judge: {model: a/b}\n  - without_gold:\n"
    path.write_text(f"description: d\nstages:\n{stages}", encoding="utf-8")
    parts = anatomy(load_recipe(path))
    assert parts.modules == ("project", "judge", "without_gold")
    made = {label: [s.method for s in recipe.stages] for label, recipe in variants(parts).items()}
    assert made["judge alone"] == ["dense", "judge"]
    assert made["judge last"] == ["dense", "project", "without_gold"]


def test_what_stands_behind_the_encoder_within_its_channel_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "r.yaml"
    own = "      - stages: [dense: {model: a/b}, judge: {model: a/b}]\n      - stages: [bm25: ]\n"
    text = f"description: d\nstages:\n  - fuse:\n      by: rrf\n      channels:\n{own}"
    path.write_text(text, encoding="utf-8")
    recipe = load_recipe(path)
    assert anatomy(recipe).modules == ("judge", "bm25")
    assert variants(anatomy(recipe))["whole"].stages == recipe.stages


def test_an_agent_is_no_module_around_an_encoder() -> None:
    (agentic,) = [recipe for recipe in SHIPPED if recipe.name == "agentic"]
    with pytest.raises(UsageError, match="no single encoder with modules around it"):
        anatomy(agentic)


@pytest.fixture
def options(tmp_path: Path, pool: Pool, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Queries and relevance in the current folder, and tiny weights under the names of real ones."""
    tiny_models.require_dense()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SKILL_WORKBENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    lines = [{"task_id": task, "instruction_text": text} for task, (text, _) in TASKS.items()]
    Path("q.jsonl").write_text("\n".join(map(json.dumps, lines)))
    Path("g.json").write_text(json.dumps({t: {"gt_skill_ids": [gold]} for t, (_, gold) in TASKS.items()}))
    return ["--pool", str(pool.path), "--queries", "q.jsonl", "--qrels", "g.json", "--json"]


def _provide(name: str, folder: Path) -> None:
    (recipe,) = [recipe for recipe in SHIPPED if recipe.name == name]
    for spec in recipe.specs():
        if isinstance(spec.options, ModelChoice):
            save = tiny_models.save_reranker if spec.method == "rerank" else tiny_models.save_encoder
            save(folder / spec.options.model)


@pytest.mark.parametrize("name", SHAPES)
def test_the_whole_measures_what_plain_route_measures(
    name: str, options: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _provide(name, Path("weights"))
    monkeypatch.setenv(MODELS_VARIABLE, str(Path("weights").resolve()))
    with OpenAIServer(lambda request: "3") as server:
        warm = Completer(Path("warm"), "openai/any", server.url)
        warm(Ask("a/b", (user("?"),), 0.3, 1024))  # threads that come first together make a client each
        asked = ["--router", name, "--llm", "openai/any", "--llm-base-url", server.url, *options]
        assert run(["route", *asked]) == 0
        plain = json.loads(capsys.readouterr().out)["results"][0]["metrics"]["all"]
        assert run(["route", "--diagnose", *asked]) == 0
        found = json.loads(capsys.readouterr().out)["diagnosis"][name]
    for metric, value in found["scores"]["whole"].items():
        assert value == pytest.approx(plain[metric]["mean"]), metric
    assert found["notes"][0].startswith("B_Q is estimated from these queries themselves")
    asks = any(module in found["partial_correlations"] for module in ("judge", "self_cot", "expand_query"))
    assert any(note.startswith("language model:") for note in found["notes"]) is asks
