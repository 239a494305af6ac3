"""Dense retrieval: skills and query as vectors of one encoder, ranked by their cosine."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import Field as Option

from workbench.core.digest import digest_json
from workbench.core.types import Ranking
from workbench.routing import vectors
from workbench.routing.cache import IndexCache, Once
from workbench.routing.encoder import Encoder, Pooling, placement
from workbench.routing.router import Query
from workbench.routing.search import ExactSearch
from workbench.routing.stage import RouteContext, Stage
from workbench.routing.text import DocumentText, QueryText
from workbench.routing.weights import ModelChoice, Weights, find_weights
from workbench.routing.words import words

if TYPE_CHECKING:
    from numpy.typing import NDArray

REVISION = 1
EXAMPLE = {"model": "example/encoder", "query": {"prefix": "Query:", "chars": 1500}}


class Config(ModelChoice):
    """Options of the stage, besides those of the model.

    Attributes:
        pooling: ``last`` (decoders such as Qwen3), ``mean`` or ``cls`` (BERT-like encoders).
        query: what the encoder reads of a task.
        document: what it reads of a skill.
        batch_tokens: most tokens per batch, padding included; more needs more memory.
    """

    pooling: Pooling = "last"
    query: QueryText = QueryText()
    document: DocumentText = DocumentText()
    batch_tokens: int = Option(16_384, ge=16)


class Dense(Stage):
    """Ranks by cosine; negative scores are kept.

    Skills are encoded once per pool, weights and options. Queries are encoded one at a time, so
    that no query's vector depends on the others in its batch.
    """

    def __init__(self, config: Config, context: RouteContext) -> None:
        self._config = config
        self._context = context
        self._cache = IndexCache(context.cache)
        self._weights = Once(self._find)
        self._encoder = Once(self._load)
        self._search = Once(self._open)

    @property
    def identity(self) -> str:
        """Digest or commit of the weights, and the precision they run in."""
        dtype, _ = placement(self._config)
        return f"{self._weights().identity} {dtype}"

    @property
    def index_fingerprint(self) -> str:
        """Digest of the pool, the weights, and the options that shape a skill's vector."""
        options = self._config.model_dump(include={"pooling", "document", "max_tokens"})
        return digest_json(["dense", REVISION, options, self.identity, self._context.pool.fingerprint])

    def prepare(self) -> None:
        """Load the weights; encode the pool, or open its vectors."""
        self._encoder()
        self._search()

    def run(self, queries: Sequence[Query], candidates: Sequence[Ranking] | None, k: int) -> list[Ranking]:
        """Rank by cosine with the query; a query without a word gets nothing."""
        asked = [place for place, query in enumerate(queries) if words(query.text)]
        rankings: list[Ranking] = [()] * len(queries)
        if asked:
            encoded = self._encode([queries[place].text for place in asked])
            found = self._nearest(
                encoded, k, None if candidates is None else [candidates[at] for at in asked]
            )
            for place, ranking in zip(asked, found, strict=True):
                rankings[place] = ranking
        return rankings

    def _encode(self, texts: Sequence[str]) -> NDArray[Any]:
        import numpy as np

        encoder = self._encoder()
        return np.concatenate([encoder.encode([self._config.query.render(text)]).vectors for text in texts])

    def _nearest(self, encoded: NDArray[Any], k: int, candidates: Sequence[Ranking] | None) -> list[Ranking]:
        if candidates is None:
            return self._search().search(encoded, k)
        ids = self._context.pool.ids()
        places = [[bisect_left(ids, entry.id) for entry in ranking] for ranking in candidates]
        return [
            self._search().search_among(query, k, among) for query, among in zip(encoded, places, strict=True)
        ]

    def _find(self) -> Weights:
        return find_weights(self._config, self._context.cache)

    def _load(self) -> Encoder:
        return Encoder(self._weights(), self._config, self._config.pooling, self._config.batch_tokens)

    def _open(self) -> ExactSearch:
        folder = self._cache.open(self.index_fingerprint, self._build)
        return ExactSearch(vectors.read(folder), self._context.pool.ids())

    def _build(self, folder: Path, pieces: Path) -> None:
        context = self._context
        vectors.build(folder, pieces, context.pool, self._encoder(), self._config.document, context.progress)


def build(config: Config, context: RouteContext) -> Stage:
    """The stage over the context's pool; weights and vectors wait until they are needed."""
    return Dense(config, context)
