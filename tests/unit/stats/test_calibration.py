"""Under simulation, intervals cover and tests reject as often as they say."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.stats.gap import gap_share
from workbench.stats.paired import difference
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
    )
]


def difficulties(rng: np.random.Generator, tasks: int, rate: float, correlation: float) -> np.ndarray:
    """True rates of tasks with a given mean and intraclass correlation (beta-binomial)."""
    if correlation == 0:
        return np.full(tasks, rate)
    if correlation == 1:
        return (rng.random(tasks) < rate).astype(float)
    size = (1 - correlation) / correlation
    return rng.beta(rate * size, (1 - rate) * size, tasks)


def outcomes(rng: np.random.Generator, rates: np.ndarray, trials: int) -> list[list[float]]:
    return [list(row) for row in (rng.random((len(rates), trials)) < rates[:, None]).astype(float)]


@pytest.mark.slow
@pytest.mark.parametrize(("tasks", "trials", "rate", "correlation"), DESIGNS)
def test_a_rate_is_covered(tasks: int, trials: int, rate: float, correlation: float) -> None:
    rng = np.random.default_rng(100)
    covered = 0
    for _ in range(RUNS):
        found = clustered_rate(outcomes(rng, difficulties(rng, tasks, rate, correlation), trials))
        assert found.interval is not None
        covered += rate in found.interval
    assert covered / RUNS >= 0.95 - ERROR


@pytest.mark.slow
@pytest.mark.parametrize(("tasks", "trials", "rate", "correlation"), DESIGNS)
def test_no_difference_is_covered_and_rarely_rejected(
    tasks: int, trials: int, rate: float, correlation: float
) -> None:
    rng = np.random.default_rng(101)
    covered = rejected = 0
    for _ in range(RUNS):
        rates = difficulties(rng, tasks, rate, correlation)
        found = difference(outcomes(rng, rates, trials), outcomes(rng, rates, trials), rng)
        assert found.interval is not None
        covered += 0 in found.interval
        rejected += found.p_value < 0.05
    assert covered / RUNS >= 0.95 - ERROR
    assert rejected / RUNS <= 0.05 + ERROR


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
        arms = [outcomes(rng, np.where(arm, 0.95, 0.05), 3) for arm in (routed, solved, solved | helped)]
        found = gap_share(*arms)
        covered += found.interval is None or share in found.interval
    assert covered / RUNS >= 0.95 - ERROR
