"""Variance between and within tasks, and what a design can show."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.power import TTestPower

from workbench.stats.paired import task_differences
from workbench.stats.permutation import sign_flip
from workbench.stats.power import (
    Design,
    PairedComponents,
    cautious,
    detectable,
    equal_trials,
    paired_components,
    power,
    t_power,
    tasks_needed,
    trials_needed,
)
from workbench.stats.variance import components, trial_share


def test_components_worked_by_hand() -> None:
    """Means 1, 0.5, 0 with 2 trials: MSB 0.5, MSW 0.5/3, between (0.5 - 0.1667)/2."""
    found = components([[1, 1], [1, 0], [0, 0]])
    assert found.within == pytest.approx(0.5 / 3)
    assert found.between == pytest.approx((0.5 - 0.5 / 3) / 2)
    assert found.correlation == pytest.approx(0.5)


def test_the_ratio_of_mean_squares_is_scipys_f() -> None:
    groups = list(np.random.default_rng(11).random((8, 5)) / 2 + np.arange(8)[:, None] / 16)
    found = components([list(group) for group in groups])
    assert found.within is not None
    assert stats.f_oneway(*groups).statistic == pytest.approx(
        (5 * found.between + found.within) / found.within
    )


def test_identical_trials_are_all_between_and_coin_flips_all_within() -> None:
    assert components([[1, 1], [0, 0], [1, 1]]).correlation == 1
    assert components([[1, 0], [0, 1], [1, 0]]).between == 0
    assert components([[1], [0]]).within is None
    assert components([[1, 1], [1, 1]]).correlation is None


def test_planted_components_are_recovered_from_unequal_trials() -> None:
    rng = np.random.default_rng(12)
    rates = rng.beta(2, 2, size=4000)
    tasks = [list((rng.random(2 + i % 4) < rate).astype(float)) for i, rate in enumerate(rates)]
    found = components(tasks)
    assert found.between == pytest.approx(1 / 20, abs=0.005)
    assert found.within == pytest.approx(1 / 5, abs=0.005)


def test_a_share_of_nothing_is_not_measured() -> None:
    assert trial_share([[1], [0], [1]]) == (None, None)
    assert trial_share([[1, 1], [1, 1], [1, 1]]) == (None, None)
    assert trial_share([[1, 1], [0, 0]]) == (0, None), "two tasks"
    assert trial_share([[0.5, 0.5], [0.2, 0.2], [0.1, 0.1]]) == (0, None), "graded rewards that never vary"


def test_trials_that_always_agree_leave_a_share_within_that_more_tasks_would_narrow() -> None:
    ends = []
    for tasks in (6, 20, 80):
        share, interval = trial_share([[1.0, 1.0], [0.0, 0.0]] * (tasks // 2))
        assert (share, interval is not None and interval.low) == (0, 0)
        ends.append(interval.high if interval is not None else 1)
    assert ends == sorted(ends, reverse=True)
    assert ends[0] > 0.4
    assert ends[-1] < 0.15


@pytest.mark.slow
@pytest.mark.parametrize(("tasks", "trials"), [(20, 3), (87, 5), (40, 10)])
@pytest.mark.parametrize("rate", [0.1, 0.5])
@pytest.mark.parametrize("correlation", [0.1, 0.5, 0.9])
def test_the_share_within_tasks_is_covered(tasks: int, trials: int, rate: float, correlation: float) -> None:
    """90 % and more, as the docstring says, less three Monte-Carlo standard errors."""
    rng = np.random.default_rng(7)
    covered = known = 0
    for _ in range(150):
        true = rng.beta(*(x * (1 - correlation) / correlation for x in (rate, 1 - rate)), size=tasks)
        found, interval = trial_share([list((rng.random(trials) < p).astype(float)) for p in true])
        if found is None or interval is None:
            continue
        known += 1
        covered += interval.low - 1e-9 <= 1 - correlation <= interval.high + 1e-9
    assert known > 75
    assert covered / known >= 0.9 - 3 * (0.9 * 0.1 / known) ** 0.5


@pytest.mark.parametrize(("effect", "tasks"), [(0.1, 20), (0.3, 12), (0.5, 5), (0.0, 30)])
def test_the_power_of_the_t_test_is_that_of_statsmodels(effect: float, tasks: int) -> None:
    theirs = TTestPower().power(effect / 0.6, tasks, 0.05)
    assert t_power(effect, 0.6 / math.sqrt(tasks), tasks) == pytest.approx(theirs, abs=1e-6)


def test_with_single_trials_power_is_the_binomial_sum() -> None:
    """12 tasks of which 35 % gain and none loses: at least 6 must differ, 7 where Holm leaves 2.5 %."""
    pilot = PairedComponents(between=0.35 * 0.65, within=None, effect=0.35)
    assert power(0.35, pilot, 12, 1) == pytest.approx(stats.binom.sf(5, 12, 0.35))
    assert power(0.35, pilot, 12, 1, 0.025) == pytest.approx(stats.binom.sf(6, 12, 0.35))
    least = detectable(pilot, 12, 1)
    assert least is not None
    assert stats.binom.sf(5, 12, least) == pytest.approx(0.8, abs=1e-6)


def test_nothing_is_found_on_fewer_tasks_than_the_test_can_reject_on() -> None:
    pilot = PairedComponents(between=0.1, within=0.05)
    assert power(0.99, pilot, 5, 100) == 0
    assert detectable(pilot, 5, 100) is None
    assert trials_needed(pilot, 0.9, 5) is None
    assert (tasks_needed(pilot, 0.9, 100) or 0) >= 6
    assert (tasks_needed(pilot, 0.9, 100, Design(alpha=0.05 / 8)) or 0) >= 9


def test_an_effect_brings_the_variance_that_it_implies() -> None:
    pilot = PairedComponents(between=0.02, within=0.06)
    assert pilot.implied(0.0, 3) == pytest.approx(0.02 + 0.06 / 3)
    assert pilot.implied(0.5, 3) == pytest.approx(0.17 + 0.04 * 2)
    assert PairedComponents(0.1, 0.3, effect=0.5).implied(0.5, 3) == pytest.approx(0.2)
    assert PairedComponents(0.1, 0.3).implied(0.5, 1) == pytest.approx(0.4 + 0.25)
    assert PairedComponents(0.02, 0.06, binary=False).implied(0.5, 3) == pytest.approx(0.04 + 0.25 / 3)
    assert PairedComponents(0.02, 0.06, 0.5, binary=False).implied(0.5, 3) == pytest.approx(0.04)
    assert PairedComponents(0.9, None).implied(0.9, 1) == pytest.approx(0.19)


def test_for_thousands_of_tasks_power_comes_near_the_t_test() -> None:
    pilot = PairedComponents(between=0.3, within=None, effect=0.03)
    smooth = t_power(0.03, math.sqrt(0.3 / 2000), 2000)
    assert power(0.03, pilot, 2000, 1) == pytest.approx(smooth, abs=0.02)


@pytest.mark.parametrize("pilot", [PairedComponents(0.05, 0.3), PairedComponents(0.3, None)])
def test_tasks_needed_are_enough_and_one_fewer_is_not(pilot: PairedComponents) -> None:
    needed = tasks_needed(pilot, effect=0.15, trials=3)
    assert needed is not None
    assert power(0.15, pilot, needed, 3) >= 0.8 > power(0.15, pilot, needed - 1, 3)
    assert tasks_needed(pilot, effect=0.15, trials=3, design=Design(power=0.9)) > needed  # type: ignore[operator]


def test_trials_cannot_make_up_for_tasks_that_differ() -> None:
    pilot = PairedComponents(between=0.1, within=0.4)
    needed = trials_needed(pilot, effect=0.2, tasks=40)
    assert needed is not None
    assert power(0.2, pilot, 40, needed - 1) < 0.8 <= power(0.2, pilot, 40, needed)
    assert trials_needed(pilot, effect=0.05, tasks=40) is None
    assert trials_needed(PairedComponents(0.1, None), effect=0.2, tasks=40) is None


def test_a_pilot_without_variance_says_nothing_about_precision() -> None:
    assert detectable(paired_components([[1]] * 5, [[0]] * 5), 5, 1) is None
    assert t_power(0.5, 0.0, 5) == 1


def test_components_of_a_pair_split_noise_from_true_differences() -> None:
    rng = np.random.default_rng(13)
    rates = rng.random(3000)
    draw = lambda p: list((rng.random(4) < p).astype(float))  # noqa: E731
    found = paired_components([draw(rate) for rate in rates], [draw(rate) for rate in rates])
    assert found.between == pytest.approx(0, abs=0.01)
    assert found.within == pytest.approx(2 / 6, abs=0.02)


def test_differences_that_vary_by_rounding_alone_show_no_detectable_one() -> None:
    """Seven digits of 0.999999 once made the least difference that could be found 0.00."""
    first = [[0.1 + 0.7 + n * 1e-2] for n in range(12)]
    second = [[0.1 + n * 1e-2] for n in range(12)]
    pilot = paired_components(first, second)
    assert pilot.between == 0
    assert detectable(pilot, 12, 1) is None


def test_ten_trials_beside_two_are_little_more_than_two_beside_two() -> None:
    """The mean of ten and two, six, once promised 80 % and had 63 to 74 %."""
    ten, two = [[1.0, 0.0] * 5] * 20, [[1.0, 0.0]] * 20
    one, other = 10 / 4 / 9, 1 / 2
    assert equal_trials(ten, two) == pytest.approx((one + other) / (one / 10 + other / 2))
    assert equal_trials([[1.0, 0.0]] * 9, [[0.0, 1.0]] * 9) == pytest.approx(2)
    assert equal_trials([[1.0]] * 9, [[0.0] * 4] * 9) == pytest.approx(2 / (1 + 1 / 4))


@pytest.mark.slow
@pytest.mark.parametrize(("mine", "theirs"), [(10, 2), (2, 10), (6, 6)])
def test_what_is_called_detectable_is_found_with_unequal_trials(mine: int, theirs: int) -> None:
    rng = np.random.default_rng(9)

    def arms(tasks: int, effect: float) -> tuple[list[list[float]], list[list[float]]]:
        rates = rng.beta(1, 1, tasks)
        better = 1 - (1 - rates) * (1 - effect / 0.5)
        return (
            [list((rng.random(mine) < rate).astype(float)) for rate in better],
            [list((rng.random(theirs) < rate).astype(float)) for rate in rates],
        )

    pilot = arms(4000, 0.01)
    least = detectable(paired_components(*pilot), 40, equal_trials(*pilot))
    assert least is not None
    found = [sign_flip(task_differences(*arms(40, least)), rng) < 0.05 for _ in range(300)]
    assert sum(found) / 300 >= 0.8 - 3 * (0.8 * 0.2 / 300) ** 0.5


def test_a_cautious_pilot_varies_more_between_tasks_the_fewer_they_are() -> None:
    rng = np.random.default_rng(10)
    excess = []
    for tasks in (8, 30, 300):
        first, second = ([list((rng.random(3) < 0.5).astype(float)) for _ in range(tasks)] for _ in range(2))
        found, limit = paired_components(first, second), cautious(first, second)
        assert limit.between > found.between
        assert limit.within == found.within
        excess.append(limit.between - found.between)
    assert excess[0] > excess[-1]
