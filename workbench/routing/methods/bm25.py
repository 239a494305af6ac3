"""BM25 over name, description and body, on bm25s. The default router and the lexical channel of others."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from importlib.metadata import version
from operator import attrgetter
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal, Self

from pydantic import Field as Option
from pydantic import model_validator

from workbench.core.content import Content
from workbench.core.digest import digest_json
from workbench.core.types import Ranking
from workbench.routing import lexical, words
from workbench.routing.cache import IndexCache, Once
from workbench.routing.lexical import Formula, LexicalIndex, Variant
from workbench.routing.ranking import best
from workbench.routing.router import Query
from workbench.routing.stage import RouteContext, Stage, candidate_ids
from workbench.routing.words import Vocabulary
from workbench.skills.skill import Skill

if TYPE_CHECKING:
    from numpy.typing import NDArray

REVISION = 1

_FIELDS: dict[str, tuple[str, ...]] = {
    "nd": ("name", "description"),
    "full": ("name", "description", "body"),
    "text": ("text",),
}
_READ: dict[str, Callable[[Skill], str]] = {
    "name": attrgetter("name"),
    "description": attrgetter("description"),
    "body": attrgetter("body"),
    "text": lambda skill: f"{skill.name}\n{skill.description}\n{skill.body}",
}


class Weights(Content):
    """The weight of each field's score in the sum, without unit; 0 leaves the field out."""

    name: float = Option(1.0, ge=0, le=1000)
    description: float = Option(1.0, ge=0, le=1000)
    body: float = Option(1.0, ge=0, le=1000)


class Config(Content):
    """Options of the stage.

    Attributes:
        fields: ``full`` is name, description and body, each scored apart and added; ``nd`` is name and
            description alike; ``text`` is all three as one text, scored once.
        weights: of fields that are scored apart.
        variant: the formula, by bm25s' names. bm25l is BM25 with a larger k1 and bm25+ nearly
            ATIRE once terms that a skill lacks are left out, as they are here.
        k1: how slowly repetitions of a term stop counting.
        b: how much longer texts are marked down, from 0 to 1.
        delta: lower bound on a term's count; bm25l and bm25+ only.
        stop_words: language whose stop words are dropped, or none.
        stemmer: language of the Snowball stemmer, or none.
    """

    fields: Literal["full", "nd", "text"] = "full"
    weights: Weights = Weights()
    variant: Variant = "lucene"
    k1: float = Option(1.5, ge=0, le=1000)
    b: float = Option(0.75, ge=0, le=1)
    delta: float = Option(0.5, ge=0, le=1000)
    stop_words: Literal["english"] | None = "english"
    stemmer: Literal["english"] | None = "english"

    @model_validator(mode="after")
    def _weighs_something(self) -> Self:
        if self.fields == "text" and self.weights != Weights():
            raise ValueError("weights are of fields scored apart; `fields: text` has none")
        if not any(self.weight(field) for field in _FIELDS[self.fields]):
            raise ValueError("weights: at least one field needs a weight above 0")
        return self

    def weight(self, field: str) -> float:
        """The weight of a field, or of the whole text."""
        return float(getattr(self.weights, field, 1.0))


class Bm25(Stage):
    """Ranks by the sum of the fields' scores; skills without any of the query's words are not returned."""

    def __init__(self, config: Config, context: RouteContext) -> None:
        self._config = config
        self._context = context
        self._cache = IndexCache(context.cache)
        self._open = Once(self._load)

    @property
    def identity(self) -> str:
        """The code that makes words and postings."""
        return f"words {words.REVISION}, bm25s {version('bm25s')}, PyStemmer {version('PyStemmer')}"

    @property
    def index_fingerprint(self) -> str:
        """Digest of the pool, the options that shape the index, and the code that does."""
        options = self._config.model_dump(exclude={"weights"})
        return digest_json(["bm25", REVISION, self.identity, options, self._context.pool.fingerprint])

    def prepare(self) -> None:
        """Build or open the index."""
        self._open()

    def run(self, queries: Sequence[Query], candidates: Sequence[Ranking] | None, k: int) -> list[Ranking]:
        """Rank the skills that share a word with the query."""
        index, numbers = self._open()
        ids = self._context.pool.ids()
        rankings = []
        for place, query in enumerate(queries):
            scores = index.scores(numbers(query.reading))
            if (allowed := candidate_ids(candidates, place)) is not None:
                scores = _only(scores, ids, allowed)
            rankings.append(best(scores, ids, k))
        return rankings

    def _load(self) -> tuple[LexicalIndex, Callable[[str], list[int]]]:
        folder = self._cache.open(self.index_fingerprint, self._build)
        size = len(self._context.pool)
        index = LexicalIndex(folder, {field: self._config.weight(field) for field in self._fields}, size)
        vocabulary = self._vocabulary(lexical.read_terms(folder), closed=True)
        lock = Lock()  # a stemmer serves one thread at a time

        def numbers(text: str) -> list[int]:
            with lock:
                return vocabulary.numbers(text)

        return index, numbers

    def _build(self, folder: Path, pieces: Path) -> None:
        config = self._config
        fields = {field: _READ[field] for field in self._fields}
        formula = Formula(config.variant, config.k1, config.b, config.delta)
        lexical.build(folder, self._context.pool, fields, self._vocabulary(), formula, self._context.progress)

    def _vocabulary(self, terms: Sequence[str] = (), closed: bool = False) -> Vocabulary:
        import Stemmer
        from bm25s.stopwords import STOPWORDS_EN

        return Vocabulary(
            terms,
            stop_words=STOPWORDS_EN if self._config.stop_words else (),
            stem=Stemmer.Stemmer(self._config.stemmer).stemWord if self._config.stemmer else str,
            closed=closed,
        )

    @property
    def _fields(self) -> tuple[str, ...]:
        return _FIELDS[self._config.fields]


def _only(scores: NDArray[Any], ids: Sequence[str], allowed: Iterable[str]) -> NDArray[Any]:
    """`scores` with 0 for every id that is not allowed."""
    import numpy as np

    places = [bisect_left(ids, skill) for skill in allowed]
    kept = np.zeros_like(scores)
    kept[places] = scores[places]
    return kept


def build(config: Config, context: RouteContext) -> Stage:
    """The stage over the context's pool; the index is built or opened when first needed."""
    return Bm25(config, context)
