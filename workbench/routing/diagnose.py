"""The gap between a request and its skill, measured per query in three quantities (SkillRep, section 6).

Coverage: what share of the gold skill's content words does the request express? Background gap: how
much more does what all vectors share add to the scores of wrong skills than to the gold one's?
Dilution: how much of the similarity to the part that it needs does a request lose when the whole
skill is one vector? And how does the gain of a module vary with each?
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any

from workbench.core.errors import UsageError
from workbench.core.types import Ranking
from workbench.metrics.scoring import Relevance
from workbench.routing import background
from workbench.routing.load import RecipeRouter
from workbench.routing.router import Query
from workbench.routing.space import RefinedSpace, SpaceStage
from workbench.routing.stage import SkillCollection
from workbench.routing.text import sections
from workbench.routing.words import words
from workbench.skills.skill import Skill

if TYPE_CHECKING:
    from numpy.typing import NDArray

MEASURES = ("lexical", "semantic", "soft", "gap_documents", "gap_requests", "dilution")
"""Coverage by word, by meaning, and graded; background gap along B_D and B_Q; dilution loss."""

_SAME_MEANING = 0.8
_COMPETITORS = 10


@dataclass(frozen=True)
class Gap:
    """The measures of one query, each the mean over its gold skills: name -> value, NaN if undefined."""

    query: str
    values: Mapping[str, float]


class Diagnosis:
    """Measures the gap in the vector space of a router.

    Args:
        router: its first stage with vectors is taken, without what refines it.
        queries: all that are measured; B_Q is estimated from them (the paper takes requests that a
            language model wrote; give others as `requests` to do the same).
    """

    def __init__(
        self,
        router: RecipeRouter,
        pool: SkillCollection,
        queries: Sequence[Query],
        requests: Sequence[str] = (),
    ) -> None:
        self._pool = pool
        self._space = _plain_space(router)
        self._queries = list(queries)
        self._places = {skill: place for place, skill in enumerate(pool.ids())}
        self._word_vectors: dict[str, NDArray[Any]] = {}
        self._encoded = self._space.encode(self._queries)
        spoken = self._space.encode_requests(requests) if requests else self._encoded
        self._documents = self._space.stored().rows
        self._along = {
            "gap_documents": background.principal(self._documents, 2),
            "gap_requests": background.principal(spoken, 1),
        }

    def measure(self, tasks: Mapping[str, Relevance]) -> list[Gap]:
        """Every measure of every query that has gold in the pool, in the order of the queries."""
        top = self._space.run(self._queries, None, _COMPETITORS)
        self._read(tasks)
        found = []
        for at, query in enumerate(self._queries):
            gold = [skill for skill in tasks[query.id].gold if skill in self._places]
            if gold:
                each = [self._one(at, query, self._pool.get(skill), gold, top[at]) for skill in gold]
                found.append(Gap(query.id, {name: _mean([v[name] for v in each]) for name in MEASURES}))
        return found

    def _read(self, tasks: Mapping[str, Relevance]) -> None:
        """Encode every word that is going to be compared, all at once: batches are many times faster."""
        gold = {skill for query in self._queries for skill in tasks[query.id].gold if skill in self._places}
        needed = (_words_of(self._pool.get(skill)) for skill in gold)
        asked = (content_words(query.text) for query in self._queries)
        self._vectors_of(sorted(set().union(*needed, *asked)))

    def _one(
        self, at: int, query: Query, skill: Skill, gold: Sequence[str], top: Ranking
    ) -> dict[str, float]:
        vector = self._encoded[at].astype("float64")
        competitors = [self._places[entry.id] for entry in top if entry.id not in gold]
        own = self._documents[self._places[skill.id]].astype("float64")
        others = self._documents[competitors].astype("float64")
        gaps = {name: background_gap(vector, own, others, basis) for name, basis in self._along.items()}
        return {**self._coverage(query, skill), **gaps, "dilution": self._dilution(vector, own, skill)}

    def _coverage(self, query: Query, skill: Skill) -> dict[str, float]:
        """Shares of the gold skill's content words that the request has (section 6.2)."""
        asked = sorted(content_words(query.text))
        needed = sorted(_words_of(skill))
        if not needed or not asked:
            return dict.fromkeys(("lexical", "semantic", "soft"), math.nan)
        nearest = (self._vectors_of(needed) @ self._vectors_of(asked).T).max(axis=1)
        return {
            "lexical": len(set(needed) & set(asked)) / len(needed),
            "semantic": float((nearest >= _SAME_MEANING).mean()),
            "soft": float(nearest.mean()),
        }

    def _vectors_of(self, known: Sequence[str]) -> NDArray[Any]:
        """Each word encoded on its own."""
        import numpy as np

        new = [word for word in known if word not in self._word_vectors]
        if new:
            self._word_vectors.update(zip(new, self._space.encode_skills(new), strict=True))
        return np.stack([self._word_vectors[word] for word in known]) if known else np.zeros((0, 1))

    def _dilution(self, vector: NDArray[Any], own: NDArray[Any], skill: Skill) -> float:
        """cos(q, best section) - cos(q, d) (section 6.3)."""
        parts = [section for section in sections(skill.body) if section.strip()]
        if not parts:
            return math.nan
        return float((self._space.encode_skills(parts) @ vector).max() - own @ vector)


