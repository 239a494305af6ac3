"""The BM25 index: one bm25s index per field over one vocabulary, in memory-mapped files.

Fields are scored apart, each with its own document frequencies and its own average length, and
their scores are added: a word in a name counts by how rare it is among names, and the length of
a body does not dilute a description.
"""

from __future__ import annotations

import json
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from workbench.core.types import Progress
from workbench.routing.stage import SkillCollection
from workbench.routing.words import Vocabulary
from workbench.skills.skill import Skill

if TYPE_CHECKING:
    from numpy.typing import NDArray


Variant = Literal["lucene", "robertson", "atire", "bm25l", "bm25+"]

_TERMS = "terms.json"
_REPORT_EVERY = 1000


@dataclass(frozen=True)
class Formula:
    """The BM25 variant (as bm25s names them) and its parameters; `delta` is for bm25l and bm25+."""

    variant: Variant
    k1: float
    b: float
    delta: float


class _Texts:
    """The term numbers of one field of every skill, 4 bytes each: what bm25s takes as a corpus.

    bm25s asks a corpus for its length and goes through it several times; lists of Python ints
    would take ten times the memory.
    """

    def __init__(self, vocab: Mapping[str, int]) -> None:
        self.vocab = vocab
        self._flat = array("i")
        self._ends = array("q", [0])

    def append(self, numbers: Iterable[int]) -> None:
        """Add the next skill's field."""
        self._flat.extend(numbers)
        self._ends.append(len(self._flat))

    @property
    def ids(self) -> _Texts:
        """Itself, under the name by which bm25s takes it."""
        return self

    @property
    def empty(self) -> bool:
        """Whether no skill has a term in this field."""
        return not self._flat

    def __len__(self) -> int:
        return len(self._ends) - 1

    def __iter__(self) -> Iterator[array[int]]:
        return (self._flat[start:end] for start, end in pairwise(self._ends))


def build(
    folder: Path,
    pool: SkillCollection,
    fields: Mapping[str, Callable[[Skill], str]],
    vocabulary: Vocabulary,
    formula: Formula,
    progress: Progress,
) -> None:
    """Write the index of a pool into an empty folder: a subfolder per field that has any term.

    Args:
        fields: name -> what is read of a skill.

    Skills are read one at a time; memory grows by 4 bytes a term and about 20 a posting.
    """
    texts = {field: _Texts(vocabulary.terms) for field in fields}
    for done, skill in enumerate(pool.skills(), start=1):
        for field, rows in texts.items():
            rows.append(vocabulary.numbers(fields[field](skill)))
        if done % _REPORT_EVERY == 0 or done == len(pool):
            progress("read", done, len(pool))
    for done, field in enumerate(fields, start=1):
        rows = texts.pop(field)
        if not rows.empty:
            _index(rows, formula).save(folder / field, show_progress=False)
        progress("index", done, len(fields))
    (folder / _TERMS).write_text(json.dumps(list(vocabulary.terms), ensure_ascii=False), encoding="utf-8")


def _index(rows: _Texts, formula: Formula) -> Any:
    import bm25s

    index = bm25s.BM25(
        k1=formula.k1, b=formula.b, delta=formula.delta, method=formula.variant, csc_backend="auto"
    )
    index.index(rows, create_empty_token=False, show_progress=False)
    index.vocab_dict = {}
    return index


def read_terms(folder: Path) -> list[str]:
    """The terms of an index, by number."""
    terms: list[str] = json.loads((folder / _TERMS).read_text(encoding="utf-8"))
    return terms


class LexicalIndex:
    """A built index, open for reading; thread-safe.

    Args:
        folder: as written by `build`.
        weights: field -> weight of its score in the sum; fields with weight 0 are not read.
        size: number of skills.
    """

    def __init__(self, folder: Path, weights: Mapping[str, float], size: int) -> None:
        import bm25s
        import numpy as np

        self._size = size
        self._fields: list[tuple[_Postings, float]] = []
        for field, weight in weights.items():
            if weight and (folder / field).is_dir():
                stored = bm25s.BM25.load(folder / field, mmap=True, load_vocab=False, show_progress=False)
                # Slices of a memory map cost more than the sums they are for; slices of a view do not.
                views = {name: np.asarray(stored.scores[name]) for name in ("data", "indices", "indptr")}
                self._fields.append((_Postings(**views), weight))

    def scores(self, numbers: Sequence[int]) -> NDArray[Any]:
        """The score of every skill, in id order, float32; 0 where it shares no term with the query.

        A term that the query repeats counts as often as it stands there. bm25l and bm25+ give a
        skill a constant for each term that it lacks; bm25s keeps that constant out of the postings,
        and so does this sum: the order is the same, and a score above 0 is evidence.
        """
        import numpy as np

        total = np.zeros(self._size, dtype=np.float32)
        counts = Counter(numbers)
        terms = np.fromiter(counts, dtype=np.int64, count=len(counts))
        for postings, weight in self._fields:
            starts, ends = postings.indptr[terms].tolist(), postings.indptr[terms + 1].tolist()
            for start, end, count in zip(starts, ends, counts.values(), strict=True):
                if start < end:
                    np.add.at(total, postings.indices[start:end], postings.data[start:end] * (weight * count))
        return total


class _Postings(NamedTuple):
    """One field's index: the score of term ``t`` in skill ``indices[i]`` is ``data[i]``.

    ``i`` runs from ``indptr[t]`` to ``indptr[t + 1]``.
    """

    data: NDArray[Any]
    indices: NDArray[Any]
    indptr: NDArray[Any]
