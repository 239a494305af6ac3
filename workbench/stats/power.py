"""What difference could a paired comparison show, and how many tasks or trials would it take?

The mean difference over n tasks with t trials per arm has variance (between + within / t) / n,
where `between` is the variance of the tasks' true differences and `within` the sum of both
arms' trial variances. Power is that of the two-sided t test on tasks (noncentral t).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from workbench.stats.paired import clustered_error, task_differences
from workbench.stats.proportion import TaskRewards
from workbench.stats.quantiles import noncentral_t_cdf, two_sided
from workbench.stats.variance import within_variance

_MOST = 1_000_000


@dataclass(frozen=True, slots=True)
class PairedComponents:
    """Variance components of a paired difference, in squared reward.

    Attributes:
        between: of the tasks' true differences; with single trials it holds the trials' as well.
        within: both arms' trial variances added; ``None`` when trials were not repeated.
    """

    between: float
    within: float | None

    def variance(self, trials: int) -> float:
        """Variance of one task's observed difference with `trials` per arm."""
        return self.between + (self.within or 0.0) / trials


def paired_components(first: TaskRewards, second: TaskRewards) -> PairedComponents:
    """Components from pilot data on the same tasks (at least two)."""
    values = task_differences(first, second)
    total = clustered_error(values) ** 2 * len(values)
    one, other = within_variance(first), within_variance(second)
    if one is None or other is None:
        return PairedComponents(total, None)
    noise = [one / len(a) + other / len(b) for a, b in zip(first, second, strict=True)]
    return PairedComponents(max(0.0, total - math.fsum(noise) / len(noise)), one + other)


def assumed_components(
    first: float, second: float, correlation: float, shared: float = 0.5
) -> PairedComponents:
    """Components where there is no pilot, from what one is ready to assume of 0/1 rewards.

    Args:
        first, second: success rates in [0, 1].
        correlation: between two trials of one task (intraclass), in [0, 1]; 1 means that trials
            of a task never differ.
        shared: correlation between the arms' true rates over tasks, in [-1, 1].

    Raises:
        ValueError: a value is outside its range.
    """
    if not (0 <= first <= 1 and 0 <= second <= 1 and 0 <= correlation <= 1 and -1 <= shared <= 1):
        raise ValueError("rates and correlation must be in [0, 1], shared in [-1, 1]")
    one, other = first * (1 - first), second * (1 - second)
    between = correlation * (one + other - 2 * shared * math.sqrt(one * other))
    return PairedComponents(between, (1 - correlation) * (one + other))


@dataclass(frozen=True, slots=True)
class Design:
    """What is asked of a comparison: two-sided `alpha`, and `power` to find the effect."""

    alpha: float = 0.05
    power: float = 0.8


def power(effect: float, standard_error: float, tasks: int, alpha: float = 0.05) -> float:
    """Chance that the paired t test on `tasks` >= 2 finds a true mean difference of `effect`."""
    if standard_error == 0:
        return 1.0 if effect else alpha
    critical = two_sided(1 - alpha, tasks - 1)
    shift = abs(effect) / standard_error
    found = 1 - noncentral_t_cdf(critical, tasks - 1, shift)
    return found + noncentral_t_cdf(-critical, tasks - 1, shift)


def detectable(pilot: PairedComponents, tasks: int, trials: int, design: Design = Design()) -> float | None:
    """The smallest difference found with the wanted power by `tasks` x `trials` per arm.

    ``None`` when the pilot shows no variance at all: it then says nothing about precision.
    """
    error = math.sqrt(pilot.variance(trials) / tasks)
    if tasks < 2 or error == 0:
        return None
    low, high = 0.0, error
    while power(high, error, tasks, design.alpha) < design.power:
        low, high = high, high * 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (
            (low, middle) if power(middle, error, tasks, design.alpha) >= design.power else (middle, high)
        )
    return high


def tasks_needed(
    pilot: PairedComponents, effect: float, trials: int, design: Design = Design()
) -> int | None:
    """The fewest tasks that find a difference of `effect` > 0; ``None`` beyond a million."""
    deviation = math.sqrt(pilot.variance(trials))
    return _fewest(
        lambda tasks: power(effect, deviation / math.sqrt(tasks), tasks, design.alpha) >= design.power, 2
    )


def trials_needed(
    pilot: PairedComponents, effect: float, tasks: int, design: Design = Design()
) -> int | None:
    """The fewest trials per arm and task that find `effect` > 0 on `tasks` >= 2.

    ``None`` when no number does, because tasks differ too much, or when the pilot had single trials.
    """
    if pilot.within is None:
        return None

    def enough(trials: int) -> bool:
        error = math.sqrt(pilot.variance(trials) / tasks)
        return power(effect, error, tasks, design.alpha) >= design.power

    return _fewest(enough, 1)


def _fewest(enough: Callable[[int], bool], start: int) -> int | None:
    """The smallest number >= `start` that is enough; `enough` must be monotone."""
    low, high = start - 1, start
    while not enough(high):
        low, high = high, high * 2
        if high > _MOST:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
