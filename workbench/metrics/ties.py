"""How much of a score is owed to the order of equal scores?

A ranking is totally ordered, but where scores are equal that order is a convention (by id).
The bounds are the worst and the best value over every order of equal scores.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from workbench.core.types import RankedSkill
from workbench.metrics.metric import Judged
from workbench.metrics.scoring import score


def tie_bounds(
    ranking: Sequence[RankedSkill], judge: Callable[[Sequence[str]], Judged]
) -> dict[str, tuple[float, float]]:
    """Metric name -> (lowest, highest) value over all orders of equal scores; undefined ones left out.

    Exact, for a metric looks at gold alone or at grades alone, and within a group of equals the
    extremes put all gold (or all high grades) last or first.

    Args:
        ranking: ids with scores, best first.
        judge: ids -> the judgements, as `scoring.judge` with its other arguments bound.
    """
    known = judge([entry.id for entry in ranking])

    def gold(skill: str) -> float:
        return float(skill in known.gold)

    def grade(skill: str) -> float:
        return known.grades.get(skill, 0.0)

    values = [
        score(judge(_reordered(ranking, worth, sign))) for worth in (gold, grade) for sign in (1.0, -1.0)
    ]
    defined = [name for name, value in values[0].items() if not math.isnan(value)]
    return {name: (min(v[name] for v in values), max(v[name] for v in values)) for name in defined}


def _reordered(ranking: Sequence[RankedSkill], worth: Callable[[str], float], sign: float) -> list[str]:
    ordered = sorted(ranking, key=lambda entry: (-entry.score, sign * worth(entry.id), entry.id))
    return [entry.id for entry in ordered]
