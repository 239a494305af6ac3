"""The paired difference and its intervals, by hand, by definition, and against libraries."""

from __future__ import annotations

import math

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from workbench.stats.bootstrap import bootstrap_mean
from workbench.stats.paired import clustered_error, difference, t_interval, task_differences

BINARY = st.lists(
    st.tuples(st.sampled_from([0.0, 1.0]), st.sampled_from([0.0, 1.0])), min_size=2, max_size=25
)


def pairs(a: int, b: int, c: int, d: int) -> tuple[list[list[float]], list[list[float]]]:
    rows = [(1.0, 1.0)] * a + [(1.0, 0.0)] * b + [(0.0, 1.0)] * c + [(0.0, 0.0)] * d
    return [[x] for x, _ in rows], [[y] for _, y in rows]


def test_a_difference_worked_by_hand() -> None:
    found = difference([[1, 1], [1, 0], [0, 0], [1, 1]], [[0, 0], [0, 1], [0, 0], [1, 0]], rng=0)
    assert found.estimate == pytest.approx((1 + 0 + 0 + 0.5) / 4)
    assert found.standard_error == pytest.approx(math.sqrt((0.390625 + 2 * 0.140625 + 0.015625) / 3 / 4))
    assert (found.tasks, found.better, found.worse) == (4, 2, 0)
    assert found.p_value == 0.5


def test_an_interval_has_width_where_every_task_agrees() -> None:
    interval = difference([[1]] * 12, [[0]] * 12, rng=0).interval
    assert interval is not None
    assert interval.high == 1
    assert 0.4 < interval.low < 0.5


def test_two_equal_arms_are_not_known_to_be_equal() -> None:
    same = [[1.0]] * 6 + [[0.0]] * 6
    interval = difference(same, same, rng=0).interval
    assert interval is not None
    assert interval.low < -0.05
    assert interval.high > 0.05


@given(BINARY)
def test_swapping_the_arms_mirrors_the_result(rows: list[tuple[float, float]]) -> None:
    first, second = [[a] for a, _ in rows], [[b] for _, b in rows]
    there, back = difference(first, second, rng=0), difference(second, first, rng=0)
    assert there.interval is not None
    assert back.interval is not None
    assert there.estimate == pytest.approx(-back.estimate)
    assert there.interval.low == pytest.approx(-back.interval.high, abs=1e-9)
    assert there.p_value == back.p_value
    assert -1 <= there.interval.low <= there.estimate + 1e-9
    assert there.estimate - 1e-9 <= there.interval.high <= 1


@given(BINARY, st.integers(2, 6))
def test_identical_trials_change_nothing(rows: list[tuple[float, float]], trials: int) -> None:
    once = difference([[a] for a, _ in rows], [[b] for _, b in rows], rng=0)
    often = difference([[a] * trials for a, _ in rows], [[b] * trials for _, b in rows], rng=0)
    assert once.interval is not None
    assert often.interval is not None
    assert often.interval.low == pytest.approx(once.interval.low, abs=1e-9)
    assert often.standard_error == pytest.approx(once.standard_error)
    assert often.p_value == once.p_value


def test_one_task_gives_no_interval_and_no_error() -> None:
    found = difference([[1]], [[0]], rng=0)
    assert (found.interval, found.standard_error, found.p_value) == (None, None, 1.0)


def test_unequal_lists_of_tasks_cannot_be_paired() -> None:
    with pytest.raises(ValueError, match="same tasks"):
        task_differences([[1], [0]], [[1]])


def test_the_t_interval_is_scipys() -> None:
    values = np.random.default_rng(5).normal(size=20)
    low, high = stats.ttest_1samp(values, 0).confidence_interval(0.9)
    found = t_interval(list(values), 0.9)
    assert (found.low, found.high) == pytest.approx((low, high))


def test_the_clustered_error_is_the_cluster_robust_one_of_statsmodels() -> None:
    rng = np.random.default_rng(6)
    rewards = rng.integers(0, 2, size=(15, 4)).astype(float)
    groups = np.repeat(np.arange(15), 4)
    fit = sm.OLS(rewards.ravel(), np.ones(60)).fit(cov_type="cluster", cov_kwds={"groups": groups})
    assert clustered_error(list(rewards.mean(axis=1))) == pytest.approx(float(fit.bse[0]))


@pytest.mark.parametrize(("method", "name"), [("percentile", "percentile"), ("bca", "BCa")])
def test_the_bootstrap_agrees_with_scipys(method: str, name: str) -> None:
    values = list(np.random.default_rng(7).exponential(size=25))
    theirs = stats.bootstrap(
        (values,), np.mean, method=name, rng=np.random.default_rng(1)
    ).confidence_interval
    ours = bootstrap_mean(values, 2, method)  # type: ignore[arg-type]
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=0.03)


def test_the_bootstrap_is_decided_by_its_seed_and_collapses_without_variation() -> None:
    values = [0.0, 0.5, 1.0, 0.25, 0.31, 0.77]
    assert bootstrap_mean(values, 3) == bootstrap_mean(values, 3)
    assert bootstrap_mean(values, 3) != bootstrap_mean(values, 4)
    assert bootstrap_mean([0.5] * 5, 0).width == 0
    with pytest.raises(ValueError, match="two tasks"):
        bootstrap_mean([1.0], 0)
