"""Fieller's interval is the inverted t test; without a clear denominator there is none."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from workbench.stats.ratio import ratio


def test_the_interval_ends_where_the_t_test_of_the_difference_stops_rejecting() -> None:
    rng = np.random.default_rng(4)
    cost = rng.gamma(3, 2, 40)
    reward = np.clip(rng.normal(0.6, 0.3, 40), 0, 1)
    found = ratio(list(cost), list(reward))
    assert found.estimate == pytest.approx(cost.sum() / reward.sum())
    assert found.interval is not None
    for end in (found.interval.low, found.interval.high):
        assert stats.ttest_1samp(cost - end * reward, 0).pvalue == pytest.approx(0.05, abs=1e-9)
    assert found.estimate in found.interval


def test_a_denominator_that_may_be_zero_leaves_no_finite_interval() -> None:
    found = ratio([1.0, 2.0, 1.0], [1.0, 0.0, 0.0])
    assert found.estimate == pytest.approx(4.0)
    assert found.interval is None
    assert found.reason == "the denominator may be zero"


def test_nothing_is_divided_by_zero_and_one_task_has_no_interval() -> None:
    assert ratio([1.0, 2.0], [0.0, 0.0]).estimate is None
    assert ratio([1.0], [0.5]).estimate == 2.0
    assert ratio([1.0], [0.5]).interval is None


def test_constant_values_have_an_interval_of_no_width() -> None:
    found = ratio([2.0] * 5, [1.0] * 5)
    assert found.interval is not None
    assert found.interval.low == pytest.approx(found.interval.high) == pytest.approx(2.0)
