"""Whole runs: the benchmark authors' numbers, and the faults of their scorer that are not ours."""

from __future__ import annotations

import math

import pytest

from tests.routing.parity import load_parity
from workbench.metrics.scoring import (
    QueryScore,
    Relevance,
    aggregate,
    judge,
    judged_share,
    metrics,
    score,
    score_run,
)


def test_the_authors_numbers_are_met_to_the_ninth_digit() -> None:
    parity = load_parity()
    run = score_run(parity.rankings, parity.tasks, parity.in_pool)
    found = aggregate(run.queries)
    for stratum, expected in parity.metrics.items():
        assert found[stratum].count == expected.pop("count")
        assert {name: found[stratum].means[name] for name in expected} == pytest.approx(expected, abs=1e-9)


def test_every_metric_of_the_benchmark_is_there() -> None:
    expected = "Hit@1 MRR@10 Recall@10 Recall@20 Recall@50 FullCoverage@3 FullCoverage@5 FullCoverage@10"
    assert {*expected.split(), "nDCG@1", "nDCG@3", "nDCG@10", "Precision@3"} <= {m.name for m in metrics()}


def test_a_task_without_a_ranking_counts_zero() -> None:
    # The reference scorer skips it: answering only what one gets right gives 100 %.
    tasks = {"easy": Relevance(("a",)), "hard": Relevance(("b",))}
    run = score_run({"easy": ["a"]}, tasks, {"a", "b"})
    assert run.missing == ("hard",)
    assert aggregate(run.queries)["all"].count == 2
    assert aggregate(run.queries)["all"].means["Hit@1"] == 0.5


def test_an_id_repeated_twenty_times_counts_once() -> None:
    # The reference scorer adds its gain each time: nDCG@10 = 2.694 for a benchmark query.
    judged = judge(["a"] * 20 + ["b"], Relevance(("a", "b"), {"a": 3, "b": 3}), {"a", "b"})
    assert judged.ranking == ("a", "b")
    assert score(judged)["nDCG@10"] == 1.0
    assert score(judged)["Precision@3"] == pytest.approx(2 / 3)


def test_gold_is_intersected_with_the_pool_and_the_stratum_is_not() -> None:
    run = score_run({"t": ["a"]}, {"t": Relevance(("a", "gone"))}, {"a"})
    assert run.queries[0].stratum == "multi"
    assert run.queries[0].values["Recall@10"] == 1.0


def test_tasks_that_no_router_could_solve_are_left_out_and_named() -> None:
    tasks = {
        "gone": Relevance(("x",)),
        "generic": Relevance(("a",), counted=False),
        "empty": Relevance(()),
        "fine": Relevance(("a",)),
    }
    run = score_run({}, tasks, {"a"})
    assert [query.query for query in run.queries] == ["fine"]
    assert run.not_in_pool == ("gone",)
    assert run.not_counted == ("generic", "empty")
    assert run.missing == ("fine",)


def test_grades_outside_the_pool_do_not_count_in_the_ideal() -> None:
    judged = judge(["a"], Relevance(("a",), {"a": 3, "gone": 3, "zero": 0}), {"a", "zero"})
    assert judged.grades == {"a": 3.0}
    assert score(judged)["nDCG@10"] == 1.0


def test_without_grades_gold_counts_one() -> None:
    assert judge([], Relevance(("b", "a")), {"a", "b"}).grades == {"a": 1.0, "b": 1.0}


def test_the_metrics_of_a_query_without_gold_are_undefined() -> None:
    assert all(math.isnan(value) for value in score(judge(["a"], Relevance(()), {"a"})).values())


def test_a_stratum_without_queries_has_a_count_of_zero_and_no_means() -> None:
    found = aggregate([QueryScore("t", "single", {m.name: 1.0 for m in metrics()})])
    assert (found["all"].count, found["single"].count, found["multi"].count) == (1, 1, 0)
    assert all(math.isnan(value) for value in found["multi"].means.values())


def test_the_judged_share_counts_places_and_not_only_those_taken() -> None:
    judged = judge(["a", "x"], Relevance(("a",), {"a": 3, "b": 1}), {"a", "b", "x"})
    assert judged_share(judged, 10) == 0.1
