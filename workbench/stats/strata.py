"""The mean over strata that each count alike, such as the subsets of a suite."""

from __future__ import annotations

import math
from collections.abc import Sequence

from workbench.stats.interval import LEVEL, Interval
from workbench.stats.proportion import TaskRewards, clustered_rate


def macro_mean(strata: Sequence[TaskRewards], level: float = LEVEL) -> tuple[float, Interval | None]:
    """Unweighted mean of the strata's rates, with the interval that theirs imply.

    Strata are independent, so that the distances from their rates to their ends add up in squares (MOVER;
    Zou, Huang & Zhang 2009). ``None`` where a stratum has one task, which says nothing about others.

    Raises:
        ValueError: no stratum, or one without tasks.
    """
    if not strata:
        raise ValueError("a mean over strata needs at least one")
    rates = [clustered_rate(tasks, level) for tasks in strata]
    mean = math.fsum(rate.mean for rate in rates) / len(rates)
    known = [(rate.mean, rate.interval) for rate in rates if rate.interval is not None]
    if len(known) < len(rates):
        return mean, None
    below = math.sqrt(math.fsum((value - found.low) ** 2 for value, found in known)) / len(rates)
    above = math.sqrt(math.fsum((found.high - value) ** 2 for value, found in known)) / len(rates)
    return mean, Interval(max(mean - below, 0.0), min(mean + above, 1.0), level)
