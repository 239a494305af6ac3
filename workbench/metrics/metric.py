"""The metric protocol: a ranked list and gold -> a number, with its definition beside it."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol


@dataclass(frozen=True)
class Judged:
    """One query's ranking with its judgements.

    Attributes:
        ranking: ids, best first, no id twice (use `dedupe`).
        gold: ids that count for hit, recall and coverage (already intersected with the pool).
        grades: id -> gain > 0 for graded metrics; every gold id has one.
    """

    ranking: tuple[str, ...]
    gold: frozenset[str]
    grades: Mapping[str, float]


class Metric(Protocol):
    """A metric of one query.

    Each module in ``workbench/metrics/`` that exports ``METRICS: tuple[Metric, ...]`` adds its
    metrics. All are higher-is-better, in [0, 1], without unit; undefined is NaN: without gold, or
    where the definition says so.
    """

    @property
    def name(self) -> str:
        """E.g. ``nDCG@10``."""

    @property
    def definition(self) -> str:
        """The formula and its source in one line."""

    @property
    def depth(self) -> int | None:
        """Number of leading ids it looks at; ``None`` where that is the number of gold skills."""

    def __call__(self, judged: Judged) -> float:
        """The value for one query."""


class MetricAt(ABC):
    """A metric that looks at the first `depth` ids: what the families in this folder share.

    A family sets `family` (its name before the ``@``) and `definition`, and gives `value`.
    """

    family: ClassVar[str]
    definition: ClassVar[str]

    def __init__(self, depth: int) -> None:
        self.depth = depth

    @property
    def name(self) -> str:
        """``<family>@<depth>``."""
        return f"{self.family}@{self.depth}"

    def __call__(self, judged: Judged) -> float:
        """The value for one query; NaN without gold."""
        return self.value(judged) if judged.gold else math.nan

    @abstractmethod
    def value(self, judged: Judged) -> float:
        """The value for one query that has gold."""


def dedupe(ids: Sequence[str]) -> tuple[str, ...]:
    """`ids` with later repetitions dropped: a ranking must not score a skill twice."""
    return tuple(dict.fromkeys(ids))
