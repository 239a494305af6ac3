"""Set-Compat: is the smallest list that could do exactly the right one?"""

from __future__ import annotations

import math

from workbench.metrics.metric import Judged, Metric


class SetCompat:
    """1 when the first |gold| places hold all gold skills and so nothing else."""

    name = "SetCompat"
    definition = "1 if all gold skills are among the first |gold|, else 0; needs two or more (R3-Skill, 6.1)"
    depth = None

    def __call__(self, judged: Judged) -> float:
        """0 or 1; NaN with fewer than two gold skills, where it would say what Hit@1 says."""
        if len(judged.gold) < 2:
            return math.nan
        return float(judged.gold.issubset(judged.ranking[: len(judged.gold)]))


METRICS: tuple[Metric, ...] = (SetCompat(),)