def _words_of(skill: Skill) -> set[str]:
    return content_words(f"{skill.name} {skill.description} {skill.body}")


def background_gap(
    query: NDArray[Any], gold: NDArray[Any], competitors: NDArray[Any], basis: NDArray[Any]
) -> float:
    """How much more a background adds to the scores of competitors than to gold's, x 100 (equation 2).

    Positive: the background favours the competitors. NaN without competitors.
    """
    if not len(competitors):
        return math.nan
    along = (query @ basis.T) @ basis
    return 100 * float((competitors @ along).mean() - gold @ along)


def partial_correlation(
    measure: Sequence[float], gain: Sequence[float], controls: Sequence[Sequence[float]]
) -> float:
    """Correlation of a measure with a gain once both are freed of their linear fit on the controls.

    Section 7.2. NaN where one of them does not vary, or with fewer than three observations more
    than controls.
    """
    import numpy as np

    count = len(measure)
    if count < len(controls) + 3:
        return math.nan
    design = np.column_stack([np.ones(count), *controls])
    left, right = (
        column - design @ np.linalg.lstsq(design, column, rcond=None)[0]
        for column in (np.asarray(measure, dtype=float), np.asarray(gain, dtype=float))
    )
    scale = float(np.linalg.norm(left) * np.linalg.norm(right))
    return float(left @ right) / scale if scale > 1e-12 else math.nan


def correlations(
    gaps: Sequence[Gap], before: Mapping[str, float], after: Mapping[str, float]
) -> dict[str, float]:
    """Measure -> partial correlation with a module's gain (table 7).

    Controlled for: the starting value, and the other measures (of the three coverages, which count
    the same thing, none controls another). Queries with an undefined measure are left out.

    Args:
        before: query -> the metric without the module, e.g. the reciprocal rank.
        after: the same with it.
    """
    whole = [gap for gap in gaps if not any(math.isnan(value) for value in gap.values.values())]
    gain = [after[gap.query] - before[gap.query] for gap in whole]
    start = [before[gap.query] for gap in whole]
    found = {}
    for name in MEASURES:
        others = [other for other in MEASURES if other != name and not _alike(name, other)]
        controls = [start, *([gap.values[other] for gap in whole] for other in others)]
        found[name] = partial_correlation([gap.values[name] for gap in whole], gain, controls)
    return found


def content_words(text: str) -> set[str]:
    """The distinct words of a text that are not stop words or single letters."""
    from bm25s.stopwords import STOPWORDS_EN

    return {word for word in words(text) if len(word) > 1} - set(STOPWORDS_EN)


def _alike(one: str, other: str) -> bool:
    """Whether both are counts of coverage: controlling one by another would take out what is measured."""
    return one in MEASURES[:3] and other in MEASURES[:3]


def _plain_space(router: RecipeRouter) -> SpaceStage:
    for stage in router.every_stage():
        if isinstance(stage, SpaceStage):
            while isinstance(stage, RefinedSpace):
                stage = stage.inner
            if stage.stored().starts is None:
                return stage
    raise UsageError(
        f"'{router.name}' has no vectors of whole skills to look at; choose a router with a `dense` stage, "
        "e.g. hybrid"
    )


def _mean(values: Sequence[float]) -> float:
    defined = [value for value in values if not math.isnan(value)]
    return fmean(defined) if defined else math.nan
