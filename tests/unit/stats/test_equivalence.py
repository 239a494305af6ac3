"""Sameness within a margin: the test and the interval never contradict each other."""

from __future__ import annotations

import numpy as np
import pytest
from statsmodels.stats.weightstats import ttost_paired

from workbench.stats.equivalence import equivalence


def arms(tasks: int, trials: int, shift: float, seed: int) -> tuple[list[list[float]], list[list[float]]]:
    rng = np.random.default_rng(seed)
    rates = rng.uniform(0.3, 0.7, tasks)
    first = (rng.random((tasks, trials)) < rates[:, None] + shift).astype(float)
    second = (rng.random((tasks, trials)) < rates[:, None]).astype(float)
    return first.tolist(), second.tolist()


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("margin", [0.05, 0.1, 0.2])
def test_p_is_below_alpha_exactly_when_the_interval_lies_within_the_margin(seed: int, margin: float) -> None:
    first, second = arms(40, 5, 0.03 * seed, seed)
    found = equivalence(first, second, margin)
    inside = -margin < found.interval.low and found.interval.high < margin
    assert (found.p_equivalent < 0.05) == inside
    assert (found.p_not_worse < 0.05) == (found.interval.low > -margin)
    assert found.p_not_worse <= found.p_equivalent


def test_with_many_tasks_it_agrees_with_two_one_sided_t_tests() -> None:
    first, second = arms(400, 5, 0.0, 1)
    means = [np.mean(first, axis=1), np.mean(second, axis=1)]
    peer, _, _ = ttost_paired(*means, -0.04, 0.04)
    assert equivalence(first, second, 0.04).p_equivalent == pytest.approx(peer, abs=0.02)


def test_few_tasks_prove_no_sameness_even_when_all_agree() -> None:
    same = [[1.0]] * 8
    assert equivalence(same, same, 0.05).p_equivalent > 0.05
    assert equivalence([[1.0]] * 400, [[1.0]] * 400, 0.05).p_equivalent < 0.05


def test_a_margin_must_be_stated() -> None:
    with pytest.raises(ValueError, match="margin"):
        equivalence([[1.0], [0.0]], [[1.0], [0.0]], 0)


def test_identical_trials_of_fractional_rewards_show_no_more_sameness() -> None:
    """At the margin, one task in ten lost, ten copies of a trial once said "the same" in 13 % of runs."""
    rng = np.random.default_rng(4)
    lost = rng.random((40, 20)) < 0.1
    for row in lost:
        first, second = [[0.0 if gone else 1.0] for gone in row], [[1.0 if gone else 0.98] for gone in row]
        once = equivalence(first, second, 0.082)
        often = equivalence([task * 10 for task in first], [task * 10 for task in second], 0.082)
        assert often.p_equivalent == pytest.approx(once.p_equivalent)
        assert often.p_not_worse == pytest.approx(once.p_not_worse)
