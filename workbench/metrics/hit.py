"""Hit@K: is any gold skill at the top?"""

from __future__ import annotations

from workbench.metrics.metric import Judged, Metric, MetricAt


class Hit(MetricAt):
    """1 when a gold skill is among the first K. With several gold skills, any one will do."""

    family = "Hit"
    definition = "1 if any gold skill is among the first K, else 0 (SkillRouter, section 2)"

    def value(self, judged: Judged) -> float:
        """0 or 1."""
        return float(any(skill in judged.gold for skill in judged.ranking[: self.depth]))


METRICS: tuple[Metric, ...] = (Hit(1), Hit(3), Hit(5), Hit(10))
