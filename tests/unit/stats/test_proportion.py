"""One rate: published values, an independent library, and what clustering must do."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from workbench.stats.proportion import (
    clopper_pearson,
    clustered_rate,
    effective_trials,
    informative_trials,
    task_means,
    wilson,
)


def test_wilson_gives_the_values_worked_by_hand() -> None:
    z = 1.959964
    found = wilson(8, 10)
    centre, reach = (
        (0.8 + z * z / 20) / (1 + z * z / 10),
        z * math.sqrt(0.016 + z * z / 400) / (1 + z * z / 10),
    )
    assert found.low == pytest.approx(centre - reach, abs=1e-6) == pytest.approx(0.4902, abs=1e-4)
    assert found.high == pytest.approx(centre + reach, abs=1e-6) == pytest.approx(0.9433, abs=1e-4)


@pytest.mark.parametrize(("successes", "trials"), [(0, 10), (1, 7), (8, 10), (12, 12), (87, 870)])
@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
def test_single_rates_agree_with_statsmodels(successes: int, trials: int, level: float) -> None:
    for ours, method in ((wilson, "wilson"), (clopper_pearson, "beta")):
        low, high = proportion_confint(successes, trials, alpha=1 - level, method=method)
        found = ours(successes, trials, level)
        assert (found.low, found.high) == pytest.approx((low, high), abs=1e-9)


def test_the_rule_of_three_holds_for_the_exact_interval() -> None:
    assert clopper_pearson(0, 100, 0.9).high == pytest.approx(1 - 0.05**0.01)


@pytest.mark.parametrize(("successes", "trials"), [(1, 0), (-1, 5), (6, 5)])
def test_impossible_counts_are_refused(successes: int, trials: int) -> None:
    with pytest.raises(ValueError, match="successes of"):
        wilson(successes, trials)


def test_a_level_outside_0_and_1_is_refused() -> None:
    with pytest.raises(ValueError, match="level"):
        wilson(1, 2, level=95)


def test_the_unit_is_the_task_not_the_trial() -> None:
    """1 of 1 and 0 of 9: the mean over tasks is 0.5, the pooled mean would be 0.1."""
    assert clustered_rate([[1], [0] * 9]).mean == 0.5


@given(st.lists(st.sampled_from([0.0, 1.0]), min_size=2, max_size=30), st.integers(2, 10))
def test_identical_trials_never_narrow_an_interval(outcomes: list[float], trials: int) -> None:
    once = clustered_rate([[outcome] for outcome in outcomes]).interval
    often = clustered_rate([[outcome] * trials for outcome in outcomes]).interval
    assert once is not None
    assert often is not None
    assert often.low == pytest.approx(once.low, abs=1e-9)
    assert often.high == pytest.approx(once.high, abs=1e-9)


def test_trials_that_differ_do_narrow_it() -> None:
    half = clustered_rate([[1, 0]] * 12).interval
    single = clustered_rate([[1]] * 6 + [[0]] * 6).interval
    assert half is not None
    assert single is not None
    assert half.width < single.width


@given(st.lists(st.lists(st.floats(0, 1), min_size=1, max_size=4), min_size=2, max_size=20))
def test_an_interval_has_width_lies_in_range_and_holds_the_mean(tasks: list[list[float]]) -> None:
    found = clustered_rate(tasks)
    assert found.interval is not None
    assert 0 <= found.interval.low <= found.mean + 1e-9
    assert found.mean - 1e-9 <= found.interval.high <= 1
    assert found.interval.width > 0
    assert len(tasks) - 1 - 1e-6 <= found.effective <= sum(map(len, tasks)) + 1e-6


def test_success_on_every_task_is_not_certainty() -> None:
    found = clustered_rate([[1, 1, 1]] * 12)
    assert found.effective == 12
    assert found.interval is not None
    assert found.interval.low == pytest.approx(12 / (12 + 2.200985**2), abs=1e-6)
    assert found.interval.high == 1


def test_one_task_says_nothing_about_others() -> None:
    assert clustered_rate([[1, 1, 0]]).interval is None


def test_effective_trials_are_p_q_over_the_squared_error_where_that_is_below_one_a_task() -> None:
    means = [0.0, 0.0, 1.0, 1.0]
    error_squared = 4 * 0.25 / 3 / 4
    assert effective_trials(means, 100) == pytest.approx(0.25 / error_squared)


def test_beyond_one_trial_a_task_they_count_by_the_tasks_that_show_the_rarer_outcome() -> None:
    half = [0.0, 0.5, 1.0, 0.5]
    estimate = 0.25 / ((0.25 + 0.25) / 3 / 4)
    carriers = (0.5 + 1.0 + 0.5) ** 2 / (0.25 + 1 + 0.25)
    expected = (carriers + 1) / (carriers / estimate + 1 / 4)
    assert effective_trials(half, 100) == pytest.approx(expected)
    assert effective_trials([0.5] * 20, 200) == pytest.approx(21 / (20 / 200 + 1 / 20))


def test_one_success_in_ten_trials_of_one_task_is_no_evidence_that_tasks_are_alike() -> None:
    """p(1-p)/SE^2 is 199 of 200 trials here; of 20 tasks without any success it would be 20."""
    assert effective_trials([0.1] + [0.0] * 19, 200) == pytest.approx(2 / (1 / 199 + 1 / 20))


@given(st.lists(st.floats(0, 1), min_size=2, max_size=20))
def test_failures_count_as_successes_do(means: list[float]) -> None:
    turned = effective_trials([1 - value for value in means], 10 * len(means))
    assert effective_trials(means, 10 * len(means)) == pytest.approx(turned, rel=1e-6)


@pytest.mark.parametrize("tasks", [[], [[]], [[1], []], [[1.5]], [[-0.1]], [[math.nan]]])
def test_what_is_no_set_of_rewards_is_refused(tasks: list[list[float]]) -> None:
    with pytest.raises(ValueError):
        task_means(tasks)


def test_identical_trials_of_fractional_rewards_narrow_nothing() -> None:
    """Ten trials that repeat a half exactly once counted as ten fair coins that came out alike."""
    once = clustered_rate([[0.5]] * 20).interval
    often = clustered_rate([[0.5] * 10] * 20).interval
    assert often == once
    mixed = [[0.1]] * 18 + [[1.0]] * 2
    assert clustered_rate([task * 10 for task in mixed]).interval == clustered_rate(mixed).interval


def test_trials_count_as_much_as_they_vary() -> None:
    assert informative_trials([[1, 0, 1], [0, 0, 0], [1]]) == 7, "passes and failures in full"
    assert informative_trials([[0.5] * 4] * 3) == 3, "one a task of those that repeat"
    assert informative_trials([[0.25, 0.75]] * 6) == pytest.approx(6 + 6 * (0.25**2 / 0.25))
    assert informative_trials([[0.3], [0.9]]) == 2
