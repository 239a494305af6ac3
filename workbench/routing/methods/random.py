"""The control without information: skills drawn by lot."""

from __future__ import annotations

import random
from collections.abc import Sequence

from workbench.core.content import Content
from workbench.core.digest import digest_parts
from workbench.core.types import RankedSkill, Ranking
from workbench.routing.router import Query
from workbench.routing.stage import RouteContext, Stage, candidate_ids

REVISION = 1
IS_CONTROL = True


class Config(Content):
    """No options; the seed is the run's."""


class Lot(Stage):
    """A shuffle per query, from the run's seed and the query's id.

    The text is not looked at, so that a query without words draws too. Scores fall from 1 by
    equal steps: they carry the order and nothing else.
    """

    def __init__(self, context: RouteContext) -> None:
        self._pool = context.pool
        self._seed = context.seed

    @property
    def identity(self) -> str:
        """The seed."""
        return str(self._seed)

    def run(self, queries: Sequence[Query], candidates: Sequence[Ranking] | None, k: int) -> list[Ranking]:
        """`k` skills per query, each order equally likely."""
        rankings = []
        for place, query in enumerate(queries):
            allowed = candidate_ids(candidates, place)
            ids = self._pool.ids() if allowed is None else sorted(allowed)
            drawn = _draw(ids, k, random.Random(digest_parts([str(self._seed), query.id])))
            rankings.append(tuple(RankedSkill(skill, 1 - at / len(ids)) for at, skill in enumerate(drawn)))
        return rankings


def _draw(ids: Sequence[str], k: int, rng: random.Random) -> list[str]:
    """The first `k` of a shuffle of `ids`, without shuffling the rest (Fisher and Yates, sparse)."""
    moved: dict[int, int] = {}
    drawn = []
    for at in range(min(k, len(ids))):
        other = rng.randrange(at, len(ids))
        drawn.append(ids[moved.get(other, other)])
        moved[other] = moved.get(at, at)
    return drawn


def build(config: Config, context: RouteContext) -> Stage:
    """The stage over the context's pool, with the context's seed."""
    return Lot(context)
