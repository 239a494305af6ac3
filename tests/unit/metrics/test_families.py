"""Each metric by hand, and against its definition written out naively."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.metrics.compatibility import SetCompat
from workbench.metrics.coverage import FullCoverage
from workbench.metrics.hit import Hit
from workbench.metrics.map import AveragePrecision
from workbench.metrics.metric import Judged, dedupe
from workbench.metrics.mrr import ReciprocalRank
from workbench.metrics.ndcg import NDCG
from workbench.metrics.precision import Precision
from workbench.metrics.recall import Recall
from workbench.metrics.scoring import metrics, score

RUN = Judged(tuple("xaybz"), frozenset("ab"), {"a": 3.0, "b": 3.0, "y": 1.0, "q": 1.0})
BY_HAND = {
    "Hit@1": 0.0,
    "MRR@10": 1 / 2,
    "Recall@10": 1.0,
    "FullCoverage@3": 0.0,
    "FullCoverage@5": 1.0,
    "Precision@3": 1 / 3,
    "nDCG@1": 0.0,
    # gains 0 3 1 | ideal 3 3 1
    "nDCG@3": (3 / math.log2(3) + 1 / 2) / (3 + 3 / math.log2(3) + 1 / 2),
    # gains 0 3 1 3 0 | ideal 3 3 1 1
    "nDCG@10": (3 / math.log2(3) + 1 / 2 + 3 / math.log2(5))
    / (3 + 3 / math.log2(3) + 1 / 2 + 1 / math.log2(5)),
}


@pytest.mark.parametrize(("name", "value"), BY_HAND.items())
def test_the_value_is_the_one_computed_by_hand(name: str, value: float) -> None:
    assert score(RUN)[name] == pytest.approx(value, abs=1e-15)


def test_a_graded_ranking_cut_at_two_counts_only_what_stands_there() -> None:
    # qrels {a:3, b:1}, run [b, x, a], k = 2: (1/1) / (3/1 + 1/log2 3)
    judged = Judged(("b", "x", "a"), frozenset("a"), {"a": 3.0, "b": 1.0})
    assert NDCG(2)(judged) == pytest.approx(1 / (3 + 1 / math.log2(3)), abs=1e-15)


def test_exactly_the_gold_skills_stay_below_one_where_others_are_judged_too() -> None:
    judged = Judged(("a",), frozenset("a"), {"a": 3.0, "b": 1.0})
    assert NDCG(10)(judged) == pytest.approx(3 / (3 + 1 / math.log2(3)), abs=1e-15)
    assert Recall(10)(judged) == 1.0


def test_later_repetitions_are_dropped() -> None:
    assert dedupe(["a", "b", "a", "c", "b"]) == ("a", "b", "c")


def _ids(maximum: int) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from("abcdefghijklmnop"), max_size=maximum, unique=True)


@st.composite
def judged_runs(draw: st.DrawFn) -> Judged:
    gold = draw(_ids(5).filter(bool))
    others = draw(st.dictionaries(st.sampled_from("abcdefghijklmnop"), st.sampled_from([1.0, 2.0, 3.0])))
    return Judged(tuple(draw(_ids(14))), frozenset(gold), dict.fromkeys(gold, 3.0) | others)


@settings(deadline=None)
@given(judged_runs(), st.integers(1, 12))
def test_metrics_are_what_their_definitions_say(judged: Judged, k: int) -> None:
    top = judged.ranking[:k]
    found = [skill for skill in top if skill in judged.gold]
    places = [place for place, skill in enumerate(judged.ranking, 1) if skill in judged.gold and place <= k]
    assert Hit(k)(judged) == (1.0 if found else 0.0)
    assert Precision(k)(judged) == len(found) / k
    assert Recall(k)(judged) == len(found) / len(judged.gold)
    assert FullCoverage(k)(judged) == (1.0 if set(found) == judged.gold else 0.0)
    assert ReciprocalRank(k)(judged) == (1 / min(places) if places else 0.0)
    gain = ideal = 0.0
    grades = sorted(judged.grades.values(), reverse=True)
    for place in range(k):
        if place < len(top):
            gain += judged.grades.get(top[place], 0.0) / math.log2(place + 2)
        if place < len(grades):
            ideal += grades[place] / math.log2(place + 2)
    assert NDCG(k)(judged) == pytest.approx(gain / ideal, abs=1e-12)


@settings(deadline=None)
@given(judged_runs())
def test_metrics_of_any_run_are_between_zero_and_one(judged: Judged) -> None:
    values = [metric(judged) for metric in metrics()]
    assert all(0.0 <= value <= 1.0 for value in values if not math.isnan(value))


def test_set_compat_asks_for_the_gold_skills_and_nothing_before_them() -> None:
    gold = frozenset("ab")
    assert SetCompat()(Judged(("b", "a", "x"), gold, {})) == 1.0
    assert SetCompat()(Judged(("b", "x", "a"), gold, {})) == 0.0
    assert math.isnan(SetCompat()(Judged(("b",), frozenset("b"), {})))


def test_average_precision_by_hand() -> None:
    # gold at ranks 2 and 4 of three: (1/2 + 2/4) / 3
    assert AveragePrecision(50)(Judged(tuple("xayb"), frozenset("abc"), {})) == pytest.approx(1 / 3)
