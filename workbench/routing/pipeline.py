"""Stages run one after another, each seeing what it may and held to the law."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from workbench.core.digest import digest_json
from workbench.core.types import Ranking
from workbench.routing.cache import Once
from workbench.routing.ranking import check_law
from workbench.routing.router import Query
from workbench.routing.stage import SkillCollection, Stage


@dataclass(frozen=True)
class Step:
    """One stage in its place.

    Attributes:
        method: its name.
        stage: the stage.
        description: digest of its method, revision and options.
        uses_gold: whether it may see a query's gold skills.
    """

    method: str
    stage: Stage
    description: str
    uses_gold: bool = False


class Pipeline:
    """A list of steps over one pool. Thread-safe as far as its stages are."""

    def __init__(self, steps: Sequence[Step], pool: SkillCollection) -> None:
        self.steps = tuple(steps)
        self._pool = pool
        self._known = Once(lambda: frozenset(pool.ids()))

    @property
    def fingerprint(self) -> str:
        """Digest of everything but the pool that can change an answer."""
        return digest_json([[step.description, step.stage.identity] for step in self.steps])

    @property
    def index_fingerprint(self) -> str | None:
        """The one index's fingerprint, a digest of several, ``None`` without any."""
        found = [step.stage.index_fingerprint for step in self.steps]
        indexes = [fingerprint for fingerprint in found if fingerprint]
        return digest_json(indexes) if len(indexes) > 1 else next(iter(indexes), None)

    def prepare(self) -> None:
        """Do the long work of every stage; over an empty pool there is none."""
        for step in self.steps if len(self._pool) else ():
            step.stage.prepare()

    def run(
        self, queries: Sequence[Query], k: int, candidates: Sequence[Ranking] | None = None
    ) -> list[Ranking]:
        """Rank for each query; the law of `router.Router` holds after every step."""
        if not queries or not len(self._pool):
            return [() for _ in queries]
        blind = [replace(query, gold=()) for query in queries]
        for step, depth in zip(self.steps, self._depths(k), strict=True):
            rankings = step.stage.run(queries if step.uses_gold else blind, candidates, depth)
            check_law(step.method, rankings, len(queries), self._known(), depth)
            candidates = rankings
        return [ranking[:k] for ranking in candidates or ()]

    def _depths(self, k: int) -> list[int]:
        """How deep each step's answer must be for the last to give `k`."""
        depths = [k]
        for step in reversed(self.steps[1:]):
            depths.append(step.stage.depth(depths[-1]))
        return depths[::-1]
