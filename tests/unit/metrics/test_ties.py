"""What the order of equal scores is worth."""

from __future__ import annotations

from functools import partial
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.core.types import RankedSkill, ranked
from workbench.metrics.scoring import Relevance, judge, score
from workbench.metrics.ties import tie_bounds

POOL = frozenset("abcdef")
RELEVANCE = Relevance(("a", "d"), {"a": 1, "d": 3, "b": 3, "c": 2})


def test_equal_scores_give_the_same_result_in_every_order_of_input() -> None:
    pairs = [("a", 1.0), ("b", 1.0), ("c", 1.0)]
    assert {ranked(order) for order in permutations(pairs)} == {ranked(pairs)}


def test_a_tie_across_the_cut_has_bounds_and_no_tie_has_none() -> None:
    known = partial(judge, relevance=Relevance(("b",)), pool=POOL)
    tied = tie_bounds(ranked([("a", 1.0), ("b", 1.0), ("c", 1.0)]), known)
    assert tied["Hit@1"] == (0.0, 1.0)
    assert tied["MRR@10"] == (pytest.approx(1 / 3), 1.0)
    clear = tie_bounds(ranked([("a", 3.0), ("b", 2.0), ("c", 1.0)]), known)
    assert all(low == high for low, high in clear.values())


@settings(max_examples=40, deadline=None)
@given(st.dictionaries(st.sampled_from("abcdef"), st.sampled_from([1.0, 2.0]), max_size=5))
def test_the_bounds_are_those_over_all_orders_of_equal_scores(scores: dict[str, float]) -> None:
    known = partial(judge, relevance=RELEVANCE, pool=POOL)
    orders = [
        score(known([skill for skill, _ in order]))
        for order in permutations(scores.items())
        if [value for _, value in order] == sorted(scores.values(), reverse=True)
    ]
    bounds = tie_bounds([RankedSkill(*pair) for pair in ranked(scores.items())], known)
    for name, (low, high) in bounds.items():
        assert low == pytest.approx(min(order[name] for order in orders), abs=1e-12), name
        assert high == pytest.approx(max(order[name] for order in orders), abs=1e-12), name
