"""How much of what the gold skills bring does a router bring?"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

from workbench.stats.contrast import Joint
from workbench.stats.interval import LEVEL, Interval
from workbench.stats.paired import is_binary, task_differences
from workbench.stats.proportion import TaskRewards, informative_trials, task_means
from workbench.stats.score import PairedScore

Contrast = Callable[[Sequence[float]], tuple[float, Interval]]
"""Weights of routed, none and gold -> estimate and interval of the weighted sum of their rates."""

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
    with the clustered score interval of that contrast (`contrast.Joint`; of fractional rewards the paired
    score on their scale) in place of the t interval, so that it has width when all tasks agree. It may
    leave [0, 1]: a router can harm, or beat gold.

    Raises:
        ValueError: fewer than two tasks, or arms of different length.
    """
    contrast = _graded(routed, none, gold, level)
    if is_binary(routed, none, gold):
        contrast = Joint.of([routed, none, gold], level).contrast
    gap, apart = contrast([0, -1, 1])
    gained, _ = contrast([1, -1, 0])
    tasks, gap_interval = len(routed), _gap_interval(none, gold, apart)
    if gap <= 0:
        reason = "gold skills did no better than no skills"
        return GapShare(None, None, reason, gap, gap_interval, tasks)
    estimate = gained / gap
    if min(apart.low, gap_interval.low) <= 0:
        reason = "the gold gap itself may be zero"
        return GapShare(estimate, None, reason, gap, gap_interval, tasks)
    interval = Interval(_edge(contrast, estimate, -1), _edge(contrast, estimate, 1), level)
    return GapShare(estimate, interval, None, gap, gap_interval, tasks)


def _gap_interval(none: TaskRewards, gold: TaskRewards, apart: Interval) -> Interval:
    if not is_binary(none, gold):
        return apart
    trials = min(sum(map(len, gold)), sum(map(len, none)))
    return PairedScore.of(task_differences(gold, none), trials).interval(apart.level)


def _graded(routed: TaskRewards, none: TaskRewards, gold: TaskRewards, level: float) -> Contrast:
    """Contrasts of fractional rewards, by the paired score on the scale of the largest a task might have.

    That is not the largest seen: where every task is routed as well as with gold, another may be missed.
    """
    arms = [task_means(arm) for arm in (routed, none, gold)]
    if len({len(arm) for arm in arms}) != 1 or len(routed) < 2:
        raise ValueError("arms need the same tasks, at least two")
    trials = min(map(informative_trials, (routed, none, gold)))
    largest = max(abs(x - y) for task in zip(*arms, strict=True) for x, y in combinations(task, 2))

    def contrast(weights: Sequence[float]) -> tuple[float, Interval]:
        tasks = zip(*arms, strict=True)
        values = [math.fsum(w * x for w, x in zip(weights, task, strict=True)) for task in tasks]
        score, scale = PairedScore.scaled(values, trials, largest * max(map(abs, weights)))
        found = score.interval(level)
        low, high = (math.fsum(kind(w, 0.0) for w in weights) for kind in (min, max))
        ends = max(scale * found.low, low), min(scale * found.high, high)
        return math.fsum(values) / len(values), Interval(*ends, level)

    return contrast


def _edge(contrast: Contrast, estimate: float, direction: int) -> float:
    """The last share, going from the estimate in one direction, whose contrast may be zero."""
    inside, step = estimate, 0.25
    while _allows(contrast, estimate + direction * step) and step < _FURTHEST:
        inside, step = estimate + direction * step, step * 2
    outside = estimate + direction * step
    for _ in range(50):
        middle = (inside + outside) / 2
        inside, outside = (middle, outside) if _allows(contrast, middle) else (inside, middle)
    return inside


def _allows(contrast: Contrast, share: float) -> bool:
    _, interval = contrast([1, -(1 - share), -share])
    return 0 in interval
