"""MRR@K: how far down is the first gold skill?"""

from __future__ import annotations

from workbench.metrics.metric import Judged, Metric, MetricAt


class ReciprocalRank(MetricAt):
    """The reciprocal rank of the first gold skill; its mean over queries is the MRR."""

    family = "MRR"
    definition = (
        "1 / rank of the first gold skill, 0 if it is not among the first K (SkillRouter, appendix A)"
    )

    def value(self, judged: Judged) -> float:
        """In [0, 1]."""
        for rank, skill in enumerate(judged.ranking[: self.depth], start=1):
            if skill in judged.gold:
                return 1.0 / rank
        return 0.0


METRICS: tuple[Metric, ...] = (ReciprocalRank(10),)
