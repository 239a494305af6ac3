"""Under simulation, intervals cover and tests reject as often as they say."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.stats.equivalence import equivalence
from workbench.stats.gap import gap_share
from workbench.stats.paired import difference, task_differences
from workbench.stats.permutation import attainable, sign_flips
from workbench.stats.planted import graded_rewards, rewards, true_means, true_rates
from workbench.stats.power import Design, detectable, paired_components
from workbench.stats.proportion import clustered_rate

RUNS = 400
ERROR = 3 * (0.05 * 0.95 / RUNS) ** 0.5
"""Three Monte-Carlo standard errors of a share of 0.05."""

DESIGNS = [
    (tasks, trials, rate, correlation)
    for tasks in (20, 87)
    for trials, rate, correlation in (
        (1, 0.05, 0.0),
        (3, 0.5, 0.3),
        (10, 0.3, 0.3),
        (5, 0.95, 1.0),
        (3, 0.5, 0.0),
        (None, 0.5, 0.3),
    )
]


@pytest.mark.slow
@pytest.mark.parametrize(("tasks", "trials", "rate", "correlation"), DESIGNS)
def test_a_rate_is_covered(tasks: int, trials: int | None, rate: float, correlation: float) -> None:
    rng = np.random.default_rng(100)
    covered = 0
    for _ in range(RUNS):
        found = clustered_rate(rewards(rng, true_rates(rng, tasks, rate, correlation), trials))
        assert found.interval is not None
        covered += rate in found.interval
    assert covered / RUNS >= 0.95 - ERROR


@pytest.mark.slow
@pytest.mark.parametrize(("tasks", "trials", "rate", "correlation"), DESIGNS)
def test_no_difference_is_covered_and_rejected_as_often_as_the_data_allow(
    tasks: int, trials: int | None, rate: float, correlation: float
) -> None:
    rng = np.random.default_rng(101)
    covered = rejected = chance = allowed = 0.0
    for _ in range(RUNS):
        rates = true_rates(rng, tasks, rate, correlation)
        first, second = rewards(rng, rates, trials), rewards(rng, rates, trials)
        found, values = difference(first, second, rng), task_differences(first, second)
        assert found.interval is not None
        flips = sign_flips(values, rng)
        covered += 0 in found.interval
        rejected += found.p_value < 0.05
        chance += flips.beyond + rng.random() * flips.tied < 0.05
        allowed += attainable(values)
    assert covered / RUNS >= 0.95 - ERROR
    assert rejected / RUNS == pytest.approx(allowed / RUNS, abs=ERROR)
    assert chance / RUNS == pytest.approx(0.05, abs=ERROR)


@pytest.mark.slow
@pytest.mark.parametrize(("tasks", "trials", "correlation"), [(20, 1, 1.0), (40, 1, 1.0), (87, 3, 0.3)])
def test_a_difference_as_large_as_the_margin_is_covered_and_rarely_called_the_same(
    tasks: int, trials: int, correlation: float
) -> None:
    """Half of the tasks pass in both arms, and the other arm passes a few more."""
    rng = np.random.default_rng(103)
    covered = called = 0
    for _ in range(RUNS):
        rates = true_rates(rng, tasks, 0.5, correlation)
        first, second = rewards(rng, rates, trials), rewards(rng, 1 - 0.8 * (1 - rates), trials)
        interval = difference(first, second, rng).interval
        assert interval is not None
        covered += -0.1 in interval
        called += equivalence(first, second, 0.1).p_equivalent < 0.05
    assert covered / RUNS >= 0.95 - ERROR
    assert called / RUNS <= 0.05 + ERROR


@pytest.mark.slow
@pytest.mark.parametrize("tasks", [20, 87])
@pytest.mark.parametrize("share", [0.0, 0.6, 1.0])
def test_a_share_of_the_gap_is_covered(tasks: int, share: float) -> None:
    rng = np.random.default_rng(102)
    covered = 0
    for _ in range(RUNS):
        solved = rng.random(tasks) < 0.2
        helped = ~solved & (rng.random(tasks) < 0.8)
        routed = solved | (helped & (rng.random(tasks) < share))
        arms = [rewards(rng, np.where(arm, 0.95, 0.05), 3) for arm in (routed, solved, solved | helped)]
        found = gap_share(*arms)
        covered += found.interval is None or share in found.interval
    assert covered / RUNS >= 0.95 - ERROR


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tasks", "trials", "rate", "correlation", "family"),
    [
        (12, 1, 0.05, 0.3, 1),
        (20, 1, 0.3, 1.0, 1),
        (20, 3, 0.3, 0.3, 4),
        (40, 3, 0.05, 0.3, 1),
        (40, 1, 0.3, 0.3, 4),
    ],
)
def test_what_is_said_to_be_detectable_is_detected(
    tasks: int, trials: int, rate: float, correlation: float, family: int
) -> None:
    """A large pilot in which the arms hardly differ, then arms that differ by what it calls detectable."""
    rng = np.random.default_rng(104)

    def arms(count: int, effect: float, trials: int) -> tuple[list[list[float]], list[list[float]]]:
        rates = true_rates(rng, count, rate, correlation)
        better = 1 - (1 - rates) * (1 - effect / (1 - rate))
        return rewards(rng, better, trials), rewards(rng, rates, trials)

    design = Design(alpha=0.05 / family)
    least = detectable(paired_components(*arms(4000, 0.01, trials)), tasks, trials, design)
    assert least is not None
    found = [difference(*arms(tasks, least, trials), rng).p_value < design.alpha for _ in range(RUNS)]
    assert np.mean(found) >= 0.8 - 3 * (0.8 * 0.2 / RUNS) ** 0.5


def graded(
    rng: np.random.Generator, tasks: int, effect: float
) -> tuple[list[list[float]], list[list[float]]]:
    """Fractional rewards whose differences have mean `effect` and deviation 0.05."""
    base = 0.3 + 0.4 * rng.random(tasks)
    return [[value] for value in base + effect + 0.05 * rng.normal(size=tasks)], [[value] for value in base]


@pytest.mark.slow
@pytest.mark.parametrize("tasks", [12, 40])
@pytest.mark.parametrize("effect", [0.0, 0.05])
def test_a_small_difference_of_fractional_rewards_is_covered_and_found(tasks: int, effect: float) -> None:
    rng = np.random.default_rng(105)
    covered = found = 0
    runs = 100
    for _ in range(runs):
        result = difference(*graded(rng, tasks, effect), 0)
        assert result.interval is not None
        assert (0 in result.interval) == (result.p_value >= 0.05)
        covered += effect in result.interval
        found += result.p_value < 0.05
    error = 3 * (0.05 * 0.95 / runs) ** 0.5
    assert covered / runs >= 0.95 - error
    if not effect:
        assert found / runs <= 0.05 + error
    else:
        assert found / runs >= (0.99 if tasks == 40 else 0.75)


@pytest.mark.slow
@pytest.mark.parametrize(("trials", "correlation"), [(1, 0.5), (3, 0.0), (3, 1.0)])
def test_a_skewed_difference_of_rewards_in_quarters_is_covered(trials: int, correlation: float) -> None:
    """Skills mend 30 % of 20 tasks that half succeeded before."""
    rng = np.random.default_rng(106)
    covered, runs = 0, 100
    for _ in range(runs):
        means = true_means(rng, 20, 0.5, correlation)
        better = np.where(rng.random(20) < 0.3, 1.0, means)
        arms = [graded_rewards(rng, arm, trials, correlation, 4) for arm in (better, means)]
        interval = difference(*arms, rng).interval
        assert interval is not None
        covered += 0.15 in interval
    assert covered / runs >= 0.95 - 3 * (0.05 * 0.95 / runs) ** 0.5


@pytest.mark.slow
@pytest.mark.parametrize(("tasks", "trials"), [(20, 3), (87, 3)])
def test_what_is_said_to_be_detectable_of_fractional_rewards_is_detected(tasks: int, trials: int) -> None:
    """An effect that differs from task to task was found in 73 % where 80 % were promised."""
    rng = np.random.default_rng(108)

    def arms(count: int, effect: float) -> tuple[list[list[float]], list[list[float]]]:
        means = true_means(rng, count, 0.5, 1.0)
        better = 1 - (1 - means) * (1 - 2 * effect)
        return graded_rewards(rng, better, trials, 1.0, 4), graded_rewards(rng, means, trials, 1.0, 4)

    least = detectable(paired_components(*arms(4000, 0.01)), tasks, trials)
    assert least is not None
    found = [sign_flips(task_differences(*arms(tasks, least)), rng).p_value < 0.05 for _ in range(RUNS)]
    assert np.mean(found) >= 0.8 - 3 * (0.8 * 0.2 / RUNS) ** 0.5


@pytest.mark.parametrize("steps", [None, 4])
@pytest.mark.parametrize("correlation", [0.0, 0.4, 1.0])
def test_graded_rewards_have_the_mean_and_the_correlation_that_were_planted(
    steps: int | None, correlation: float
) -> None:
    rng = np.random.default_rng(107)
    rows = np.array(graded_rewards(rng, true_means(rng, 20_000, 0.3, correlation), 2, correlation, steps))
    assert rows.mean() == pytest.approx(0.3, abs=0.01)
    assert rows.min() >= 0
    assert rows.max() <= 1
    if steps is None:
        assert rows.var() == pytest.approx(0.3 * 0.7 / 3, rel=0.04)
        assert np.cov(rows.T)[0, 1] / rows.var() == pytest.approx(correlation, abs=0.03)
    else:
        assert np.all(np.isin(rows * steps, range(steps + 1)))
