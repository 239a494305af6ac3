"""Routing measured alone: how good, how fast, and what the numbers hide."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
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
    score,
    score_run,
)
from workbench.metrics.ties import tie_bounds
from workbench.routing.load import RecipeRouter
from workbench.routing.router import Query
from workbench.routing.stage import SkillCollection

JUDGED_DEPTH = 10


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
        scores: by the strict rules.
        merged: the same queries with skills of equal body taken for one.
        bounds: metric -> lowest and highest mean over all orders of equal scores.
        judged: share of the first 10 places that hold a judged skill; NaN without queries.
        strangers: number of ranked ids that the pool does not have.
    """

    scores: RunScores
    merged: tuple[QueryScore, ...]
    bounds: Mapping[str, tuple[float, float]]
    judged: float
    strangers: int


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
    rankings: Mapping[str, Ranking], tasks: Mapping[str, Relevance], pool: SkillCollection
) -> Measured:
    """Score rankings against a task list, which sets the denominators."""
    known = frozenset(pool.ids())
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
    bounds = [
        tie_bounds(rankings.get(task, ()), partial(judge, relevance=tasks[task], pool=known))
        for task in judged
    ]
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
        judged=fmean(judged_share(one, JUDGED_DEPTH) for one in judged.values()) if judged else float("nan"),
        strangers=sum(skill not in known for ranking in ids.values() for skill in ranking),
    )


def _groups(judged: Iterable[Judged], pool: SkillCollection, known: frozenset[str]) -> dict[str, str]:
    """Groups of equal bodies among the skills that are ranked or judged; no others can matter."""
    concerned = {skill for one in judged for skill in (*one.ranking, *one.grades) if skill in known}
    return same_text_groups((skill.id, skill.body) for skill in pool.skills(concerned))
