"""How much of the spread lies between tasks, and how much between trials of one task?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from workbench.stats.proportion import TaskRewards, task_means


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
