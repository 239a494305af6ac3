"""Stages in a row: what each sees, how deep it goes, and what happens when one breaks the law."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.unit.routing.conftest import MakeRouter
from workbench.core.errors import WorkbenchError
from workbench.core.types import Ranking, ranked
from workbench.routing.pipeline import Pipeline, Step
from workbench.routing.router import Query, Router
from workbench.routing.stage import Stage
from workbench.skills.pool import Pool


class Spy(Stage):
    """Answers with fixed scores and remembers what it was asked."""

    def __init__(self, answer: dict[str, float], wants: int = 0, name: str = "") -> None:
        self.answer = answer
        self.wants = wants
        self.name = name
        self.asked: list[tuple[Sequence[Query], Sequence[Ranking] | None, int]] = []

    @property
    def identity(self) -> str:
        return self.name

    def depth(self, k: int) -> int:
        return max(k, self.wants)

    def run(self, queries: Sequence[Query], candidates: Sequence[Ranking] | None, k: int) -> list[Ranking]:
        self.asked.append((queries, candidates, k))
        return [ranked(self.answer.items(), k) for _ in queries]


ALL = {"data/charts": 3.0, "data/csv-clean": 2.0, "web/scraper": 1.0}
QUERY = Query("t", "text", gold=("gt/pdf-tables",))


def test_a_stage_sees_the_ranking_before_it_as_deep_as_it_wants(pool: Pool) -> None:
    first, second = Spy(ALL), Spy({"web/scraper": 1.0}, wants=3)
    pipeline = Pipeline([Step("first", first, ""), Step("second", second, "")], pool)
    assert pipeline.run([QUERY], 1) == [ranked({"web/scraper": 1.0}.items())]
    assert first.asked[0][1:] == (None, 3)
    assert second.asked[0][1:] == ([ranked(ALL.items())], 1)


def test_gold_is_hidden_from_every_stage_that_does_not_declare_it(pool: Pool) -> None:
    blind, seeing = Spy(ALL), Spy(ALL)
    Pipeline([Step("blind", blind, ""), Step("seeing", seeing, "", uses_gold=True)], pool).run([QUERY], 2)
    assert blind.asked[0][0][0].gold == ()
    assert seeing.asked[0][0][0].gold == QUERY.gold


def test_a_stage_that_invents_a_skill_is_stopped(pool: Pool) -> None:
    pipeline = Pipeline([Step("odd", Spy({"invented": 1.0}), "")], pool)
    with pytest.raises(WorkbenchError, match="routing method 'odd' broke the law of rankings: 'invented'"):
        pipeline.run([QUERY], 2)


def test_the_fingerprint_knows_every_stage_and_its_weights(pool: Pool) -> None:
    def fingerprint(description: str, weights: str) -> str:
        return Pipeline([Step("m", Spy(ALL, name=weights), description)], pool).fingerprint

    assert fingerprint("a", "w") == fingerprint("a", "w")
    assert len({fingerprint("a", "w"), fingerprint("b", "w"), fingerprint("a", "v")}) == 3


def test_no_queries_give_no_rankings(pool: Pool) -> None:
    assert Pipeline([Step("m", Spy(ALL), "")], pool).run([], 5) == []


def test_a_recipe_makes_a_router(make_router: MakeRouter) -> None:
    router = make_router("- none:")
    assert isinstance(router, Router)
    assert (router.name, router.index_fingerprint) == ("made", None)
    with pytest.raises(ValueError, match="k must be at least 1"):
        router.route([QUERY], 0)


def test_two_indexes_have_a_fingerprint_of_their_own(make_router: MakeRouter) -> None:
    one, other = (make_router(f"- bm25: {{k1: {k1}}}").index_fingerprint for k1 in (1, 2))
    both = make_router("- bm25: {k1: 1}\n- bm25: {k1: 2}").index_fingerprint
    assert len({one, other, both}) == 3
