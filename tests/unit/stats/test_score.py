"""The score interval of a paired difference, by hand and by its definition."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats

from workbench.stats.paired import difference
from workbench.stats.score import PairedScore


def likely(b: int, c: int, n: int, supposed: float) -> float:
    """The share that worsened under which this table is most likely, were the difference `supposed`."""

    def unlikely(worsened: float) -> float:
        improved = worsened + supposed
        same = max(1 - improved - worsened, 1e-300)
        return -(
            b * math.log(max(improved, 1e-300))
            + c * math.log(max(worsened, 1e-300))
            + (n - b - c) * math.log(same)
        )

    bounds = (max(0.0, -supposed), (1 - supposed) / 2)
    return float(optimize.minimize_scalar(unlikely, bounds=bounds, options={"xatol": 1e-12}).x)


def by_definition(b: int, c: int, n: int, supposed: float) -> float:
    """The score statistic, its variance taken where the supposed difference makes the table most likely."""
    worsened = likely(b, c, n, supposed)
    variance = 2 * worsened + supposed - supposed**2
    return (b - c - n * supposed) / math.sqrt(n * variance)


@pytest.mark.parametrize(("b", "c", "n"), [(12, 2, 50), (5, 5, 30), (7, 0, 20), (0, 3, 87), (30, 2, 75)])
@pytest.mark.parametrize("supposed", [-0.4, -0.1, 0.05, 0.3])
def test_with_one_trial_per_task_it_is_tangos_statistic(b: int, c: int, n: int, supposed: float) -> None:
    score = PairedScore(up=b / n, down=c / n, effective=n, tasks=n)
    assert score.deviate(supposed) == pytest.approx(by_definition(b, c, n, supposed), abs=1e-4)


@pytest.mark.parametrize(("b", "c", "n"), [(12, 2, 50), (5, 5, 30), (9, 1, 20)])
def test_no_difference_is_mcnemars_statistic(b: int, c: int, n: int) -> None:
    score = PairedScore(up=b / n, down=c / n, effective=n, tasks=n)
    assert score.deviate(0.0) == pytest.approx((b - c) / math.sqrt(b + c))


def test_where_no_task_moved_it_is_wilsons_interval_for_none_of_n() -> None:
    t = stats.t.ppf(0.975, 19)
    interval = PairedScore.of([0.0] * 20, 20).interval()
    assert (interval.low, interval.high) == pytest.approx((-t * t / (20 + t * t), t * t / (20 + t * t)))


def test_its_ends_are_where_the_test_begins_to_reject() -> None:
    score = PairedScore.of([1.0, 0.5, 0.0, 0.0, -0.5, 1.0, 1.0, 0.0, 0.5, 1.0], 20)
    interval = score.interval(0.9)
    assert score.p_above(interval.low) == pytest.approx(0.05)
    assert score.p_below(interval.high) == pytest.approx(0.05)
    assert score.p_above(score.estimate) == 0.5


@given(st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.25, 1.0]), min_size=2, max_size=30))
def test_more_is_supposed_the_less_the_estimate_exceeds_it(values: list[float]) -> None:
    score = PairedScore.of(values, 2 * len(values))
    deviates = [score.deviate(step / 20) for step in range(-19, 20)]
    assert all(later <= earlier + 1e-9 for earlier, later in itertools.pairwise(deviates))
    interval = score.interval()
    assert -1 <= interval.low <= score.estimate <= interval.high <= 1


@given(st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.25, 1.0]), min_size=2, max_size=30))
def test_half_a_pair_conceded_only_widens(values: list[float]) -> None:
    plain = PairedScore.of(values, len(values)).interval()
    safe = PairedScore.of(values, len(values), correction=0.5).interval()
    assert safe.low <= plain.low + 1e-9
    assert safe.high >= plain.high - 1e-9


def test_many_trials_of_few_tasks_are_not_many_tasks() -> None:
    once = difference([[1.0]] * 4 + [[0.0]] * 8, [[0.0]] * 12, rng=0).interval
    often = difference([[1.0] * 50] * 4 + [[0.0] * 50] * 8, [[0.0] * 50] * 12, rng=0).interval
    assert once == often


def test_values_out_of_range_and_lone_tasks_are_refused() -> None:
    for values in ([0.5], [1.5, 0.0]):
        with pytest.raises(ValueError, match="at least two tasks"):
            PairedScore.of(values, 2)
