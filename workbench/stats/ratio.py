"""The ratio of two means over the same tasks, such as dollars per success."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from workbench.stats.interval import LEVEL, Interval
from workbench.stats.quantiles import two_sided


@dataclass(frozen=True, slots=True)
class Ratio:
    """Sum of numerators over sum of denominators.

    Attributes:
        estimate: ``None`` when the denominators sum to zero.
        interval: ``None`` where no finite one covers, see `reason`.
        reason: why something is missing, else ``None``.
    """

    estimate: float | None
    interval: Interval | None
    reason: str | None


def ratio(numerators: Sequence[float], denominators: Sequence[float], level: float = LEVEL) -> Ratio:
    """Ratio of means with Fieller's interval (Fieller 1954), Student's t on (tasks - 1).

    Args:
        numerators, denominators: one of each per task, in the same order; at least one task.

    The interval is finite only where the mean of the denominators is itself clearly not zero.
    """
    count = len(numerators)
    top, bottom = math.fsum(numerators) / count, math.fsum(denominators) / count
    if bottom == 0:
        return Ratio(None, None, "there is nothing to divide by")
    estimate = top / bottom
    if count < 2:
        return Ratio(estimate, None, "one task has no interval")
    square = two_sided(level, count - 1) ** 2
    a = bottom**2 - square * _covariance(denominators, denominators)
    if a <= 0:
        return Ratio(estimate, None, "the denominator may be zero")
    b = top * bottom - square * _covariance(numerators, denominators)
    c = top**2 - square * _covariance(numerators, numerators)
    reach = math.sqrt(max(b * b - a * c, 0.0))
    return Ratio(estimate, Interval((b - reach) / a, (b + reach) / a, level), None)


def _covariance(first: Sequence[float], second: Sequence[float]) -> float:
    """Covariance of the two means."""
    count = len(first)
    one, other = math.fsum(first) / count, math.fsum(second) / count
    products = math.fsum((x - one) * (y - other) for x, y in zip(first, second, strict=True))
    return products / (count - 1) / count
