"""Recall@K: what share of the gold skills was found?"""

from __future__ import annotations

from workbench.metrics.metric import Judged, Metric, MetricAt


class Recall(MetricAt):
    """The share of gold skills among the first K."""

    family = "Recall"
    definition = "|gold in the first K| / |gold| (SkillRouter, appendix A)"

    def value(self, judged: Judged) -> float:
        """In [0, 1]."""
        return len(judged.gold.intersection(judged.ranking[: self.depth])) / len(judged.gold)


METRICS: tuple[Metric, ...] = (Recall(1), Recall(5), Recall(10), Recall(20), Recall(50))
