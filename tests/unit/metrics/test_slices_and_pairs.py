"""Scores by slice, and two rankings of the same queries."""

from __future__ import annotations

import math

import pytest

from workbench.metrics.paired import paired
from workbench.metrics.scoring import QueryScore, metrics
from workbench.metrics.slices import NO_SLICE, by_slice, macro


def scored(query: str, hit: float, **values: float) -> QueryScore:
    return QueryScore(query, "single", {m.name: math.nan for m in metrics()} | {"Hit@1": hit} | values)


def test_every_query_is_in_one_slice_and_slices_weigh_the_same() -> None:
    queries = [scored("a", 1.0), scored("b", 0.0), scored("c", 0.0), scored("d", 1.0)]
    found = by_slice(queries, {"a": "zh", "b": "en", "c": "en"})
    assert {name: summary.count for name, summary in found.items()} == {NO_SLICE: 1, "en": 2, "zh": 1}
    assert found["en"].means["Hit@1"] == 0.0
    whole = macro(found)
    assert whole.count == 4
    assert whole.means["Hit@1"] == pytest.approx((1.0 + 0.0 + 1.0) / 3)
    assert math.isnan(whole.means["SetCompat"])


def test_differences_are_second_minus_first_where_defined() -> None:
    first = [scored("a", 1.0, SetCompat=1.0), scored("b", 0.0), scored("c", 0.5)]
    second = [scored("a", 0.0, SetCompat=1.0), scored("b", 1.0), scored("c", 0.5)]
    found = paired(first, second)
    assert found["Hit@1"].differences == (-1.0, 1.0, 0.0)
    assert (found["Hit@1"].better, found["Hit@1"].worse) == (1, 1)
    assert found["SetCompat"].differences == (0.0,)


def test_other_queries_are_refused() -> None:
    with pytest.raises(ValueError, match="same queries"):
        paired([scored("a", 1.0)], [scored("b", 1.0)])
    assert paired([], []) == {}
