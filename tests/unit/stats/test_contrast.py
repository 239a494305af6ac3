"""Intervals of contrasts: with two arms and one trial each they are Newcombe's."""

from __future__ import annotations

import math

import pytest

from workbench.stats.contrast import Joint


def newcombe(a: int, b: int, c: int, d: int) -> tuple[float, float]:
    """Method 10 of Newcombe (1998) for a 2x2 table of pairs, as printed there."""
    n, z = a + b + c + d, 1.959964
    first, second = (a + b) / n, (a + c) / n

    def score(p: float) -> tuple[float, float]:
        root = z * math.sqrt(z * z + 4 * n * p * (1 - p))
        return (2 * n * p + z * z - root) / (2 * (n + z * z)), (2 * n * p + z * z + root) / (2 * (n + z * z))

    (l1, u1), (l2, u2) = score(first), score(second)
    product = a * d - b * c
    margin = math.sqrt((a + b) * (c + d) * (a + c) * (b + d))
    phi = (max(product - n / 2, 0) if product > 0 else product) / margin if margin else 0.0
    below, above = first - l1, u2 - second
    low = math.sqrt(below**2 - 2 * phi * below * above + above**2)
    below, above = u1 - first, second - l2
    return first - second - low, first - second + math.sqrt(below**2 - 2 * phi * below * above + above**2)


def pairs(a: int, b: int, c: int, d: int) -> list[list[list[float]]]:
    rows = [(1.0, 1.0)] * a + [(1.0, 0.0)] * b + [(0.0, 1.0)] * c + [(0.0, 0.0)] * d
    return [[[x] for x, _ in rows], [[y] for _, y in rows]]


def test_the_published_value_of_newcombes_method_is_met_by_the_definition_used_here() -> None:
    assert newcombe(36, 12, 2, 0) == pytest.approx((0.0569, 0.3404), abs=1e-4)


@pytest.mark.parametrize(
    "table", [(36, 12, 2, 0), (10, 5, 5, 10), (20, 0, 0, 20), (3, 30, 2, 40), (2, 20, 20, 2)]
)
def test_single_trials_on_many_tasks_give_newcombes_interval(table: tuple[int, int, int, int]) -> None:
    """t and n - 1 in place of z and n make no difference on thousands of tasks."""
    a, b, c, d = (100 * count for count in table)
    _, interval = Joint.of(pairs(a, b, c, d)).contrast([1, -1])
    assert (interval.low, interval.high) == pytest.approx(newcombe(a, b, c, d), abs=2e-4)


def test_a_contrast_of_three_arms_is_linear_and_stays_in_reach() -> None:
    joint = Joint.of([[[1], [0], [1]], [[0], [0], [1]], [[1], [1], [1]]])
    estimate, interval = joint.contrast([1, -0.5, -0.5])
    assert estimate == pytest.approx(2 / 3 - 1 / 6 - 1 / 2)
    assert -1 <= interval.low < estimate < interval.high <= 1


def test_arms_with_other_tasks_have_no_contrast() -> None:
    with pytest.raises(ValueError, match="same tasks"):
        Joint.of([[[1], [0]], [[1]]])
