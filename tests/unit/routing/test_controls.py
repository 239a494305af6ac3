"""The routers that are not routers: gold, random, none."""

from __future__ import annotations

from collections import Counter

from tests.unit.routing.conftest import MakeRouter
from workbench.routing.router import Query
from workbench.skills.pool import Pool


def test_gold_returns_the_gold_skills_that_the_pool_has(make_router: MakeRouter) -> None:
    query = Query("t", "", gold=("web/scraper", "gone", "data/charts", "web/scraper"))
    ranking = make_router("- gold:").route([query], 10)[0]
    assert [(entry.id, entry.score) for entry in ranking] == [("data/charts", 1.0), ("web/scraper", 1.0)]
    assert len(make_router("- gold:").route([query], 1)[0]) == 1


def test_nothing_is_nothing(make_router: MakeRouter) -> None:
    assert make_router("- none:").route([Query("a", "pdf"), Query("b", "")], 10) == [(), ()]


def test_lots_depend_on_the_query_and_the_seed_alone(make_router: MakeRouter) -> None:
    def drawn(query: str, seed: int = 0, text: str = "x") -> list[str]:
        return [entry.id for entry in make_router("- random:", seed=seed).route([Query(query, text)], 10)[0]]

    assert drawn("t") == drawn("t") == drawn("t", text="other words")
    assert drawn("t") != drawn("u")
    assert drawn("t") != drawn("t", seed=1)
    assert make_router("- random:").fingerprint != make_router("- random:", seed=1).fingerprint


def test_every_skill_is_drawn_about_equally_often(make_router: MakeRouter, pool: Pool) -> None:
    queries = [Query(str(number), "") for number in range(2000)]
    first = Counter(ranking[0].id for ranking in make_router("- random:").route(queries, 1))
    assert first.keys() == set(pool.ids())
    expected = len(queries) / len(pool)
    chi_square = sum((count - expected) ** 2 / expected for count in first.values())
    assert chi_square < 27.9  # the 99.9 % point for nine degrees of freedom; the draw itself is fixed


def test_lots_are_drawn_among_candidates_only(make_router: MakeRouter) -> None:
    ranking = make_router("- bm25:\n- random:").route([Query("t", "invoices")], 10)[0]
    assert {entry.id for entry in ranking} == {"data/copy-a", "data/copy-b", "data/copy-c"}
