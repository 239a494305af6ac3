"""The share of the gold gap: a ratio whose interval must be honest when its denominator is small."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.stats.gap import gap_share
from workbench.stats.planted import graded_rewards, true_means


def ones(count: int, of: int) -> list[list[float]]:
    return [[1.0]] * count + [[0.0]] * (of - count)


def fieller(routed: np.ndarray, none: np.ndarray, gold: np.ndarray) -> tuple[float, float]:
    """Fieller's interval with the normal deviate, from means and covariances."""
    x, y, z, n = routed - none, gold - none, 1.959964, len(routed)
    cov = np.cov(x, y) / n
    a = y.mean() ** 2 - z * z * cov[1, 1]
    b = -2 * (x.mean() * y.mean() - z * z * cov[0, 1])
    c = x.mean() ** 2 - z * z * cov[0, 0]
    root = np.sqrt(b * b - 4 * a * c)
    return (-b - root) / (2 * a), (-b + root) / (2 * a)


def test_a_share_worked_by_hand() -> None:
    found = gap_share(ones(8, 12), ones(2, 12), ones(10, 12))
    assert found.estimate == pytest.approx((8 - 2) / (10 - 2))
    assert found.gap == pytest.approx(8 / 12)
    assert found.reason is None
    assert found.interval is not None
    assert found.interval.low < 0.75 < found.interval.high


def test_a_router_that_is_gold_closes_the_gap_and_still_has_an_interval() -> None:
    found = gap_share(ones(12, 12), ones(0, 12), ones(12, 12))
    assert found.estimate == 1
    assert found.interval is not None
    assert 0.5 < found.interval.low < 1 < found.interval.high < 1.5


def test_a_router_that_does_nothing_closes_nothing() -> None:
    found = gap_share(ones(0, 20), ones(0, 20), ones(20, 20))
    assert found.estimate == 0
    assert found.interval is not None
    assert found.interval.low <= 0 <= found.interval.high


def test_harm_is_a_negative_share() -> None:
    found = gap_share(ones(2, 30), ones(10, 30), ones(28, 30))
    assert found.estimate is not None
    assert found.estimate < 0


def test_without_a_gap_there_is_no_share() -> None:
    found = gap_share(ones(5, 12), ones(6, 12), ones(6, 12))
    assert (found.estimate, found.interval) == (None, None)
    assert found.reason == "gold skills did no better than no skills"


def test_a_gap_that_may_be_zero_has_a_share_but_no_interval() -> None:
    found = gap_share(ones(7, 12), ones(6, 12), ones(8, 12))
    assert found.estimate == pytest.approx(0.5)
    assert found.interval is None
    assert found.reason == "the gold gap itself may be zero"
    assert found.gap_interval.low <= 0 < found.gap_interval.high


def test_on_many_tasks_it_is_fiellers_interval() -> None:
    rng = np.random.default_rng(10)
    none = (rng.random(4000) < 0.3).astype(float)
    gold = np.maximum(none, rng.random(4000) < 0.6)
    routed = np.where(rng.random(4000) < 0.7, gold, none)
    found = gap_share(*([[value] for value in arm] for arm in (routed, none, gold)))
    assert found.interval is not None
    assert (found.interval.low, found.interval.high) == pytest.approx(fieller(routed, none, gold), abs=0.004)


def test_a_router_without_effect_is_no_surer_than_its_own_success_rate() -> None:
    """0 of 12 is [0, 0.29]; that gold always passes and none never does not narrow it."""
    found = gap_share(ones(0, 12), ones(0, 12), ones(12, 12))
    assert found.interval is not None
    assert found.interval.high == pytest.approx(0.29, abs=0.03)


def test_fewer_than_two_tasks_are_refused() -> None:
    with pytest.raises(ValueError, match="two"):
        gap_share([[1]], [[0]], [[1]])


@pytest.mark.parametrize("trials", [1, 10])
def test_small_gaps_of_fractional_rewards_have_shares_as_sure_as_the_gains(trials: int) -> None:
    """A gain of +0.10 [0.07, 0.12] once closed "46% [-25, 125]" of a gap of +0.21 [0.18, 0.24]."""
    rng = np.random.default_rng(3)
    none = rng.uniform(0.2, 0.6, 20)
    arms = (none + rng.normal(0.1, 0.05, 20), none, none + rng.normal(0.21, 0.06, 20))
    found = gap_share(*([[float(x)] * trials for x in arm] for arm in arms))
    assert found.interval is not None
    assert 0 < found.interval.low < 0.5 < found.interval.high < 1
    assert 0 < found.gap_interval.low < 0.21 < found.gap_interval.high < 0.3


def test_a_fractional_router_that_always_finds_gold_might_miss_it_elsewhere() -> None:
    none = [[0.1 + 0.01 * n] for n in range(20)]
    gold = [[(1 + task[0]) / 2] for task in none]
    found = gap_share(gold, none, gold)
    assert found.estimate == 1
    assert found.interval is not None
    assert 0.5 < found.interval.low < 0.9
    assert 1 < found.interval.high < 1.5


@pytest.mark.slow
@pytest.mark.parametrize("correlation", [0.5, 1.0])
@pytest.mark.parametrize("share", [0.0, 0.5, 0.95])
def test_a_share_of_a_fractional_gap_is_covered(correlation: float, share: float) -> None:
    rng = np.random.default_rng(6)
    covered = known = 0
    for _ in range(60):
        none = true_means(rng, 30, 0.3, correlation)
        gold = none + (1 - none) / 2
        routed = np.where(rng.random(30) < share, gold, none)
        arms = [graded_rewards(rng, means, 3, correlation, 4) for means in (routed, none, gold)]
        found = gap_share(arms[0], arms[1], arms[2])
        known += found.interval is not None
        covered += found.interval is not None and share in found.interval
    assert known > 30
    assert covered / known >= 0.95 - 3 * (0.05 * 0.95 / known) ** 0.5
