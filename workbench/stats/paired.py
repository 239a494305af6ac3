"""The paired difference between two arms that ran the same tasks.

The unit of analysis is the task: trials are averaged within it, tasks are what varies. Which
interval to report was chosen by simulation (`bench/calibration.py`, 264 designs of 20 to 87 tasks): the
clustered score interval covers 97.6 % on average and 94.8 % at worst, the t interval 89.6 %, the
bootstrap 87.2 %. That of Newcombe's kind (MOVER) is wider, and yet too narrow where few tasks differ,
all in one direction. Where rewards are fractional it would take differences to vary as much as those of
0/1 rewards, so that small ones were never found: there the sign-flip test is inverted
(`inversion.fractional_interval`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.stats.interval import LEVEL, Interval
from workbench.stats.inversion import fractional_interval
from workbench.stats.permutation import sign_flip
from workbench.stats.proportion import TaskRewards, informative_trials, task_means
from workbench.stats.quantiles import two_sided
from workbench.stats.score import PairedScore

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True, slots=True)
class Difference:
    """First arm minus second, in [-1, 1].

    Attributes:
        interval: clustered score interval (`score.PairedScore`), of fractional rewards
            `inversion.fractional_interval`; ``None`` with one task.
        standard_error: closed form, clustered by task; ``None`` with one task.
        p_value: `permutation.sign_flip`.
        tasks: number of tasks compared.
        better, worse: tasks on which the first arm's mean is higher, lower.
    """

    estimate: float
    interval: Interval | None
    standard_error: float | None
    p_value: float
    tasks: int
    better: int
    worse: int


def difference(
    first: TaskRewards, second: TaskRewards, rng: np.random.Generator | int, level: float = LEVEL
) -> Difference:
    """Compare two arms; `first[i]` and `second[i]` are the rewards of task i, each in [0, 1].

    Raises:
        ValueError: no tasks, different tasks, a task without trials, or a reward outside [0, 1].
    """
    import numpy as np

    values = task_differences(first, second)
    alone = len(values) < 2
    rng = np.random.default_rng(rng)
    p_value = sign_flip(values, rng)
    trials = min(informative_trials(first), informative_trials(second))
    if alone:
        interval = None
    elif is_binary(first, second):
        interval = PairedScore.of(values, trials).interval(level)
    else:
        interval = fractional_interval(values, trials, p_value, rng, level)
    return Difference(
        estimate=math.fsum(values) / len(values),
        interval=interval,
        standard_error=None if alone else clustered_error(values),
        p_value=p_value,
        tasks=len(values),
        better=sum(value > 1e-12 for value in values),
        worse=sum(value < -1e-12 for value in values),
    )


def is_binary(*arms: TaskRewards) -> bool:
    """Whether every reward is 0 or 1."""
    return all(reward in (0, 1) for arm in arms for task in arm for reward in task)


def task_differences(first: TaskRewards, second: TaskRewards) -> list[float]:
    """Difference of mean rewards, per task."""
    if len(first) != len(second):
        raise ValueError("paired arms need the same tasks")
    return [a - b for a, b in zip(task_means(first), task_means(second), strict=True)]


def clustered_error(values: Sequence[float]) -> float:
    """Standard error of a mean over tasks: sample deviation / sqrt(tasks); at least two values.

    For equal numbers of trials it equals the cluster-robust error of the trial-level mean with
    the G / (G - 1) correction.
    """
    mean = math.fsum(values) / len(values)
    return math.sqrt(math.fsum((v - mean) ** 2 for v in values) / (len(values) - 1) / len(values))


def t_interval(values: Sequence[float], level: float = LEVEL) -> Interval:
    """Mean of task-level values plus and minus Student's t times the clustered error."""
    mean = math.fsum(values) / len(values)
    reach = two_sided(level, len(values) - 1) * clustered_error(values)
    return Interval(mean - reach, mean + reach, level)
