"""The control with perfect routing: the task's own gold skills, as far as the pool has them."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.core.content import Content
from workbench.core.types import Ranking, ranked
from workbench.routing.router import Query
from workbench.routing.stage import RouteContext, Stage, candidate_ids

REVISION = 1
IS_CONTROL = True
USES_GOLD = True


class Config(Content):
    """No options."""


class Gold(Stage):
    """Returns the gold skills, all with score 1 and therefore in id order."""

    def __init__(self, context: RouteContext) -> None:
        self._pool = context.pool

    def run(self, queries: Sequence[Query], candidates: Sequence[Ranking] | None, k: int) -> list[Ranking]:
        """The gold skills that may be chosen."""
        rankings = []
        for place, query in enumerate(queries):
            allowed = candidate_ids(candidates, place)
            known = self._pool if allowed is None else allowed
            rankings.append(ranked(((skill, 1.0) for skill in query.gold if skill in known), k))
        return rankings


def build(config: Config, context: RouteContext) -> Stage:
    """The stage over the context's pool."""
    return Gold(context)
