"""MAP@K: how high do the gold skills stand, all of them?"""

from __future__ import annotations

from workbench.metrics.metric import Judged, Metric, MetricAt


class AveragePrecision(MetricAt):
    """Precision at the place of each gold skill, averaged over all gold; its mean is the MAP."""

    family = "MAP"
    definition = (
        "sum over gold in the first K of (gold so far / rank), divided by |gold| (trec_eval's map_cut)"
    )

    def value(self, judged: Judged) -> float:
        """In [0, 1]; a gold skill that is not found adds 0."""
        found = total = 0.0
        for rank, skill in enumerate(judged.ranking[: self.depth], start=1):
            if skill in judged.gold:
                found += 1
                total += found / rank
        return total / len(judged.gold)


METRICS: tuple[Metric, ...] = (AveragePrecision(50),)
