"""The law of `metrics.metric.Metric`, for every metric found."""

from __future__ import annotations

import math

import pytest

from workbench.metrics.metric import Judged, Metric
from workbench.metrics.scoring import metrics

METRICS = [pytest.param(metric, id=metric.name) for metric in metrics()]
GOLD = frozenset({"a", "b"})
GRADES = {"a": 3.0, "b": 3.0, "near": 1.0}
FILLER = tuple(f"x{place}" for place in range(60))


def test_names_are_unique() -> None:
    names = [metric.name for metric in metrics()]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("metric", METRICS)
def test_it_says_what_it_is(metric: Metric) -> None:
    assert metric.depth is None or metric.name.endswith(f"@{metric.depth}")
    assert metric.depth is None or metric.depth >= 1
    assert len(metric.definition) > 20
    assert "\n" not in metric.definition


@pytest.mark.parametrize("metric", METRICS)
def test_it_is_undefined_without_gold(metric: Metric) -> None:
    assert math.isnan(metric(Judged(("a",), frozenset(), {"a": 1.0})))


@pytest.mark.parametrize("metric", METRICS)
def test_it_is_zero_for_nothing_and_for_only_wrong_skills(metric: Metric) -> None:
    assert metric(Judged((), GOLD, GRADES)) == 0.0
    assert metric(Judged(FILLER, GOLD, GRADES)) == 0.0


@pytest.mark.parametrize("metric", METRICS)
def test_it_does_not_look_below_its_depth(metric: Metric) -> None:
    top = ("b", *FILLER)[: metric.depth or len(GOLD)]
    assert metric(Judged((*top, "a"), GOLD, GRADES)) == metric(Judged(top, GOLD, GRADES))


@pytest.mark.parametrize("metric", METRICS)
def test_a_gold_skill_moved_up_never_lowers_it(metric: Metric) -> None:
    values = [
        metric(Judged((*FILLER[:place], "a", *FILLER[place:]), GOLD, GRADES))
        for place in range(len(FILLER), -1, -1)
    ]
    assert values == sorted(values)
    assert all(0.0 <= value <= 1.0 for value in values)
