"""How much of what the gold skills bring does a router bring?"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from workbench.stats.interval import LEVEL, Interval
from workbench.stats.paired import task_differences
from workbench.stats.proportion import TaskRewards, task_means
from workbench.stats.quantiles import two_sided
from workbench.stats.score import PairedScore

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

_FURTHEST = 1e6


@dataclass(frozen=True, slots=True)
class GapShare:
    """(routed - none) / (gold - none): 0 is no better than no skills, 1 as good as gold.

    Attributes:
        estimate: ``None`` when gold is not above none in the sample.
        interval: ``None`` when the data allow a gap of zero, for then no finite interval covers.
        reason: why something is missing, else ``None``.
        gap: gold minus none, with `gap_interval`.
    """

    estimate: float | None
    interval: Interval | None
    reason: str | None
    gap: float
    gap_interval: Interval
    tasks: int


def gap_share(routed: TaskRewards, none: TaskRewards, gold: TaskRewards, level: float = LEVEL) -> GapShare:
    """Share of the gold gap closed, over tasks that ran in all three arms (at least two).

    The interval is Fieller's: all shares s for which routed - (1 - s) none - s gold could be zero,
    by the clustered score test of that difference in place of the t test, so that it
    has width when all tasks agree. It may leave [0, 1]: a router can harm, or beat gold.

    Raises:
        ValueError: fewer than two tasks, or arms of different length.
    """
    import numpy as np

    arms = [np.asarray(task_means(arm)) for arm in (routed, none, gold)]
    trials = min(sum(map(len, arm)) for arm in (routed, none, gold))
    allows = partial(_allows, arms, trials, level)
    apart = PairedScore.of(task_differences(gold, none), trials)
    gap, gap_interval, tasks = apart.estimate, apart.interval(level), len(routed)
    if gap <= 0:
        reason = "gold skills did no better than no skills"
        return GapShare(None, None, reason, gap, gap_interval, tasks)
    estimate = math.fsum(task_differences(routed, none)) / tasks / gap
    if gap_interval.low <= 0:
        reason = "the gold gap itself may be zero"
        return GapShare(estimate, None, reason, gap, gap_interval, tasks)
    interval = Interval(_edge(allows, estimate, -1), _edge(allows, estimate, 1), level)
    return GapShare(estimate, interval, None, gap, gap_interval, tasks)


def _edge(allows: Callable[[float], bool], estimate: float, direction: int) -> float:
    """The last share, going from the estimate in one direction, that may be the true one."""
    inside, step = estimate, 0.25
    while allows(estimate + direction * step) and step < _FURTHEST:
        inside, step = estimate + direction * step, step * 2
    outside = estimate + direction * step
    for _ in range(30):
        middle = (inside + outside) / 2
        inside, outside = (middle, outside) if allows(middle) else (inside, middle)
    return inside


def _allows(arms: Sequence[Array], trials: int, level: float, share: float) -> bool:
    """Whether routed - (1 - share) none - share gold, in units that keep it in [-1, 1], may be 0.

    A trial moves it by less than 1, so the bound on what trials are worth is raised in proportion.
    """
    routed, none, gold = arms
    values = (routed - (1 - share) * none - share * gold) / max(1.0, abs(share), abs(1 - share))
    squares = float(values @ values)
    worth = trials * float(abs(values).sum()) / squares if squares else trials
    return abs(PairedScore.of(values, worth).deviate(0.0)) <= two_sided(level, len(values) - 1)
