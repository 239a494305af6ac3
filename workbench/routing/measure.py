"""Routing measured alone: how good, how fast, and what the numbers hide."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from statistics import fmean

from workbench.core.types import Progress, Ranking, silent
from workbench.metrics.duplicates import merge, same_text_groups
from workbench.metrics.metric import Judged
from workbench.metrics.scoring import (
    QueryScore,
    Relevance,
    RunScores,
    judge,
    judged_share,
    metrics,
    score,
    score_run,
)
from workbench.metrics.ties import tie_bounds
from workbench.routing.load import RecipeRouter
from workbench.routing.router import Query
from workbench.routing.stage import SkillCollection

JUDGED_DEPTH = 10
_ENDLESS = 1 << 60


@dataclass(frozen=True)
class Routed:
    """What a router gave.

    Attributes:
        rankings: task -> ranking, in the order of the queries.
        seconds: per query, each routed alone.
        prepare_seconds: loading weights, building or opening indexes.
    """

    rankings: Mapping[str, Ranking]
    seconds: tuple[float, ...]
    prepare_seconds: float


@dataclass(frozen=True)
class Measured:
    """The scores of a run, and what must be known to read them.

    Attributes:
        scores: by the strict rules; NaN for what the length of the rankings does not let be measured.
        merged: the same queries with skills of equal body taken for one.
        bounds: metric -> lowest and highest mean over all orders of equal scores.
        judged: share of the first 10 places that hold a judged skill; NaN without queries.
        strangers: number of ranked ids that the pool does not have.
        beyond: metrics that look deeper than the rankings were asked to go, and so are not measured.
    """

    scores: RunScores
    merged: tuple[QueryScore, ...]
    bounds: Mapping[str, tuple[float, float]]
    judged: float
    strangers: int
    beyond: tuple[str, ...] = ()


def route_all(router: RecipeRouter, queries: Sequence[Query], k: int, progress: Progress = silent) -> Routed:
    """Prepare a router and give it one query after the other, with the time that each took."""
    start = time.perf_counter()
    router.prepare()
    prepare_seconds = time.perf_counter() - start
    rankings: dict[str, Ranking] = {}
    seconds = []
    for done, query in enumerate(queries, start=1):
        start = time.perf_counter()
        rankings[query.id] = router.route([query], k)[0]
        seconds.append(time.perf_counter() - start)
        progress("route", done, len(queries))
    return Routed(rankings, tuple(seconds), prepare_seconds)


def measure(
    rankings: Mapping[str, Ranking], tasks: Mapping[str, Relevance], pool: SkillCollection, k: int
) -> Measured:
    """Score rankings against a task list, which sets the denominators.

    Args:
        k: so many skills were asked for per query; what stands behind them is not known, unless
            the pool has no more.
    """
    known = frozenset(pool.ids())
    reach = k if k < len(known) else _ENDLESS
    ids = {task: [entry.id for entry in ranking] for task, ranking in rankings.items()}
    scores = score_run(ids, tasks, known)
    judged = {
        query.query: judge(ids.get(query.query, ()), tasks[query.query], known) for query in scores.queries
    }
    groups = _groups(judged.values(), pool, known)
    merged = [
        QueryScore(query.query, query.stratum, score(merge(judged[query.query], groups)))
        for query in scores.queries
    ]
    out_of_reach = {task: _out_of_reach(one, reach) for task, one in judged.items()}
    bounds = [
        {
            name: bound
            for name, bound in tie_bounds(
                rankings.get(task, ()), partial(judge, relevance=tasks[task], pool=known)
            ).items()
            if name not in out_of_reach[task]
        }
        for task in judged
    ]
    merged = [_without(query, out_of_reach[query.query]) for query in merged]
    scores = replace(
        scores, queries=tuple(_without(query, out_of_reach[query.query]) for query in scores.queries)
    )
    return Measured(
        scores=scores,
        merged=tuple(merged),
        bounds={
            name: (
                fmean(b[name][0] for b in bounds if name in b),
                fmean(b[name][1] for b in bounds if name in b),
            )
            for name in dict.fromkeys(name for bound in bounds for name in bound)
        },
        judged=fmean(judged_share(one, JUDGED_DEPTH) for one in judged.values())
        if judged and reach >= JUDGED_DEPTH
        else math.nan,
        strangers=sum(skill not in known for ranking in ids.values() for skill in ranking),
        beyond=beyond(reach),
    )


def beyond(k: int) -> tuple[str, ...]:
    """Metrics that look at more than the first `k` skills of every query."""
    return tuple(metric.name for metric in metrics() if metric.depth is not None and metric.depth > k)


def _out_of_reach(judged: Judged, k: int) -> frozenset[str]:
    """Metrics that look at more than `k` skills of a query; one without a depth looks at as many as gold."""
    return frozenset(
        metric.name
        for metric in metrics()
        if (len(judged.gold) if metric.depth is None else metric.depth) > k
    )


def _without(query: QueryScore, names: frozenset[str]) -> QueryScore:
    values = {name: math.nan if name in names else value for name, value in query.values.items()}
    return replace(query, values=values)


def _groups(judged: Iterable[Judged], pool: SkillCollection, known: frozenset[str]) -> dict[str, str]:
    """Groups of equal bodies among the skills that are ranked or judged; no others can matter."""
    concerned = {skill for one in judged for skill in (*one.ranking, *one.grades) if skill in known}
    return same_text_groups((skill.id, skill.body) for skill in pool.skills(concerned))
