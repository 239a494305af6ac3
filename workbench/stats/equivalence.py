"""Are two arms the same within a margin that was stated beforehand?

No significant difference is no evidence of sameness. Here sameness is the finding: two one-sided
tests (Schuirmann 1987), each the clustered score test, so that test and interval never contradict
each other. With one trial a task, differences come in few steps, and the uncorrected test said
"the same" of arms at the margin in up to 5.8 % of simulations; so half a pair is conceded.
"""

from __future__ import annotations

from dataclasses import dataclass

from workbench.stats.interval import Interval
from workbench.stats.paired import task_differences
from workbench.stats.proportion import TaskRewards, informative_trials
from workbench.stats.score import PairedScore


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
    trials = min(informative_trials(first), informative_trials(second))
    score = PairedScore.of(task_differences(first, second), trials, correction=0.5)
    worse, better = score.p_above(-margin), score.p_below(margin)
    return Equivalence(
        score.estimate, margin, score.interval(1 - 2 * alpha), max(worse, better), worse, len(first)
    )
