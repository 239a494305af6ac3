"""Precision@K: what share of the top is gold?"""

from __future__ import annotations

from workbench.metrics.metric import Judged, Metric, MetricAt


class Precision(MetricAt):
    """The share of gold among the first K places; places left empty count as misses."""

    family = "Precision"
    definition = "|gold in the first K| / K (SkillRouter's scorer)"

    def value(self, judged: Judged) -> float:
        """In [0, 1]; at most |gold| / K."""
        return len(judged.gold.intersection(judged.ranking[: self.depth])) / self.depth


METRICS: tuple[Metric, ...] = (Precision(3),)
