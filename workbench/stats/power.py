"""What difference could a paired comparison show, and how many tasks or trials would it take?

The mean difference over n tasks with t trials per arm has variance (between + within / t) / n,
where `between` is the variance of the tasks' true differences and `within` the sum of both
arms' trial variances. Power is that of the test that is reported, the exact sign-flip test.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache

from workbench.stats.paired import clustered_error, is_binary, task_differences
from workbench.stats.permutation import mcnemar
from workbench.stats.proportion import TaskRewards
from workbench.stats.quantiles import binomial, chi2_quantile, noncentral_t_cdf, two_sided
from workbench.stats.variance import within_variance

_MOST = 1_000_000
_COUNTED = 2_000
_NOTHING = 1e-18
"""Variance up to this is rounding."""


@dataclass(frozen=True, slots=True)
class PairedComponents:
    """Variance components of a paired difference, in squared reward.

    Attributes:
        between: of the tasks' true differences; with single trials it holds the trials' as well.
        within: both arms' trial variances added; ``None`` when trials were not repeated.
        effect: size of the mean difference at which they were found, in [0, 1].
        binary: all rewards are 0 or 1.
    """

    between: float
    within: float | None
    effect: float = 0.0
    binary: bool = True

    def variance(self, trials: float) -> float:
        """Variance of one task's observed difference with `trials` per arm."""
        return self.between + (self.within or 0.0) / trials

    def implied(self, effect: float, trials: float) -> float:
        """`variance`, were the mean difference `effect`, in [0, 1].

        0/1 rewards that differ by d on average vary by d (1 - d) at least, were nothing else to vary.
        By what this exceeds the same at the pilot's effect, both components grow in proportion; by what
        it exceeds all of the pilot's variance, `between` alone, for then the pilot cannot say what tasks
        share. Of fractional rewards, effects are taken to spread evenly over tasks between none and twice
        the mean, which varies by d^2 / 3. No difference in [-1, 1] varies by more than 1 - d^2.
        """
        total, variance = self.variance(1), self.variance(trials)
        if self.binary and effect > self.effect:
            lacking = max(0.0, effect * (1 - effect) - total)
            grown = effect * (1 - effect) - self.effect * (1 - self.effect)
            variance = lacking + variance * (1 + max(0.0, grown - lacking) / total)
        if not self.binary:
            variance += max(0.0, effect * effect - self.effect**2) / 3
        return min(variance, 1 - effect * effect)


def paired_components(first: TaskRewards, second: TaskRewards) -> PairedComponents:
    """Components from pilot data on the same tasks (at least two)."""
    values = task_differences(first, second)
    effect, binary = abs(math.fsum(values)) / len(values), is_binary(first, second)
    total = clustered_error(values) ** 2 * len(values)
    total = total if total > _NOTHING else 0.0
    one, other = within_variance(first), within_variance(second)
    if one is None or other is None:
        return PairedComponents(total, None, effect, binary)
    noise = [one / len(a) + other / len(b) for a, b in zip(first, second, strict=True)]
    between = max(0.0, total - math.fsum(noise) / len(noise))
    return PairedComponents(between, one + other, effect, binary)


def equal_trials(first: TaskRewards, second: TaskRewards) -> float:
    """Trials per arm and task, the same everywhere, that would leave the mean difference as unsure as these.

    A mean varies with 1 / trials of its own arm and task, so that ten trials beside two are little more
    than two beside two.
    """
    one, other = within_variance(first), within_variance(second)
    if not one and not other:
        one = other = 1.0
    one, other = one or 0.0, other or 0.0
    noise = [one / len(a) + other / len(b) for a, b in zip(first, second, strict=True)]
    return (one + other) * len(noise) / math.fsum(noise)


def cautious(first: TaskRewards, second: TaskRewards) -> PairedComponents:
    """`paired_components` with the variance between tasks at its upper limit, which is sure by 80 %.

    Few tasks tell the variance between tasks roughly, often as none; a design planned from its estimate
    has too little power half of the time. So plans look at this limit too (Browne 1995).
    """
    found, tasks = paired_components(first, second), len(first)
    total = clustered_error(task_differences(first, second)) ** 2 * tasks
    most = min(total * (tasks - 1) / chi2_quantile(0.2, tasks - 1), 1.0)
    if found.within is None:
        return replace(found, between=most)
    return replace(found, between=max(found.between, most - found.within / equal_trials(first, second)))


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
    return PairedComponents(between, (1 - correlation) * (one + other), abs(first - second))


@dataclass(frozen=True, slots=True)
class Design:
    """What is asked of a comparison.

    Attributes:
        alpha: two-sided. Of m comparisons that Holm corrects, the least certain has alpha to itself and
            the most certain alpha / m; which one it will be is not known beforehand, so give alpha / m.
        power: chance to find the effect.
    """

    alpha: float = 0.05
    power: float = 0.8


