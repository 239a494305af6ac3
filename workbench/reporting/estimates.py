"""Rewards per task -> `schema.Estimate`."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.reporting.numbers import Estimate
from workbench.stats.proportion import clustered_rate


def estimate(tasks: Sequence[Sequence[float]], level: float, reason: str) -> Estimate:
    """Mean over tasks with interval; `reason` is given when there is no task."""
    if not tasks:
        return Estimate(value=None, tasks=0, reason=reason)
    rate = clustered_rate(tasks, level)
    if rate.interval is None:
        return Estimate(value=rate.mean, tasks=1, reason="one task has no interval")
    return Estimate(value=rate.mean, low=rate.interval.low, high=rate.interval.high, tasks=rate.tasks)
