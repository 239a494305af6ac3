"""How much of the spread lies between tasks, and how much between trials of one task?"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from workbench.stats.interval import LEVEL, Interval
from workbench.stats.proportion import TaskRewards, task_means
from workbench.stats.quantiles import f_quantile, log_gamma, two_sided

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

_DRAWS = 999
_CORRELATIONS, _RATES = 121, 101
"""Points of the grid on which the likelihood is looked at: to a hundredth, as results are shown."""


@dataclass(frozen=True, slots=True)
class Components:
    """Variance components of one arm.

    Attributes:
        between: variance of the tasks' true rates, at least 0; with single trials all variance.
        within: variance of trials within a task; ``None`` when no task has two trials.
        correlation: between / (between + within), ``None`` where undefined.
    """

    between: float
    within: float | None

    @property
    def correlation(self) -> float | None:
        """The intraclass correlation: how alike two trials of one task are."""
        if self.within is None or self.between + self.within == 0:
            return None
        return self.between / (self.between + self.within)


def components(tasks: TaskRewards) -> Components:
    """One-way random effects by analysis of variance, unequal trials allowed (Searle 1971, ch. 11).

    Raises:
        ValueError: fewer than two tasks.
    """
    means = task_means(tasks)
    if len(means) < 2:
        raise ValueError("variance between tasks needs at least two tasks")
    sizes = [len(task) for task in tasks]
    total = sum(sizes)
    grand = math.fsum(reward for task in tasks for reward in task) / total
    spread = math.fsum(n * (mean - grand) ** 2 for n, mean in zip(sizes, means, strict=True))
    mean_square = spread / (len(means) - 1)
    within = within_variance(tasks)
    if within is None:
        return Components(mean_square, None)
    typical = (total - sum(n * n for n in sizes) / total) / (len(means) - 1)
    return Components(max(0.0, (mean_square - within) / typical), within)


def within_variance(tasks: TaskRewards) -> float | None:
    """Pooled variance of trials around their task's mean; ``None`` when no task has two trials."""
    freedom = sum(len(task) - 1 for task in tasks)
    if freedom == 0:
        return None
    return math.fsum(_squares(task) for task in tasks) / freedom


def _squares(task: Sequence[float]) -> float:
    mean = math.fsum(task) / len(task)
    return math.fsum((reward - mean) ** 2 for reward in task)


def trial_share(
    tasks: TaskRewards, seed: int = 0, level: float = LEVEL
) -> tuple[float | None, Interval | None]:
    """Share of the variance of rewards that lies between trials of one task: 1 - `Components.correlation`.

    The interval is the hull of two, since each alone covers too rarely somewhere: the percentile bootstrap
    over tasks, and the profile likelihood of the beta-binomial model (rewards of 0 and 1; Williams 1975) or
    the F interval (rewards in between; Searle 1971, ch. 9). Simulated coverage is 90 to 98 %, less where
    few trials pass and tasks are partly certain, partly chance.

    ``None`` where no task has two trials, or all rewards are equal. No interval has a share over fewer than
    three tasks, nor one of rewards in between whose trials all agree within their tasks.
    """
    correlation = components(tasks).correlation if len(tasks) > 1 else None
    if correlation is None:
        return None, None
    share = 1 - correlation
    whole = all(reward in (0, 1) for task in tasks for reward in task)
    if len(tasks) < 3 or (not whole and share == 0):
        return share, None
    model = _likelihood(tasks, level) if whole else _f_interval(tasks, level)
    drawn = _bootstrap(tasks, seed, level)
    low, high = min(share, 1 - model[1], 1 - drawn[1]), max(share, 1 - model[0], 1 - drawn[0])
    return share, Interval(max(low, 0.0), min(high, 1.0), level)


def _bootstrap(tasks: TaskRewards, seed: int, level: float) -> tuple[float, float]:
    """Percentile interval of the correlation over drawn tasks; all of [0, 1] where most have no variance."""
    import numpy as np

    sizes, sums = (np.array([f(task) for task in tasks], dtype=float) for f in (len, math.fsum))
    squares = np.array([math.fsum(reward * reward for reward in task) for task in tasks])
    drawn = np.random.default_rng(seed).integers(0, len(tasks), size=(_DRAWS, len(tasks)))
    n, s, q = sizes[drawn], sums[drawn], squares[drawn]
    total, groups = n.sum(axis=1), len(tasks) - 1
    explained = (s * s / n).sum(axis=1)
    freedom = total - len(tasks)
    with np.errstate(divide="ignore", invalid="ignore"):
        within = np.maximum((q.sum(axis=1) - explained) / freedom, 0.0)
        typical = (total - (n * n).sum(axis=1) / total) / groups
        between = (explained - s.sum(axis=1) ** 2 / total) / groups
        between = np.maximum((between - within) / typical, 0.0)
        found = between / (between + within)
    known = found[np.isfinite(found)]
    if 2 * len(known) < _DRAWS:
        return 0.0, 1.0
    low, high = np.quantile(known, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def _f_interval(tasks: TaskRewards, level: float) -> tuple[float, float]:
    """Normal theory's interval of the correlation, at the typical number of trials."""
    found = components(tasks)
    assert found.within
    sizes = [len(task) for task in tasks]
    total, groups = sum(sizes), len(sizes) - 1
    typical = (total - sum(n * n for n in sizes) / total) / groups
    ratio = (typical * found.between + found.within) / found.within
    tails = ((1 + level) / 2, (1 - level) / 2)
    ends = (ratio / f_quantile(tail, groups, total - len(sizes)) for tail in tails)
    low, high = (max(0.0, (end - 1) / (end - 1 + typical)) for end in ends)
    return low, high


def _likelihood(tasks: TaskRewards, level: float) -> tuple[float, float]:
    """Correlations whose best likelihood over all rates is within the chi-squared bound of the best."""
    import numpy as np

    counts = Counter((len(task), round(math.fsum(task))) for task in tasks)
    surface = sum(times * _surface(*count) for count, times in sorted(counts.items()))
    profile = np.max(surface, axis=1)
    inside = np.flatnonzero(profile >= profile.max() - two_sided(level) ** 2 / 2)
    grid = _correlations()
    low, high = max(inside[0] - 1, 0), min(inside[-1] + 1, len(grid) - 1)
    return float(grid[low]), float(grid[high])


def _correlations() -> Array:
    import numpy as np

    return np.linspace(0.0, 1.0, _CORRELATIONS)


@lru_cache(maxsize=256)
def _surface(trials: int, passed: int) -> Array:
    """Log likelihood of one task, by correlation (rows, 0 to 1) and rate (columns), but for a constant."""
    import numpy as np

    rates = (np.arange(_RATES) + 0.5) / _RATES
    failed = trials - passed
    found = np.full((_CORRELATIONS, _RATES), -np.inf)
    found[0] = passed * np.log(rates) + failed * np.log1p(-rates)
    if not passed or not failed:
        found[-1] = np.log(rates) if passed else np.log1p(-rates)
    weight = (1 / _correlations()[1:-1] - 1)[:, None]
    a, b = weight * rates, weight * (1 - rates)
    found[1:-1] = log_gamma(passed + a) + log_gamma(failed + b) - log_gamma(trials + weight)
    found[1:-1] += log_gamma(weight) - log_gamma(a) - log_gamma(b)
    return found
