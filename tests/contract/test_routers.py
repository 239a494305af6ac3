"""The law of `routing.router.Router`, for every method and every recipe found.

Models named in a recipe are replaced by tiny random ones of the same kind, found through
$SKILL_WORKBENCH_MODELS. Nothing here names a method or a recipe.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from tests.routing import pools, tiny_models
from tests.routing.speakers import ByRule
from workbench.core.workspace import Workspace, packaged_root
from workbench.routing.load import RecipeRouter, load_router
from workbench.routing.recipe import StageSpec, load_recipe, method_names
from workbench.routing.router import Query, Router
from workbench.routing.weights import ModelChoice
from workbench.skills.pool import Pool

RECIPES = Workspace((packaged_root(),), Path(), Path()).names("routers")
METHODS = method_names()


def unlike() -> list[str]:
    """The recipes, one for each kind: models are replaced, so those that differ in a model alone are one."""
    kinds: dict[str, str] = {}
    for name in RECIPES:
        text = (packaged_root() / "routers" / f"{name}.yaml").read_text(encoding="utf-8")
        stages = re.sub(r"\b(model|revision): [^,}\n]+", "", text.partition("\nstages:")[2])
        kinds.setdefault(stages, name)
    return list(kinds.values())


CASES = [*(f"recipe {name}" for name in unlike()), *(f"method {name}" for name in METHODS)]
QUERIES = [
    Query("pdf", "Extract the tables of a PDF and write clean CSV data", gold=("misc/bare",)),
    Query("zh", "请处理表格数据", gold=("zh/表格", "gone/skill")),
    Query("same", "Byte for byte the same advice about invoices, please"),
    Query("mesh", "Measure the volume of a mesh", gold=("gt/mesh-analysis",)),
]
LONG = Query("long", "Measure the volume of a mesh. " * 3500, gold=("gt/mesh-analysis",))
WORDLESS = [Query("empty", ""), Query("blank", " \n\t"), Query("marks", "?!… ✅")]

Make = Callable[..., RecipeRouter]


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Pool:
    return pools.write(tmp_path_factory.mktemp("pool") / "small.pool")


@pytest.fixture(scope="module", params=CASES)
def case(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Workspace, str]]:
    """A workspace and the name of a router in it, with every model that it names on this machine."""
    kind, name = request.param.split()
    root = tmp_path_factory.mktemp("case")
    (root / "routers").mkdir()
    if kind == "method":
        stages = example(name)
        text = json.dumps({"description": "an example", "stages": stages})
        (root / "routers" / f"{name}.yaml").write_text(text, encoding="utf-8")
    workspace = Workspace((root, packaged_root()), root, root / "cache")
    named = list(models(load_recipe(workspace.find("routers", name)).stages))
    with pytest.MonkeyPatch.context() as patch:
        if named:
            tiny_models.require_dense()
            encoders = [model for method, model in named if method != "rerank"]
            rerankers = [model for method, model in named if method == "rerank"]
            tiny_models.provide(root / "models", encoders, rerankers)
            patch.setenv("SKILL_WORKBENCH_MODELS", str(root / "models"))
        yield workspace, name


def example(method: str) -> list[dict[str, Any]]:
    """A small recipe of one method, behind a stage that gives it candidates where it needs them."""
    module = load_module(method)
    before: list[Any] = [{"bm25": {}}] if getattr(module, "NEEDS_CANDIDATES", False) else []
    before += [module.BEHIND] if getattr(module, "REFINES", False) else []
    after: list[Any] = [{"bm25": {}}] if getattr(module, "REWRITES", False) else []
    return [*before, {method: getattr(module, "EXAMPLE", {})}, *after]


def load_module(method: str) -> Any:
    from workbench.core.plugins import load_plugin
    from workbench.routing.recipe import METHODS as PACKAGE

    return load_plugin(PACKAGE, method, "routing method")


def models(stages: tuple[StageSpec, ...]) -> Iterator[tuple[str, str]]:
    """(method, model) for every model with weights that the stages name."""
    for spec in stages:
        if isinstance(spec.options, ModelChoice) and isinstance(
            model := getattr(spec.options, "model", None), str
        ):
            yield spec.method, model
        for channel in spec.channels:
            yield from models(channel)


def is_control(workspace: Workspace, name: str, flag: str = "IS_CONTROL") -> bool:
    """Whether it answers by something else than the text."""
    stages = load_recipe(workspace.find("routers", name)).stages
    return any(getattr(spec.module, flag, False) for spec in stages)


@pytest.fixture
def router(case: tuple[Workspace, str], pool: Pool) -> RecipeRouter:
    workspace, name = case
    return load_router(name, pool, workspace, seed=3, complete=ByRule())


def test_it_is_a_router_with_a_name_and_fingerprints(
    router: RecipeRouter, case: tuple[Workspace, str]
) -> None:
    assert isinstance(router, Router)
    assert router.name == case[1]
    assert len(router.fingerprint) == 64
    assert router.index_fingerprint is None or len(router.index_fingerprint) == 64


def test_rankings_keep_the_law(router: RecipeRouter, pool: Pool) -> None:
    for k in (1, 4, 50):
        rankings = router.route(QUERIES, k)
        assert len(rankings) == len(QUERIES)
        for ranking in rankings:
            ids = [entry.id for entry in ranking]
            assert len(ranking) <= k
            assert len(set(ids)) == len(ids)
            assert all(skill in pool for skill in ids)
            assert all(math.isfinite(entry.score) for entry in ranking)
            assert list(ranking) == sorted(ranking, key=lambda entry: (-entry.score, entry.id))


def test_the_first_of_a_deep_ranking_are_the_shallow_ranking(router: RecipeRouter) -> None:
    deep = router.route(QUERIES, 50)
    for k in (1, 2, 3, 7):
        assert router.route(QUERIES, k) == [ranking[:k] for ranking in deep]


def test_other_queries_in_the_batch_change_nothing(router: RecipeRouter) -> None:
    together = router.route(QUERIES, 6)
    assert [router.route([query], 6)[0] for query in QUERIES] == together
    assert router.route(QUERIES[::-1], 6) == together[::-1]


def test_the_order_in_which_a_pool_was_written_changes_nothing(
    case: tuple[Workspace, str], router: RecipeRouter, tmp_path: Path
) -> None:
    workspace, name = case
    other = pools.write(tmp_path / "reversed.pool", order=[*pools.SKILLS][::-1])
    moved = Workspace(workspace.roots, tmp_path, tmp_path / "cache")
    assert load_router(name, other, moved, seed=3, complete=ByRule()).route(QUERIES, 8) == router.route(
        QUERIES, 8
    )


def test_the_same_seed_gives_the_same_answer_from_the_cache_too(
    case: tuple[Workspace, str], router: RecipeRouter, pool: Pool
) -> None:
    workspace, name = case
    again = load_router(name, pool, workspace, seed=3, complete=ByRule())
    assert again.route(QUERIES, 8) == router.route(QUERIES, 8)
    assert again.fingerprint == router.fingerprint
    assert again.index_fingerprint == router.index_fingerprint


def test_without_a_word_there_is_no_result(router: RecipeRouter, case: tuple[Workspace, str]) -> None:
    if not is_control(*case):
        assert router.route(WORDLESS, 10) == [(), (), ()]


def test_a_query_of_a_hundred_kilobytes_is_answered(router: RecipeRouter) -> None:
    assert len(LONG.text) > 100_000
    assert len(router.route([LONG], 3)) == 1


def test_a_query_that_is_no_valid_unicode_is_answered(router: RecipeRouter) -> None:
    assert len(router.route([Query("broken", "Extract \ud800 tables")], 3)) == 1


def test_an_empty_pool_gives_empty_rankings(case: tuple[Workspace, str], tmp_path: Path) -> None:
    workspace, name = case
    empty = pools.write(tmp_path / "empty.pool", {})
    router = load_router(name, empty, workspace, complete=ByRule())
    router.prepare()
    assert router.route([*QUERIES, *WORDLESS], 10) == [()] * 7


def test_gold_is_seen_by_none_but_the_control(case: tuple[Workspace, str], router: RecipeRouter) -> None:
    workspace, name = case
    if is_control(workspace, name) and is_control(workspace, name, "USES_GOLD"):
        return
    blind = [Query(query.id, query.text) for query in QUERIES]
    assert router.route(blind, 8) == router.route(QUERIES, 8)


def test_it_may_be_asked_from_several_threads(router: RecipeRouter) -> None:
    expected = router.route(QUERIES[:3], 6)
    with ThreadPoolExecutor(4) as threads:
        assert all(
            found == expected for found in threads.map(lambda _: router.route(QUERIES[:3], 6), range(8))
        )


@pytest.mark.parametrize("method", METHODS)
def test_a_method_exports_what_recipes_need(method: str) -> None:
    module = load_module(method)
    assert issubclass(module.Config, BaseModel)
    assert module.Config.model_config["frozen"]
    assert module.REVISION >= 1
    with pytest.raises(ValidationError):
        module.Config.model_validate({**getattr(module, "EXAMPLE", {}), "no_such_option": 1})


@pytest.mark.parametrize("method", METHODS)
def test_every_option_of_a_method_is_explained(method: str) -> None:
    config = load_module(method).Config
    told = "\n".join(
        cls.__doc__ or "" for cls in config.__mro__ if issubclass(cls, BaseModel) and cls is not BaseModel
    )
    assert [name for name in config.model_fields if f"{name}:" not in told] == []


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_says_what_it_is(name: str) -> None:
    recipe = load_recipe(packaged_root() / "routers" / f"{name}.yaml")
    assert 10 < len(recipe.description) <= 72  # two lines of `workbench route --list`
    assert recipe.source or recipe.description.startswith("Control:")
