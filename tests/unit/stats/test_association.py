"""Kendall's tau against scipy's; its interval answers for other tasks."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from workbench.stats.association import agreement, kendall


@pytest.mark.parametrize("seed", range(5))
def test_tau_is_scipys_with_ties_and_without(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for first, second in (
        (rng.random(7), rng.random(7)),
        (rng.integers(0, 3, 9), rng.integers(0, 3, 9)),
    ):
        assert kendall(list(first), list(second)) == pytest.approx(stats.kendalltau(first, second).statistic)


def test_tau_is_undefined_where_one_side_is_constant() -> None:
    assert kendall([1, 1, 1], [1, 2, 3]) is None
    assert kendall([1], [2]) is None


def test_the_same_order_on_every_task_is_certain_and_two_routers_are_too_few() -> None:
    rows = [[0.1] * 10, [0.5] * 10, [0.9] * 10]
    tau, interval = agreement(rows, rows)
    assert tau == 1.0
    assert interval is not None
    assert (interval.low, interval.high) == (1.0, 1.0)
    assert agreement(rows[:2], rows[:2])[1] is None
