"""Scores to rankings, and the law."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.core.errors import WorkbenchError
from workbench.core.types import RankedSkill, Ranking, ranked
from workbench.routing.ranking import below, best, check_law

IDS = [f"s{place:02d}" for place in range(30)]


@settings(deadline=None)
@given(st.lists(st.sampled_from([0.0, 0.5, 1.0, 1.5]), min_size=1, max_size=30), st.integers(1, 40))
def test_the_best_are_those_of_a_full_sort(scores: list[float], k: int) -> None:
    ids = IDS[: len(scores)]
    expected = ranked(((skill, value) for skill, value in zip(ids, scores, strict=True) if value > 0), k)
    assert best(np.array(scores, dtype=np.float32), ids, k) == expected


def test_a_tie_across_the_cut_is_cut_by_id() -> None:
    assert [e.id for e in best(np.array([1, 2, 1, 1, 1], dtype=np.float32), IDS[:5], 3)] == [
        "s01",
        "s00",
        "s02",
    ]


def test_nothing_positive_gives_nothing() -> None:
    assert best(np.zeros(3, dtype=np.float32), IDS[:3], 5) == ()


def test_a_ranking_moved_below_keeps_its_order_and_its_differences() -> None:
    assert below(ranked([("a", 0.9), ("b", 0.5)]), floor=-3.0) == (("a", -3.0), ("b", -3.4))
    assert below((), floor=1.0) == ()


@pytest.mark.parametrize(
    ("rankings", "fault"),
    [
        ([()], "1 rankings for 2 queries"),
        ([(), ranked([("a", 3), ("b", 2), ("c", 1)])], "3 entries where at most 2"),
        ([(), (RankedSkill("a", 1.0), RankedSkill("a", 0.5))], "twice"),
        ([(), (RankedSkill("a", math.nan),)], "is nan"),
        ([(), (RankedSkill("ghost", 1.0),)], "'ghost' is not in the pool"),
        ([(), (RankedSkill("a", 1.0), RankedSkill("b", 2.0))], "'b' (2.0) stands below 'a' (1.0)"),
        ([(), (RankedSkill("b", 1.0), RankedSkill("a", 1.0))], "'a' (1.0) stands below 'b' (1.0)"),
    ],
)
def test_a_broken_law_is_named(rankings: list[Ranking], fault: str) -> None:
    with pytest.raises(WorkbenchError, match="routing method 'odd' broke the law") as caught:
        check_law("odd", rankings, 2, {"a", "b", "c"}, 2)
    assert fault in str(caught.value)