def power(effect: float, pilot: PairedComponents, tasks: int, trials: float, alpha: float = 0.05) -> float:
    """Chance that the sign-flip test finds a true mean difference of `effect`, in [0, 1].

    With one 0/1 trial a task it is exact: a sum over the number of tasks that differ (McNemar's test), the
    smaller one of those at the implied and at the least possible variance. Otherwise it is the smaller of
    the t test's, which the sign-flip test's approaches, and that of differences as rare and as large as
    mean and variance allow, which come in the fewest steps. It is 0 where 2 / 2^tasks is not below
    `alpha`, and the t test's above 2,000 tasks.
    """
    if 2.0 ** (1 - tasks) >= alpha:
        return 0.0
    variance = pilot.implied(effect, trials)
    if tasks > _COUNTED:
        return t_power(effect, math.sqrt(variance / tasks), tasks, alpha)
    found = sparse_power(effect, variance, tasks, alpha)
    if pilot.binary and trials == 1:
        return min(found, sparse_power(effect, effect * (1 - effect), tasks, alpha))
    return min(found, t_power(effect, math.sqrt(variance / tasks), tasks, alpha))


def t_power(effect: float, standard_error: float, tasks: int, alpha: float = 0.05) -> float:
    """Chance that the paired t test on `tasks` >= 2 finds a true mean difference of `effect`."""
    if standard_error <= 1e-9:
        return 1.0 if effect else alpha
    critical = two_sided(1 - alpha, tasks - 1)
    shift = abs(effect) / standard_error
    if shift > 2 * critical + 4:  # above 0.999, where the noncentral t is no longer computed reliably
        return 1.0
    other = noncentral_t_cdf(-critical, tasks - 1, shift) if shift < 3 else 0.0
    return 1 - noncentral_t_cdf(critical, tasks - 1, shift) + other


def sparse_power(effect: float, variance: float, tasks: int, alpha: float) -> float:
    """Power of the sign-flip test where each task's difference is 0 or one size, up or down.

    The size is the largest, up to 1, that has this mean and `variance`; then (effect^2 + variance) /
    size^2 of the tasks differ, and the number that went up is binomial given the number that differ.
    """
    import numpy as np

    square = effect * effect + variance
    if square == 0:
        return 0.0
    size = min(1.0, square / effect) if effect else 1.0
    differ = min(1.0, square / size**2)
    up = min(1.0, (1 + effect / size / differ) / 2)
    losses = np.array(_critical(tasks, alpha))
    counts = np.arange(tasks + 1)
    found = np.where(losses >= 0, binomial(losses, counts, 1 - up) + binomial(losses, counts, up), 0.0)
    mass = np.diff(binomial(counts, np.full(tasks + 1, tasks), differ), prepend=0.0)
    return min(1.0, float(mass @ found))


@lru_cache(maxsize=256)
def _critical(tasks: int, alpha: float) -> tuple[int, ...]:
    """For 0 to `tasks` that differ: the most of them against the trend at which p < `alpha`; -1: never."""
    most: list[int] = []
    for count in range(tasks + 1):
        losses = most[-1] if most else -1
        while mcnemar(count - losses - 1, losses + 1) < alpha and 2 * (losses + 1) < count:
            losses += 1
        most.append(losses)
    return tuple(most)


def detectable(pilot: PairedComponents, tasks: int, trials: float, design: Design = Design()) -> float | None:
    """The smallest difference found with the wanted power by `tasks` x `trials` per arm; up to 1.

    ``None`` when there is none, or when the pilot shows no variance at all: it then says nothing
    about precision.
    """
    if tasks < 2 or pilot.variance(trials) == 0:
        return None

    def enough(effect: float) -> bool:
        return power(effect, pilot, tasks, trials, design.alpha) >= design.power

    if not enough(1.0):
        return None
    low, high = 0.0, 1.0
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def tasks_needed(
    pilot: PairedComponents, effect: float, trials: float, design: Design = Design()
) -> int | None:
    """A number of tasks that finds a difference of `effect` > 0, and one fewer does not.

    ``None`` beyond a million.
    """
    return _fewest(lambda tasks: power(effect, pilot, tasks, trials, design.alpha) >= design.power, 2)


def trials_needed(
    pilot: PairedComponents, effect: float, tasks: int, design: Design = Design()
) -> int | None:
    """The fewest trials per arm and task that find `effect` > 0 on `tasks` >= 2.

    ``None`` when no number does, because tasks differ too much or are too few, or when the pilot had
    single trials.
    """
    if pilot.within is None:
        return None
    return _fewest(lambda trials: power(effect, pilot, tasks, trials, design.alpha) >= design.power, 1)


def _fewest(enough: Callable[[int], bool], start: int) -> int | None:
    """A number >= `start` that is enough where the one before is not."""
    low, high = start - 1, start
    while not enough(high):
        low, high = high, high * 2
        if high > _MOST:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
