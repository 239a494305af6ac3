"""A controlled condition: routing over a pool that does not have the gold skills.

It measures what near neighbours of the right skill are worth (Skill-Usage's condition of the same
kind).
"""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field as Option

from workbench.core.content import Content
from workbench.core.types import Ranking
from workbench.routing.router import Query
from workbench.routing.stage import RouteContext, Stage

REVISION = 1
IS_CONTROL = True
USES_GOLD = True
NEEDS_CANDIDATES = True


class Config(Content):
    """Options of the stage.

    Attributes:
        reserve: further candidates asked for, so that `k` are left when the gold ones are gone.
    """

    reserve: int = Option(50, ge=0)


class WithoutGold(Stage):
    """The candidates less the gold skills."""

    def __init__(self, config: Config) -> None:
        self._config = config

    def depth(self, k: int) -> int:
        """`k` and the reserve."""
        return k + self._config.reserve

    def run(self, queries: Sequence[Query], candidates: Sequence[Ranking] | None, k: int) -> list[Ranking]:
        """What is left, in the same order."""
        pairs = zip(queries, candidates or (), strict=True)
        return [tuple(entry for entry in before if entry.id not in query.gold)[:k] for query, before in pairs]


def build(config: Config, context: RouteContext) -> Stage:
    """The stage; it needs nothing of the context."""
    return WithoutGold(config)
