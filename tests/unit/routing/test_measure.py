"""Routing measured alone."""

from __future__ import annotations

import math

from tests.unit.routing.conftest import MakeRouter
from workbench.core.types import ranked
from workbench.metrics.scoring import Relevance, aggregate
from workbench.routing.measure import measure, route_all
from workbench.routing.router import Query
from workbench.skills.pool import Pool


def test_every_query_is_routed_alone_in_order_and_timed(make_router: MakeRouter) -> None:
    told: list[tuple[str, int, int]] = []
    queries = [Query("b", "mesh"), Query("a", "invoices")]
    found = route_all(make_router("- bm25:"), queries, 1, lambda *step: told.append(step))
    assert {task: [entry.id for entry in ranking] for task, ranking in found.rankings.items()} == {
        "b": ["gt/mesh-analysis"],
        "a": ["data/copy-a"],
    }
    assert list(found.rankings) == ["b", "a"]
    assert len(found.seconds) == 2
    assert min(*found.seconds, found.prepare_seconds) > 0
    assert told == [("route", 1, 2), ("route", 2, 2)]


def test_a_copy_of_gold_is_wrong_strictly_and_right_when_equal_bodies_are_one(pool: Pool) -> None:
    rankings = {"t": ranked([("data/copy-b", 2.0), ("web/scraper", 1.0)])}
    found = measure(rankings, {"t": Relevance(("data/copy-c",))}, pool, 50)
    assert aggregate(found.scores.queries)["all"].means["Hit@1"] == 0.0
    assert aggregate(found.merged)["all"].means["Hit@1"] == 1.0
    assert found.judged == 0.0


def test_equal_scores_leave_the_result_open_within_bounds(pool: Pool) -> None:
    rankings = {"t": ranked([("data/copy-a", 1.0), ("data/copy-b", 1.0)]), "u": ranked([("misc/bare", 1.0)])}
    tasks = {"t": Relevance(("data/copy-b",)), "u": Relevance(("misc/bare",))}
    assert measure(rankings, tasks, pool, 50).bounds["Hit@1"] == (0.5, 1.0)


def test_ids_outside_the_pool_are_counted_and_wrong(pool: Pool) -> None:
    found = measure(
        {"t": ranked([("ghost", 2.0), ("misc/bare", 1.0)])}, {"t": Relevance(("misc/bare",))}, pool, 50
    )
    assert found.strangers == 1
    assert aggregate(found.scores.queries)["all"].means["MRR@10"] == 0.5


def test_without_a_scored_task_nothing_is_claimed(pool: Pool) -> None:
    found = measure({}, {"t": Relevance(("ghost",))}, pool, 50)
    assert found.scores.not_in_pool == ("t",)
    assert math.isnan(found.judged)
    assert found.bounds == {}
