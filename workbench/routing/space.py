"""Methods that rank by vectors: one space that holds the skills and into which queries are put.

`methods/dense.py` makes a space from an encoder; methods that refine the stage before them make
one from another (`REFINES`, see `stage.Stage`).
"""

from __future__ import annotations

from abc import abstractmethod
from bisect import bisect_left
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from workbench.core.digest import digest_json
from workbench.core.errors import UsageError
from workbench.core.types import Ranking
from workbench.routing import approximate, gpu, vectors
from workbench.routing.approximate import Approximate, SearchChoice
from workbench.routing.cache import IndexCache, Once
from workbench.routing.router import Query
from workbench.routing.search import ExactSearch, Proposer
from workbench.routing.stage import RouteContext, SkillCollection, Stage
from workbench.routing.vectors import Stored
from workbench.routing.words import words

if TYPE_CHECKING:
    from numpy.typing import NDArray


class SpaceStage(Stage):
    """Ranks by inner product; negative scores are kept.

    A query without a word gets nothing, and no query a skill whose score is exactly 0: its vector
    says nothing about it.
    """

    def __init__(self, pool: SkillCollection, cache: IndexCache, choice: SearchChoice) -> None:
        self.pool = pool
        self.cache = cache
        self.choice = choice
        self._search = Once(self.search)
        self._recall: float | None = None

    @abstractmethod
    def stored(self) -> Stored:
        """The skills' vectors, and which rows are whose."""

    def scales(self) -> NDArray[Any]:
        """What each row's inner product is multiplied by: 1 / length, which half precision has changed."""
        import numpy as np

        scales: NDArray[Any] = 1 / np.maximum(vectors.lengths(self.stored().rows), 1e-6)
        return scales

    @abstractmethod
    def encode(self, queries: Sequence[Query]) -> NDArray[Any]:
        """The queries: one row each, float32. No row depends on the other queries."""

    @abstractmethod
    def encode_skills(self, texts: Sequence[str]) -> NDArray[Any]:
        """Texts written as skills, put where the skills are: one unit row each, float32."""

    @abstractmethod
    def encode_requests(self, texts: Sequence[str]) -> NDArray[Any]:
        """Texts written as requests, put where plain queries are: one unit row each, float32."""

    def search(self) -> ExactSearch:
        """The search over `stored`; made once. A skill with several rows has its best one's score."""
        rows, starts = self.stored()
        return ExactSearch(rows, self.pool.ids(), self.scales(), starts, self._proposer(rows, starts))

    def _proposer(self, rows: NDArray[Any], starts: NDArray[Any] | None) -> Proposer | None:
        """The approximate index over the rows, if the recipe asks for one; else the GPU, if there is one."""
        if self.choice.index == "exact":
            return gpu.flat(rows, self.scales(), starts)
        shaping = self.choice.model_dump(include={"index", "links", "build_effort", "lists"})
        fingerprint = digest_json(["faiss", shaping, self.index_fingerprint])
        folder = self.cache.open(
            fingerprint, lambda folder, _: approximate.build(folder, rows, self.scales(), self.choice)
        )
        self._recall = approximate.recall(folder)
        return Approximate.open(folder, self.choice)

    def notes(self) -> tuple[str, ...]:
        """What an approximate index misses."""
        if self._recall is None:
            return ()
        return (f"{self.choice.index}: recall@10 {self._recall:.3f} against exact search over this pool",)

    def prepare(self) -> None:
        """Open everything that answers need."""
        self._search()

    def run(self, queries: Sequence[Query], candidates: Sequence[Ranking] | None, k: int) -> list[Ranking]:
        """Rank by inner product with the query."""
        asked = [place for place, query in enumerate(queries) if words(query.text)]
        rankings: list[Ranking] = [()] * len(queries)
        if asked:
            encoded = self.encode([queries[place] for place in asked])
            allowed = None if candidates is None else [candidates[place] for place in asked]
            for place, ranking in zip(asked, self._nearest(encoded, k, allowed), strict=True):
                rankings[place] = tuple(entry for entry in ranking if entry.score)
        return rankings

    def _nearest(self, encoded: NDArray[Any], k: int, candidates: Sequence[Ranking] | None) -> list[Ranking]:
        if candidates is None:
            return self._search().search(encoded, k)
        ids = self.pool.ids()
        places = [[bisect_left(ids, entry.id) for entry in ranking] for ranking in candidates]
        return [
            self._search().search_among(query, k, among) for query, among in zip(encoded, places, strict=True)
        ]


class RefinedSpace(SpaceStage):
    """A space made from another. Everything that a subclass does not change is the inner one's."""

    def __init__(self, inner: SpaceStage) -> None:
        super().__init__(inner.pool, inner.cache, inner.choice)
        self.inner = inner

    @property
    def identity(self) -> str:
        """What decides the inner space's answers."""
        return self.inner.identity

    @property
    def index_fingerprint(self) -> str | None:
        """That of the inner space's index."""
        return self.inner.index_fingerprint

    def stored(self) -> Stored:
        """The inner space's."""
        return self.inner.stored()

    def scales(self) -> NDArray[Any]:
        """The inner space's."""
        return self.inner.scales()

    def encode(self, queries: Sequence[Query]) -> NDArray[Any]:
        """As the inner space does."""
        return self.inner.encode(queries)

    def encode_skills(self, texts: Sequence[str]) -> NDArray[Any]:
        """As the inner space does."""
        return self.inner.encode_skills(texts)

    def encode_requests(self, texts: Sequence[str]) -> NDArray[Any]:
        """As the inner space does."""
        return self.inner.encode_requests(texts)

    def notes(self) -> tuple[str, ...]:
        """The inner stage's, and its own."""
        return (*self.inner.notes(), *super().notes())


def inner_space(context: RouteContext, method: str) -> SpaceStage:
    """The space that a refining method is placed behind.

    Raises:
        UsageError: the stage before it has none.
    """
    if not isinstance(context.inner, SpaceStage):
        raise UsageError(f"{method}: must stand directly behind `dense` or a stage that refines it")
    return context.inner
