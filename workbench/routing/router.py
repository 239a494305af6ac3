"""The router protocol and its law. Everything that chooses skills looks like this from outside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from workbench.core.types import Ranking


@dataclass(frozen=True)
class Query:
    """One task to route for.

    Attributes:
        id: the task's id.
        text: the full instruction; may be empty or very long.
        gold: the task's gold skill ids. Only stages whose module declares ``USES_GOLD`` see it;
            the pipeline empties it for every other stage, so no method can peek.
        hypotheses: texts written as skills that would do the task (``methods/expand_query.py``).
        shift: how far its vector moves toward them, 0 to 1.
        analysis: what the task needs, in a sentence (``methods/self_cot.py``).
    """

    id: str
    text: str
    gold: tuple[str, ...] = field(default=())
    hypotheses: tuple[str, ...] = field(default=())
    shift: float = 0.0
    analysis: str = ""

    @property
    def reading(self) -> str:
        """What lexical methods read: the text and the hypotheses."""
        return "\n".join((self.text, *self.hypotheses))


@runtime_checkable
class Router(Protocol):
    """(queries, k) -> rankings over one fixed pool.

    Law, tested for every recipe and every method (tests/contract/):

    - one ranking per query, in the order of the queries; length at most `k`;
    - ids come from the pool, none twice; scores are finite;
    - totally ordered: score descending, then id ascending; the first j of a ranking of depth k
      equal the ranking of depth j for one-stage routers;
    - a function of the query's text and the pool's content alone: neither the pool's order nor
      the other queries in the batch change an answer; same seed, same answer;
    - no evidence, no result: a query without a usable word gets an empty ranking, never
      arbitrary ids; an empty pool gives empty rankings; `k` larger than the pool is no error
      (the controls ``gold`` and ``random`` do not look at the text: the first looks at the
      query's gold, the second at its id and the seed);
    - queries of 100 kB are answered.

    Raises:
        UsageError: missing extra, weights or data; says what to type.
    """

    @property
    def name(self) -> str:
        """The recipe's name."""

    @property
    def fingerprint(self) -> str:
        """Digest of everything but the pool that can change an answer: recipe and code version."""

    @property
    def index_fingerprint(self) -> str | None:
        """Digest of the indexes in use (pool and index settings); ``None`` without an index."""

    @property
    def parallel(self) -> int:
        """How many queries are worth routing at the same time, at least 1."""

    def notes(self) -> tuple[str, ...]:
        """What happened so far that a reader of its answers must know, a line each."""

    def route(self, queries: Sequence[Query], k: int) -> list[Ranking]:
        """Rank the pool for each query; see the law above. Safe to call from several threads."""
