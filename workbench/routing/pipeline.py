"""Stages run one after another, each seeing what it may and held to the law."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from workbench.core.digest import digest_json
from workbench.core.types import Ranking
from workbench.routing.cache import Once
from workbench.routing.ranking import check_law
from workbench.routing.router import Query
from workbench.routing.stage import QueryStage, SkillCollection, Stage


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


@dataclass(frozen=True)
class Passed:
    """What one step gave for one query: its ranking (``None`` if it rewrites queries), and seconds."""

    method: str
    ranking: Ranking | None
    seconds: float


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

    def notes(self) -> tuple[str, ...]:
        """What its stages have to say about their answers."""
        return tuple(note for step in self.steps for note in step.stage.notes())

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
        for step, depth in zip(self.steps, self._depths(k), strict=True):
            queries, candidates = self._one(step, queries, candidates, depth)
        return [ranking[:k] for ranking in candidates or ()]

    def trace(self, query: Query, k: int) -> list[Passed]:
        """What every step gives for one query on the way to the first `k`, and how long it takes."""
        queries: Sequence[Query] = [query]
        candidates: Sequence[Ranking] | None = None
        passed = []
        for step, depth in zip(self.steps, self._depths(k), strict=True) if len(self._pool) else ():
            start = time.perf_counter()
            queries, candidates = self._one(step, queries, candidates, depth)
            seconds = time.perf_counter() - start
            ranked = candidates is not None and not isinstance(step.stage, QueryStage)
            passed.append(Passed(step.method, candidates[0] if candidates and ranked else None, seconds))
        return passed

    def _one(
        self, step: Step, queries: Sequence[Query], candidates: Sequence[Ranking] | None, depth: int
    ) -> tuple[Sequence[Query], Sequence[Ranking] | None]:
        """One step: the queries and candidates for the next."""
        blind = [replace(query, gold=()) for query in queries]
        if isinstance(step.stage, QueryStage):
            asked = step.stage.rewrite(blind)
            return [replace(new, gold=old.gold) for new, old in zip(asked, queries, strict=True)], candidates
        rankings = step.stage.run(queries if step.uses_gold else blind, candidates, depth)
        check_law(step.method, rankings, len(queries), self._known(), depth)
        return queries, rankings

    def _depths(self, k: int) -> list[int]:
        """How deep each step's answer must be for the last to give `k`."""
        depths = [k]
        for step in reversed(self.steps[1:]):
            depths.append(step.stage.depth(depths[-1]))
        return depths[::-1]
