"""The authors' scorer, faults and all."""

from __future__ import annotations

import pytest

from tests.routing.parity import load_parity
from workbench.metrics.compat import compat_summaries
from workbench.metrics.scoring import Relevance


def test_it_gives_the_authors_numbers_on_their_own_run() -> None:
    parity = load_parity()
    found = compat_summaries(parity.rankings, parity.tasks, parity.in_pool)
    for stratum, expected in parity.metrics.items():
        assert found[stratum].count == expected.pop("count")
        assert found[stratum].means == pytest.approx(expected, abs=1e-9)


def test_a_missing_prediction_leaves_the_mean() -> None:
    tasks = {"easy": Relevance(("a",)), "hard": Relevance(("b",))}
    found = compat_summaries({"easy": ["a"]}, tasks, {"a", "b"})
    assert (found["all"].count, found["all"].means["Hit@1"]) == (1, 1.0)


def test_a_repeated_id_gains_each_time() -> None:
    tasks = {"t": Relevance(("a", "b"), {"a": 3, "b": 3})}
    means = compat_summaries({"t": ["a"] * 20}, tasks, {"a", "b"})["all"].means
    assert means["nDCG@10"] == pytest.approx(2.786, abs=1e-3)
    assert means["Precision@3"] == 1.0
    assert means["Recall@10"] == 0.5


def test_gold_without_a_grade_gains_nothing_where_others_have_one() -> None:
    tasks = {"t": Relevance(("a",), {"b": 1})}
    assert compat_summaries({"t": ["a"]}, tasks, {"a", "b"})["all"].means["nDCG@10"] == 0.0


def test_without_a_scored_task_there_is_no_number() -> None:
    assert compat_summaries({}, {"t": Relevance(("a",))}, {"a"})["all"].means == {}
