"""A controlled condition: the gold skills among hard negatives, the most similar wrong skills of the pool."""

from __future__ import annotations

import random
from collections.abc import Sequence

from pydantic import Field as Option

from workbench.core.content import Content
from workbench.core.digest import digest_parts
from workbench.core.types import RankedSkill, Ranking
from workbench.routing.router import Query
from workbench.routing.stage import RouteContext, Stage

REVISION = 1
IS_CONTROL = True
USES_GOLD = True
NEEDS_CANDIDATES = True
EXAMPLE = {"count": 3}


class Config(Content):
    """Options of the stage.

    Attributes:
        count: wrong skills beside the gold ones.
        order: ``shuffled`` by the run's seed and the query's id, so that the place tells nothing;
            or ``gold_first``.
    """

    count: int = Option(4, ge=0)
    order: str = Option("shuffled", pattern="^(shuffled|gold_first)$")


class Distractors(Stage):
    """All gold skills of the pool and the first `count` candidates that are not gold."""

    def __init__(self, config: Config, context: RouteContext) -> None:
        self._config = config
        self._pool = context.pool
        self._seed = context.seed

    @property
    def identity(self) -> str:
        """The seed."""
        return str(self._seed)

    def depth(self, k: int) -> int:
        """Deep enough that gold among the candidates leaves `count` others; the same for every `k`."""
        return self._config.count + 50

    def run(self, queries: Sequence[Query], candidates: Sequence[Ranking] | None, k: int) -> list[Ranking]:
        """Gold and its neighbours; scores are 1 / place and say nothing else."""
        pairs = zip(queries, candidates or (), strict=True)
        return [self._mixed(query, before)[:k] for query, before in pairs]

    def _mixed(self, query: Query, before: Ranking) -> Ranking:
        gold = sorted({skill for skill in query.gold if skill in self._pool})
        wrong = [entry.id for entry in before if entry.id not in query.gold][: self._config.count]
        chosen = [*gold, *wrong]
        if self._config.order == "shuffled":
            random.Random(digest_parts([str(self._seed), query.id])).shuffle(chosen)
        return tuple(RankedSkill(skill, 1 / place) for place, skill in enumerate(chosen, start=1))


def build(config: Config, context: RouteContext) -> Stage:
    """The stage over the context's pool, with the context's seed."""
    return Distractors(config, context)
