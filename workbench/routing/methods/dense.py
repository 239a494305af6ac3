"""Dense retrieval: skills and query as vectors of one encoder, ranked by their cosine."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import Field as Option

from workbench.core.digest import digest_json
from workbench.routing import vectors
from workbench.routing.approximate import SearchChoice
from workbench.routing.cache import IndexCache, Once
from workbench.routing.encoder import Encoder, Pooling, placement, shared_encoder
from workbench.routing.router import Query
from workbench.routing.space import SpaceStage
from workbench.routing.stage import RouteContext, Stage
from workbench.routing.text import DocumentText, QueryText
from workbench.routing.weights import ModelChoice, Weights, find_weights

if TYPE_CHECKING:
    from numpy.typing import NDArray

REVISION = 2
IS_SPACE = True
EXAMPLE = {"model": "example/encoder", "query": {"prefix": "Query:", "chars": 1500}}


class Config(ModelChoice):
    """Options of the stage, besides those of the model.

    Attributes:
        pooling: ``last`` (decoders such as Qwen3), ``mean`` or ``cls`` (BERT-like encoders).
        query: what the encoder reads of a task.
        document: what it reads of a skill.
        unit: what a vector stands for: a whole ``skill``; or a ``section`` of one, with name and
            description before it, and a skill has the score of its best section (SkillRep, section 7.3).
        search: how the vectors are searched; exactly, unless told otherwise.
        batch_tokens: most tokens per batch, padding included; more needs more memory. By default 2,048
            on a CPU and 65,536 on a GPU.
    """

    pooling: Pooling = "last"
    query: QueryText = QueryText()
    document: DocumentText = DocumentText()
    unit: vectors.Unit = "skill"
    search: SearchChoice = SearchChoice()
    batch_tokens: int | None = Option(None, ge=16)


class Dense(SpaceStage):
    """Ranks by cosine; negative scores are kept.

    Skills are encoded once per pool, weights and options. Queries are encoded one at a time, so
    that no query's vector depends on the others in its batch.
    """

    def __init__(self, config: Config, context: RouteContext) -> None:
        super().__init__(context.pool, IndexCache(context.cache), config.search)
        self._config = config
        self._context = context
        self._weights = Once(self._find)
        self._encoder = Once(self._load)

    @property
    def identity(self) -> str:
        """Digest or commit of the weights, and the precision they run in."""
        dtype, _ = placement(self._config)
        return f"{self._weights().identity} {dtype}"

    @property
    def index_fingerprint(self) -> str:
        """Digest of the pool, the weights, and the options that shape a skill's vector."""
        options = self._config.model_dump(include={"pooling", "document", "max_tokens", "unit"})
        return digest_json(
            ["dense", vectors.REVISION, options, self.identity, self._context.pool.fingerprint]
        )

    def prepare(self) -> None:
        """Load the weights; encode the pool, or open its vectors."""
        self._encoder()
        super().prepare()

    def stored(self) -> vectors.Stored:
        """Encoded once, then opened from the cache."""
        return vectors.read(self.cache.open(self.index_fingerprint, self._build))

    def encode(self, queries: Sequence[Query]) -> NDArray[Any]:
        """Unit vectors of the queries, each moved toward its hypotheses (SkillRep, section 3.2)."""
        import numpy as np

        texts = [self._config.query.render(query.text, query.analysis) for query in queries]
        encoded = self._asked(texts).astype(np.float64)
        for row, query in zip(encoded, queries, strict=True):
            if query.hypotheses:
                mean = self.encode_skills(query.hypotheses).mean(axis=0, dtype=np.float64)
                row[:] = (1 - query.shift) * row + query.shift * mean
                row /= np.linalg.norm(row)
        moved: NDArray[Any] = encoded.astype(np.float32)
        return moved

    def encode_requests(self, texts: Sequence[str]) -> NDArray[Any]:
        """Unit vectors of texts rendered as tasks are."""
        return self._asked([self._config.query.render(text) for text in texts])

    def encode_skills(self, texts: Sequence[str]) -> NDArray[Any]:
        """Unit vectors of texts taken for whole skills."""
        return self._encoder().encode([self._config.document.prefix + text for text in texts]).vectors

    def _asked(self, texts: Sequence[str]) -> NDArray[Any]:
        """Unit vectors of rendered queries: of their start, or the mean over their windows."""
        import numpy as np

        query, encoder = self._config.query, self._encoder()
        if query.long == "cut":
            return self._one_by_one(texts, query.tokens)
        parts = [encoder.windows(text, query.tokens) for text in texts]
        means = np.stack([self._one_by_one(windows, query.tokens).mean(axis=0) for windows in parts])
        unit: NDArray[Any] = means / np.maximum(np.linalg.norm(means, axis=1, keepdims=True), 1e-12)
        return unit

    def _one_by_one(self, texts: Sequence[str], max_tokens: int | None = None) -> NDArray[Any]:
        import numpy as np

        encoder = self._encoder()
        return np.concatenate([encoder.alone(text, max_tokens) for text in texts])

    def _find(self) -> Weights:
        return find_weights(self._config, self._context.cache)

    def _load(self) -> Encoder:
        return shared_encoder(self._weights(), self._config, self._config.pooling, self._config.batch_tokens)

    def _build(self, folder: Path, pieces: Path) -> None:
        config, context = self._config, self._context
        vectors.build(
            folder, pieces, context.pool, self._encoder(), config.document, context.progress, config.unit
        )


def build(config: Config, context: RouteContext) -> Stage:
    """The stage over the context's pool; weights and vectors wait until they are needed."""
    return Dense(config, context)
