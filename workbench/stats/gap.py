"""How much of what the gold skills bring does a router bring?"""

from __future__ import annotations

from dataclasses import dataclass

from workbench.stats.contrast import Joint
from workbench.stats.interval import LEVEL, Interval
from workbench.stats.paired import task_differences
from workbench.stats.proportion import TaskRewards
from workbench.stats.score import PairedScore

_FURTHEST = 1e6


@dataclass(frozen=True, slots=True)
class GapShare:
    """(routed - none) / (gold - none): 0 is no better than no skills, 1 as good as gold.

    Attributes:
        estimate: ``None`` when gold is not above none in the sample.
        interval: ``None`` when the data allow a gap of zero, for then no finite interval covers.
        reason: why something is missing, else ``None``.
        gap: gold minus none, with `gap_interval` (`score.PairedScore`).
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
    with the clustered score interval of that contrast in place of the t interval, so that it
    has width when all tasks agree. It may leave [0, 1]: a router can harm, or beat gold.

    Raises:
        ValueError: fewer than two tasks, or arms of different length.
    """
    joint = Joint.of([routed, none, gold], level)
    gap, apart = joint.contrast([0, -1, 1])
    gained, _ = joint.contrast([1, -1, 0])
    tasks, trials = len(routed), min(sum(map(len, gold)), sum(map(len, none)))
    gap_interval = PairedScore.of(task_differences(gold, none), trials).interval(level)
    if gap <= 0:
        reason = "gold skills did no better than no skills"
        return GapShare(None, None, reason, gap, gap_interval, tasks)
    estimate = gained / gap
    if min(apart.low, gap_interval.low) <= 0:
        reason = "the gold gap itself may be zero"
        return GapShare(estimate, None, reason, gap, gap_interval, tasks)
    interval = Interval(_edge(joint, estimate, -1), _edge(joint, estimate, 1), level)
    return GapShare(estimate, interval, None, gap, gap_interval, tasks)


def _edge(joint: Joint, estimate: float, direction: int) -> float:
    """The last share, going from the estimate in one direction, whose contrast may be zero."""
    inside, step = estimate, 0.25
    while _allows(joint, estimate + direction * step) and step < _FURTHEST:
        inside, step = estimate + direction * step, step * 2
    outside = estimate + direction * step
    for _ in range(50):
        middle = (inside + outside) / 2
        inside, outside = (middle, outside) if _allows(joint, middle) else (inside, middle)
    return inside


def _allows(joint: Joint, share: float) -> bool:
    _, interval = joint.contrast([1, -(1 - share), -share])
    return 0 in interval
