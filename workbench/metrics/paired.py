"""Two rankings of the same queries: what each query gained, and on how many."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from workbench.metrics.scoring import QueryScore

_SAME = 1e-12


@dataclass(frozen=True)
class Paired:
    """One metric, second ranking minus first.

    Attributes:
        differences: per query for which the metric is defined, in the order of the queries.
    """

    metric: str
    differences: tuple[float, ...]

    @property
    def better(self) -> int:
        """Queries on which the second is better."""
        return sum(value > _SAME for value in self.differences)

    @property
    def worse(self) -> int:
        """Queries on which the second is worse."""
        return sum(value < -_SAME for value in self.differences)


def paired(first: Sequence[QueryScore], second: Sequence[QueryScore]) -> dict[str, Paired]:
    """Metric name -> paired differences, second minus first.

    Raises:
        ValueError: they are not about the same queries.
    """
    before = {score.query: score.values for score in first}
    if [score.query for score in second] != list(before):
        raise ValueError("a paired comparison needs the same queries in the same order")
    names = list(second[0].values) if second else []
    found = {}
    for name in names:
        values = (score.values[name] - before[score.query][name] for score in second)
        found[name] = Paired(name, tuple(value for value in values if not math.isnan(value)))
    return found
