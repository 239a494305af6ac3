"""Scores of whole runs by the rules of the SkillRouter benchmark, without the faults of its scorer.

Kept, because numbers must be comparable: gold is what the entry names, intersected with the
pool; tasks whose gold is generic are not counted; nDCG uses the graded relevance of everything
that the pool holds; a task is single or multi by its gold before the intersection.

Not kept: there a task missing from the predictions leaves the mean (here it counts 0), and an
id repeated in a ranking gains each time (here once).
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from statistics import fmean
from typing import Literal

from workbench.core.plugins import plugin_names
from workbench.metrics.metric import Judged, Metric, dedupe

Stratum = Literal["single", "multi"]
STRATA: tuple[Literal["all", "single", "multi"], ...] = ("all", "single", "multi")


@dataclass(frozen=True)
class Relevance:
    """What is known about one task's skills, whatever the pool.

    Attributes:
        gold: ids that the task needs, as its authors list them.
        grades: id -> gain for graded metrics, gold or not; empty means gold 1, all else 0.
        counted: false for tasks that take no part in scores (SkillRouter's ``generic_only``).
    """

    gold: tuple[str, ...]
    grades: Mapping[str, float] = field(default_factory=dict)
    counted: bool = True

    @property
    def stratum(self) -> Stratum:
        """``single`` for exactly one gold skill, in the pool or not."""
        return "single" if len(set(self.gold)) == 1 else "multi"


@dataclass(frozen=True)
class QueryScore:
    """The scores of one counted query: metric name -> value, NaN where it is not defined."""

    query: str
    stratum: Stratum
    values: Mapping[str, float]


@dataclass(frozen=True)
class RunScores:
    """The scores of a run over a task list; every task is in exactly one of three places.

    Attributes:
        queries: counted tasks, in the order of the task list.
        not_in_pool: tasks none of whose gold is in the pool: no router could find it.
        not_counted: tasks that the benchmark leaves out.
        missing: counted tasks without a ranking; they are in `queries`, with 0.
    """

    queries: tuple[QueryScore, ...]
    not_in_pool: tuple[str, ...] = ()
    not_counted: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


@dataclass(frozen=True)
class Summary:
    """Means over `count` queries: metric name -> mean over those for which it is defined, else NaN."""

    count: int
    means: Mapping[str, float]


@lru_cache(maxsize=1)
def metrics() -> tuple[Metric, ...]:
    """Every metric of every module in this folder that exports ``METRICS``, by file name."""
    package = __package__ or "workbench.metrics"
    found: list[Metric] = []
    for name in plugin_names(package):
        found.extend(getattr(importlib.import_module(f"{package}.{name}"), "METRICS", ()))
    return tuple(found)


def judge(ranking: Sequence[str], relevance: Relevance, pool: Container[str]) -> Judged:
    """One ranking with the judgements that hold for `pool`; repeated ids keep their best place."""
    gold = frozenset(skill for skill in relevance.gold if skill in pool)
    graded = {skill: float(grade) for skill, grade in relevance.grades.items() if grade > 0 and skill in pool}
    return Judged(dedupe(ranking), gold, dict.fromkeys(sorted(gold), 1.0) | graded)


def score(judged: Judged) -> dict[str, float]:
    """Every metric of one query: name -> value; all NaN without gold."""
    return {metric.name: metric(judged) for metric in metrics()}


def score_run(
    rankings: Mapping[str, Sequence[str]], tasks: Mapping[str, Relevance], pool: Container[str]
) -> RunScores:
    """Score rankings (task -> ids, best first) against a task list; the list sets the denominator."""
    queries: list[QueryScore] = []
    not_in_pool, not_counted, missing = [], [], []
    for task, relevance in tasks.items():
        judged = judge(rankings.get(task, ()), relevance, pool)
        if not relevance.counted or not relevance.gold:
            not_counted.append(task)
        elif not judged.gold:
            not_in_pool.append(task)
        else:
            queries.append(QueryScore(task, relevance.stratum, score(judged)))
            if task not in rankings:
                missing.append(task)
    return RunScores(tuple(queries), tuple(not_in_pool), tuple(not_counted), tuple(missing))


def aggregate(queries: Iterable[QueryScore]) -> dict[str, Summary]:
    """Means over queries for ``all``, ``single`` and ``multi``, each with its count."""
    listed = list(queries)
    return {stratum: summarise([q for q in listed if stratum in ("all", q.stratum)]) for stratum in STRATA}


def summarise(queries: Sequence[QueryScore]) -> Summary:
    """Means over some queries."""
    names = [metric.name for metric in metrics()]
    return Summary(len(queries), {name: mean_defined(q.values[name] for q in queries) for name in names})


def mean_defined(values: Iterable[float]) -> float:
    """The mean of the values that are not NaN; NaN if there is none."""
    defined = [value for value in values if not math.isnan(value)]
    return fmean(defined) if defined else math.nan


def judged_share(judged: Judged, k: int) -> float:
    """The share of the first `k` places held by a skill with a grade; what is not judged counts as wrong."""
    return sum(skill in judged.grades for skill in judged.ranking[:k]) / k
