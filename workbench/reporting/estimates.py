"""Rewards per task -> `schema.Estimate`."""

from __future__ import annotations

import math
from collections.abc import Sequence

from workbench.reporting.numbers import Estimate
from workbench.stats.interval import Interval
from workbench.stats.paired import t_interval
from workbench.stats.proportion import clustered_rate
from workbench.stats.strata import macro_mean


def estimate(tasks: Sequence[Sequence[float]], level: float, reason: str) -> Estimate:
    """Mean over tasks with interval; `reason` is given when there is no task."""
    if not tasks:
        return Estimate(value=None, tasks=0, reason=reason)
    rate = clustered_rate(tasks, level)
    if rate.interval is None:
        return Estimate(value=rate.mean, tasks=1, reason="one task has no interval")
    return Estimate(value=rate.mean, low=rate.interval.low, high=rate.interval.high, tasks=rate.tasks)


def change(value: float, interval: Interval | None, tasks: int) -> Estimate:
    """A difference, over tasks of two arms."""
    if interval is None:
        return Estimate(value=value, tasks=tasks, reason="one task has no interval")
    return Estimate(value=value, low=interval.low, high=interval.high, tasks=tasks)


def average(values: Sequence[float], level: float, reason: str) -> Estimate:
    """Mean of amounts, 0 or more, one per task, with Student's t interval; `reason` where there is none."""
    if not values:
        return Estimate(value=None, tasks=0, reason=reason)
    mean = math.fsum(values) / len(values)
    if len(values) < 2:
        return Estimate(value=mean, tasks=1, reason="one task has no interval")
    found = t_interval(values, level)
    return Estimate(value=mean, low=max(found.low, 0.0), high=found.high, tasks=len(values))


def macro(strata: Sequence[Sequence[Sequence[float]]], level: float) -> Estimate | None:
    """Mean over strata that count alike; ``None`` with fewer than two, or where one has no task."""
    if len(strata) < 2 or not all(strata):
        return None
    mean, found = macro_mean(strata, level)
    tasks = sum(map(len, strata))
    if found is None:
        return Estimate(value=mean, tasks=tasks, reason="a subset of one task has no interval")
    return Estimate(value=mean, low=found.low, high=found.high, tasks=tasks)
