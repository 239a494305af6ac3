"""Score intervals for linear contrasts of arms that ran the same tasks.

The interval of each arm's rate (`proportion.clustered_rate`) is carried over to the contrast by
the method of variance estimates recovery (MOVER; Zou, Huang & Zhang 2009), which for one trial
per task and the contrast (1, -1) is Newcombe's hybrid score interval for paired proportions
(Newcombe 1998, method 10), with the same reduction of positive correlation. Unlike the
bootstrap and the t interval it has width when all tasks agree, and it stays in range. It serves
contrasts of three arms (`gap`); for two, `score.PairedScore` is narrower and covers better where few
tasks differ, all in one direction.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from workbench.stats.interval import LEVEL, Interval
from workbench.stats.proportion import TaskRewards, clustered_rate, task_means


@dataclass(frozen=True, slots=True)
class _Arm:
    mean: float
    low: float
    high: float
    effective: float
    means: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Joint:
    """Arms measured on the same tasks, ready for any number of contrasts."""

    arms: tuple[_Arm, ...]
    correlations: tuple[tuple[float, ...], ...]
    level: float

    @classmethod
    def of(cls, arms: Sequence[TaskRewards], level: float = LEVEL) -> Joint:
        """Prepare arms; `arms[j][i]` are the rewards of task i in arm j.

        Raises:
            ValueError: fewer than two tasks, or arms of different length.
        """
        if len({len(tasks) for tasks in arms}) != 1 or len(arms[0]) < 2:
            raise ValueError("arms need the same tasks, at least two")
        measured = tuple(_measure(tasks, level) for tasks in arms)
        matrix = tuple(tuple(_correlation(a, b) for b in measured) for a in measured)
        return cls(measured, matrix, level)

    def contrast(self, weights: Sequence[float]) -> tuple[float, Interval]:
        """Estimate and interval of sum(weight * rate); one weight per arm."""
        estimate = math.fsum(w * arm.mean for w, arm in zip(weights, self.arms, strict=True))
        below = [w * (arm.mean - (arm.low if w > 0 else arm.high)) for w, arm in self._pairs(weights)]
        above = [w * ((arm.high if w > 0 else arm.low) - arm.mean) for w, arm in self._pairs(weights)]
        low, high = estimate - self._reach(weights, below), estimate + self._reach(weights, above)
        smallest = math.fsum(min(w, 0.0) for w in weights)
        largest = math.fsum(max(w, 0.0) for w in weights)
        return estimate, Interval(max(low, smallest), min(high, largest), self.level)

    def _pairs(self, weights: Sequence[float]) -> list[tuple[float, _Arm]]:
        return list(zip(weights, self.arms, strict=True))

    def _reach(self, weights: Sequence[float], parts: Sequence[float]) -> float:
        """Root of the quadratic form of one-sided parts; correlation acts with the weights' signs."""
        total = math.fsum(part * part for part in parts)
        for i, left in enumerate(parts):
            for j in range(i):
                sign = math.copysign(1.0, weights[i] * weights[j])
                total += 2 * sign * self.correlations[i][j] * left * parts[j]
        return math.sqrt(max(total, 0.0))


def _measure(tasks: TaskRewards, level: float) -> _Arm:
    rate = clustered_rate(tasks, level)
    assert rate.interval is not None
    return _Arm(rate.mean, rate.interval.low, rate.interval.high, rate.effective, tuple(task_means(tasks)))


def _correlation(a: _Arm, b: _Arm) -> float:
    """Correlation of task means; positive covariance reduced by 1/(2 effective trials)."""
    count = len(a.means)
    covariance = math.fsum((x - a.mean) * (y - b.mean) for x, y in zip(a.means, b.means, strict=True)) / count
    if covariance > 0:
        covariance = max(covariance - 1 / (2 * min(a.effective, b.effective)), 0.0)
    scale = math.sqrt(_variance(a) * _variance(b))
    return max(-1.0, min(1.0, covariance / scale)) if scale > 1e-12 else 0.0


def _variance(arm: _Arm) -> float:
    return math.fsum((value - arm.mean) ** 2 for value in arm.means) / len(arm.means)
