"""Are two arms the same within a margin that was stated beforehand?

No significant difference is no evidence of sameness. Here sameness is the finding: two one-sided
tests (Schuirmann 1987) by inversion of the clustered score interval, so that test and interval
never contradict each other.
"""

from __future__ import annotations

from dataclasses import dataclass

from workbench.stats.contrast import Joint
from workbench.stats.interval import Interval
from workbench.stats.proportion import TaskRewards

_STEPS = 40
_LEAST = 1e-6


@dataclass(frozen=True, slots=True)
class Equivalence:
    """First arm minus second against a margin.

    Attributes:
        margin: in reward units, above 0.
        interval: of the difference at level 1 - 2 alpha; equivalent when inside (-margin, margin).
        p_equivalent: of "they differ by the margin or more".
        p_not_worse: of "the first is worse by the margin or more" (non-inferiority).
    """

    estimate: float
    margin: float
    interval: Interval
    p_equivalent: float
    p_not_worse: float
    tasks: int


def equivalence(first: TaskRewards, second: TaskRewards, margin: float, alpha: float = 0.05) -> Equivalence:
    """Test sameness within `margin`, on the same tasks (at least two).

    Raises:
        ValueError: `margin` is not above 0, fewer than two tasks, or different tasks.
    """
    if not margin > 0:
        raise ValueError("the margin must be above 0")
    estimate, interval = Joint.of([first, second], 1 - 2 * alpha).contrast([1, -1])
    below = _tail(first, second, -margin) if estimate > -margin else 1.0
    above = _tail(first, second, margin) if estimate < margin else 1.0
    return Equivalence(estimate, margin, interval, max(below, above), below, len(first))


def _tail(first: TaskRewards, second: TaskRewards, bound: float) -> float:
    """The smallest one-sided alpha at which the interval still excludes `bound`; at most 0.5."""
    low, high = _LEAST, 0.5 - _LEAST

    def excludes(alpha: float) -> bool:
        _, interval = Joint.of([first, second], 1 - 2 * alpha).contrast([1, -1])
        return bound not in interval

    if excludes(low):
        return low
    if not excludes(high):
        return 0.5
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if excludes(middle) else (middle, high)
    return high
