"""FullCoverage@K: was everything found that the task needs?"""

from __future__ import annotations

from workbench.metrics.metric import Judged, Metric, MetricAt


class FullCoverage(MetricAt):
    """1 when every gold skill is among the first K. Out of reach where K < |gold|."""

    family = "FullCoverage"
    definition = (
        "1 if all gold skills are among the first K, else 0 (SkillRouter, appendix A; R3-Skill: Comp@K)"
    )

    def value(self, judged: Judged) -> float:
        """0 or 1."""
        return float(judged.gold.issubset(judged.ranking[: self.depth]))


METRICS: tuple[Metric, ...] = (FullCoverage(3), FullCoverage(5), FullCoverage(10))
