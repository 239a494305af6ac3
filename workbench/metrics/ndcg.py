"""nDCG@K: is the better skill above the lesser one?"""

from __future__ import annotations

import math
from collections.abc import Iterable

from workbench.metrics.metric import Judged, Metric, MetricAt


class NDCG(MetricAt):
    """Graded gain, discounted by rank, over the best that the judgements allow.

    The ideal list holds every judged skill of the pool, not only the gold ones and not only those
    retrieved; a ranking of exactly the gold skills can therefore stay below 1.
    """

    family = "nDCG"
    definition = (
        "sum of grade / log2(rank + 1) over the first K, divided by that sum for the judged skills "
        "sorted by grade: linear gain (SkillRouter's scorer)"
    )

    def value(self, judged: Judged) -> float:
        """In [0, 1]."""
        gains = (judged.grades.get(skill, 0.0) for skill in judged.ranking[: self.depth])
        ideal = sorted(judged.grades.values(), reverse=True)[: self.depth]
        return _discounted(gains) / _discounted(ideal)


def _discounted(gains: Iterable[float]) -> float:
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, start=1))


METRICS: tuple[Metric, ...] = (NDCG(1), NDCG(3), NDCG(5), NDCG(10))
