"""The sign-flip test is exact, whichever way it is computed."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar as reference_mcnemar

from workbench.stats.permutation import attainable, mcnemar, sign_flip, sign_flips

FRACTIONS = st.sampled_from([-1.0, -2 / 3, -0.5, -1 / 3, 0.0, 1 / 3, 0.5, 2 / 3, 1.0])


def by_definition(differences: list[float]) -> float:
    observed = abs(sum(differences))
    patterns = list(itertools.product([1, -1], repeat=len(differences)))
    hits = sum(
        abs(sum(s * d for s, d in zip(p, differences, strict=True))) >= observed - 1e-9 for p in patterns
    )
    return hits / len(patterns)


@pytest.mark.parametrize(
    ("differences", "p"),
    [
        ([1, 1, 1], 2 / 8),
        ([1, 1, 1, 1, 1, 1], 2 / 64),
        ([1, -1], 1),
        ([1, 1, 0.5], 2 / 8),
        ([0, 0], 1),
        ([1], 1),
    ],
)
def test_values_worked_by_hand(differences: list[float], p: float) -> None:
    assert sign_flip(differences, 0) == p


@given(st.lists(FRACTIONS, min_size=1, max_size=10))
def test_it_is_the_share_of_sign_patterns(differences: list[float]) -> None:
    assert sign_flip(differences, 0) == pytest.approx(by_definition(differences))


@given(st.lists(st.floats(0.01, 1) | st.floats(-1, -0.01), min_size=1, max_size=8))
@settings(max_examples=30)
def test_it_is_so_for_any_numbers(differences: list[float]) -> None:
    assert sign_flip(differences, 0) == pytest.approx(by_definition(differences))


def test_it_agrees_with_scipy() -> None:
    values = np.array([0.5, -0.25, 0.75, 1.0, 0.25, -0.5, 0.75, 0.5, 0.0, 1.0])
    theirs = stats.permutation_test(
        (values,),
        lambda x, axis: x.mean(axis=axis),
        permutation_type="samples",
        n_resamples=np.inf,
        vectorized=True,
    )
    assert sign_flip(list(values), 0) == pytest.approx(theirs.pvalue)


@given(st.integers(0, 40), st.integers(0, 40), st.integers(0, 10))
def test_for_single_trials_it_is_mcnemars_test(first: int, second: int, ties: int) -> None:
    differences = [1.0] * first + [-1.0] * second + [0.0] * ties
    assert sign_flip(differences, 0) == pytest.approx(mcnemar(first, second))


@pytest.mark.parametrize(("first", "second"), [(0, 0), (1, 0), (9, 2), (30, 30), (2, 17)])
def test_mcnemar_agrees_with_statsmodels(first: int, second: int) -> None:
    if first + second:
        theirs = reference_mcnemar([[5, first], [second, 5]], exact=True).pvalue
        assert mcnemar(first, second) == pytest.approx(min(theirs, 1))
    else:
        assert mcnemar(0, 0) == 1


def test_it_stays_exact_for_as_many_tasks_as_there_are() -> None:
    assert sign_flip([1 / 3] * 700, 0) == pytest.approx(2 * 0.5**700, rel=1e-9, abs=1e-300)
    assert math.isclose(sign_flip([1.0] * 300 + [-1.0] * 200, 0), mcnemar(300, 200), rel_tol=1e-9)


def test_draws_take_over_where_enumeration_ends_and_never_give_zero() -> None:
    values = list(np.random.default_rng(8).uniform(0.1, 1, size=40))
    assert sign_flip(values, 1) == pytest.approx(1 / 100_001)
    mixed = list(np.random.default_rng(9).normal(0.15, 1, size=20))
    drawn = sign_flip([*mixed, 1e-7], 1)
    assert drawn == pytest.approx(sign_flip(mixed, 1), abs=0.01)


def test_mcnemar_of_thousands_neither_overflows_nor_loses_its_tail() -> None:
    assert mcnemar(3000, 3000) == 1
    assert 0 <= mcnemar(3000, 100) < 1e-300


@pytest.mark.parametrize(
    ("moved", "level"), [(0, 0.0), (5, 0.0), (6, 2 / 64), (8, 2 / 256), (9, 20 / 512), (20, 0.04139)]
)
def test_too_few_tasks_that_differ_leave_nothing_to_reject(moved: int, level: float) -> None:
    assert attainable([1.0, -1.0] * (moved // 2) + [1.0] * (moved % 2) + [0.0] * 7) == pytest.approx(
        level, abs=1e-5
    )


def test_the_attainable_level_is_how_often_it_rejects() -> None:
    sizes = np.array([1, 1, 2 / 3, 2 / 3, 1 / 3, 1 / 3, 1 / 3, 1 / 3, 1 / 3])
    patterns = itertools.product([1, -1], repeat=len(sizes))
    rejected = [sign_flip(list(sizes * pattern), 0) < 0.05 for pattern in patterns]
    assert np.mean(rejected) == pytest.approx(attainable(list(sizes)))
    with pytest.raises(ValueError, match="common fraction"):
        attainable([math.pi / 4, 0.5])


@given(st.lists(FRACTIONS, min_size=1, max_size=10))
def test_ties_and_what_lies_beyond_make_up_the_p_value(differences: list[float]) -> None:
    flips = sign_flips(differences, 0)
    assert flips.tied > 0
    assert flips.p_value == pytest.approx(flips.beyond + flips.tied)
    assert flips.mid_p == pytest.approx(flips.p_value - flips.tied / 2)


def test_counting_ties_half_rejects_too_often_where_the_number_that_differ_is_fixed() -> None:
    """Why the exact p value is reported: 16 tasks that always differ, either way with equal chance."""
    chances = {k: math.comb(16, k) / 2**16 for k in range(17)}
    flips = {k: sign_flips([1.0] * k + [-1.0] * (16 - k), 0) for k in chances}
    assert sum(chances[k] for k, f in flips.items() if f.mid_p < 0.05) == pytest.approx(0.0768, abs=1e-4)
    assert sum(chances[k] for k, f in flips.items() if f.p_value < 0.05) == pytest.approx(0.0213, abs=1e-4)
