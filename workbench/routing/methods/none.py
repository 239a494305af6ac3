"""The control without routing: nothing, for every query."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.core.content import Content
from workbench.core.types import Ranking
from workbench.routing.router import Query
from workbench.routing.stage import RouteContext, Stage

REVISION = 1


class Config(Content):
    """No options."""


class Nothing(Stage):
    """Returns empty rankings."""

    def run(self, queries: Sequence[Query], candidates: Sequence[Ranking] | None, k: int) -> list[Ranking]:
        """An empty ranking per query."""
        return [() for _ in queries]


def build(config: Config, context: RouteContext) -> Stage:
    """The stage."""
    return Nothing()
