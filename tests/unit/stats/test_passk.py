"""pass@k and pass^k: by enumeration of all draws, and what is missing is never silent."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.stats.passk import Kind, TaskCount, pass_at_k, pass_hat_k, pass_k
from workbench.stats.planted import true_rates
from workbench.stats.proportion import clustered_rate


@pytest.mark.parametrize("n", range(1, 7))
def test_both_are_the_share_of_all_ways_to_draw_k_trials(n: int) -> None:
    for c, k in itertools.product(range(n + 1), range(1, n + 1)):
        draws = list(itertools.combinations([True] * c + [False] * (n - c), k))
        assert pass_at_k(n, c, k) == pytest.approx(sum(map(any, draws)) / len(draws))
        assert pass_hat_k(n, c, k) == pytest.approx(sum(map(all, draws)) / len(draws))


def test_one_success_among_many_is_not_a_pass() -> None:
    assert pass_at_k(200, 1, 1) == pytest.approx(0.005)


@given(st.integers(1, 60), st.data())
def test_pass_at_1_is_the_rate_and_both_move_the_right_way(n: int, data: st.DataObject) -> None:
    c = data.draw(st.integers(0, n))
    k = data.draw(st.integers(1, n))
    found = pass_at_k(n, c, k)
    every = pass_hat_k(n, c, k)
    assert found is not None
    assert every is not None
    assert pass_at_k(n, c, 1) == pytest.approx(c / n)
    assert every <= c / n + 1e-12 <= found + 2e-12
    if c < n:
        assert (pass_at_k(n, c + 1, k) or 0) >= found
    if k < n:
        assert (pass_at_k(n, c, k + 1) or 0) >= found - 1e-12


def test_fewer_trials_than_k_are_refused() -> None:
    assert pass_at_k(3, 3, 4) is None
    assert pass_hat_k(3, 3, 4) is None
    with pytest.raises(ValueError, match="need"):
        pass_at_k(3, 4, 1)


def test_the_mean_is_over_problems_not_over_samples() -> None:
    """10 problems x 4 samples: the number of problems never enters the estimator of one."""
    counts = [0, 1, 2, 3, 4, 4, 3, 2, 1, 0]
    tasks = [TaskCount(f"t{i}", 4, 4, c) for i, c in enumerate(counts)]
    expected = sum(1 - math.comb(4 - c, 2) / math.comb(4, 2) for c in counts) / 10
    assert pass_k(tasks, 2, "any").estimate == pytest.approx(expected)


def test_a_task_short_of_trials_is_named_and_bounded_and_drops_no_k() -> None:
    tasks = [TaskCount(f"t{i}", 8, 8, 4) for i in range(3)] + [TaskCount("t3", 8, 7, 4)]
    full = pass_k(tasks, 8, "any")
    assert full.estimate is None
    assert full.short == ("t3",)
    assert full.reason == "1 of 4 tasks have fewer than 8 scored trials"
    assert full.low == full.high == 1
    seven = pass_k(tasks, 7, "all")
    assert seven.estimate == 0
    assert seven.short == ("t3",)


def test_pass_at_1_has_the_interval_of_success() -> None:
    tasks = [TaskCount("a", 3, 3, 1), TaskCount("b", 3, 3, 3), TaskCount("c", 3, 3, 0)]
    ours, success = (
        pass_k(tasks, 1, "any").interval,
        clustered_rate([[1, 0, 0], [1, 1, 1], [0, 0, 0]]).interval,
    )
    assert ours is not None
    assert success is not None
    assert (ours.low, ours.high) == pytest.approx((success.low, success.high))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tasks", "trials", "rate", "correlation", "k", "kind"),
    [(87, 3, 0.05, 0.1, 3, "all"), (87, 3, 0.95, 0.1, 3, "any"), (20, 5, 0.05, 0.4, 5, "all")],
)
def test_what_hardly_any_task_does_is_covered(
    tasks: int, trials: int, rate: float, correlation: float, k: int, kind: Kind
) -> None:
    """Wilson's interval held these in 87 to 89 % of simulations."""
    rng = np.random.default_rng(3)
    many = true_rates(np.random.default_rng(1), 200_000, rate, correlation)
    truth = float(np.mean(many**k if kind == "all" else 1 - (1 - many) ** k))
    covered = 0
    for _ in range(300):
        passed = rng.binomial(trials, true_rates(rng, tasks, rate, correlation))
        counts = [TaskCount(str(n), trials, trials, int(c)) for n, c in enumerate(passed)]
        interval = pass_k(counts, k, kind).interval
        covered += interval is not None and truth in interval
    assert covered / 300 >= 0.95 - 3 * (0.05 * 0.95 / 300) ** 0.5
