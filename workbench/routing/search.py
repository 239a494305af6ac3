"""Search among vectors: by inner product, to the last digit.

A matrix product proposes, double precision decides: the product's last digits depend on how many
queries share a batch and on the library behind it, and near-equal skills would change places.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from workbench.core.types import RankedSkill, Ranking

if TYPE_CHECKING:
    from numpy.typing import NDArray

MARGIN = 1e-4
"""More than the rounding of a single-precision product of unit vectors of 8,192 dimensions."""

_DIGITS = 9
"""Scores are rounded to so many decimals, so that equal vectors have equal scores."""

_ROWS = 16_384
_QUERIES = 128
_RESIDENT_BYTES = 512 * 1024 * 1024


class Proposer(Protocol):
    """Names rows that may be among the nearest."""

    def propose(self, queries: NDArray[Any], count: int) -> list[NDArray[Any]]:
        """For each query (queries x dimensions, float32): about `count` rows, ascending, none twice."""


class ExactSearch:
    """Inner-product search over all vectors of a pool; thread-safe.

    On a CPU no index library, unless an approximate `proposer` is asked for: on one core, 110,000
    vectors of 1,024 dimensions and 38 queries, the plain product took 0.2 s and faiss' flat index
    1.9 s; a single query took both about 40 ms.

    Args:
        vectors: rows x dimensions, any float type, memory-mapped or not. Up to half a gigabyte in
            single precision is kept in memory.
        ids: of the skills, sorted.
        scales: what each row's inner product is multiplied by; 1 for all if not given.
        starts: the first row of each skill, and the number of rows, where skills have several; a
            skill has the score of its best row.
        proposer: looks through the rows instead of the product. A skill that it does not propose is
            missed: `gpu.Flat` leaves out none that could be among the best, an approximate index may.
    """

    def __init__(
        self,
        vectors: NDArray[Any],
        ids: Sequence[str],
        scales: NDArray[Any] | None = None,
        starts: NDArray[Any] | None = None,
        proposer: Proposer | None = None,
    ) -> None:
        import numpy as np

        self._stored = vectors
        self._ids = ids
        self._scales = scales
        self._starts = starts
        self._proposer = proposer
        self._margin = MARGIN if scales is None or not len(scales) else MARGIN * float(scales.max())
        small = proposer is None and vectors.size * 4 <= _RESIDENT_BYTES
        self._resident = np.asarray(vectors, dtype=np.float32) if small else None
        if self._resident is not None and scales is not None:
            self._resident = self._resident * scales[:, None].astype(np.float32)  # once, not per query
            self._margin = MARGIN

    def search(self, queries: NDArray[Any], k: int) -> list[Ranking]:
        """The `k` nearest of all skills for each query (queries x dimensions).

        Inner product descending, then id ascending. An answer does not depend on the other queries.
        """
        import numpy as np

        found: list[Ranking] = []
        for start in range(0, len(queries), _QUERIES):
            block = np.asarray(queries[start : start + _QUERIES], dtype=np.float32)
            near = self._proposed(block, k) if self._proposer else map(self._near(k), self._products(block))
            found += [self._ranked(query, k, places) for query, places in zip(block, near, strict=True)]
        return found

    def search_among(self, query: NDArray[Any], k: int, places: Sequence[int]) -> Ranking:
        """The `k` nearest of some skills, by their places among the ids, for one query."""
        import numpy as np

        return self._ranked(query, k, np.array(sorted(places), dtype=np.int64))

    def _near(self, k: int) -> Callable[[NDArray[Any]], NDArray[Any]]:
        """Rough scores of all skills -> places of those that may be among the `k` best."""
        import numpy as np

        def near(rough: NDArray[Any]) -> NDArray[Any]:
            if k >= len(rough):
                return np.arange(len(rough))
            least = np.partition(rough, len(rough) - k)[len(rough) - k]
            return np.flatnonzero(rough >= least - self._margin)

        return near

    def _proposed(self, queries: NDArray[Any], k: int) -> list[NDArray[Any]]:
        """Places of the skills whose rows are proposed."""
        import numpy as np

        assert self._proposer is not None
        rows = self._proposer.propose(queries, k)
        if self._starts is None:
            return rows
        return [np.unique(np.searchsorted(self._starts, found, side="right") - 1) for found in rows]

    def _ranked(self, query: NDArray[Any], k: int, places: NDArray[Any]) -> Ranking:
        """Skills by their exact score; `places` ascending, so that equal scores come in id order."""
        import numpy as np

        scores = np.round(self._exact(query, places), _DIGITS)
        order = np.argsort(-scores, kind="stable")[:k]
        found = zip(places[order].tolist(), scores[order].tolist(), strict=True)
        return tuple([RankedSkill(self._ids[place], score) for place, score in found])

    def _exact(self, query: NDArray[Any], places: NDArray[Any]) -> NDArray[Any]:
        """Scores of some skills in double precision."""
        import numpy as np

        if not len(places):
            return np.zeros(0)
        rows = places
        if self._starts is not None:
            rows = ranges(self._starts[places], self._starts[places + 1])
        wide = query.astype(np.float64)
        blocks = (rows[at : at + _ROWS] for at in range(0, len(rows), _ROWS))
        scores = np.concatenate([self._stored[block].astype(np.float64) @ wide for block in blocks])
        if self._scales is not None:
            scores *= self._scales[rows]
        if self._starts is None:
            return scores
        lengths = self._starts[places + 1] - self._starts[places]
        best: NDArray[Any] = np.maximum.reduceat(scores, np.cumsum(lengths) - lengths)
        return best

    def _products(self, queries: NDArray[Any]) -> NDArray[Any]:
        """Rough scores: queries x skills, single precision."""
        import numpy as np

        products = self._plain_products(queries)
        if self._scales is not None and self._resident is None:
            products *= self._scales.astype(products.dtype)
        if self._starts is not None and products.shape[1]:
            products = np.maximum.reduceat(products, self._starts[:-1], axis=1)
        return products

    def _plain_products(self, queries: NDArray[Any]) -> NDArray[Any]:
        """Rough inner products: queries x rows."""
        import numpy as np

        if self._resident is not None:
            products: NDArray[Any] = queries @ self._resident.T
            return products
        starts = range(0, len(self._stored), _ROWS)
        blocks = (self._stored[at : at + _ROWS].astype(np.float32) for at in starts)
        return np.concatenate([queries @ block.T for block in blocks], axis=1)


def ranges(starts: NDArray[Any], ends: NDArray[Any]) -> NDArray[Any]:
    """The numbers of several half-open ranges, one range after the other."""
    import numpy as np

    lengths = ends - starts
    shifts = np.repeat(starts - (np.cumsum(lengths) - lengths), lengths)
    found: NDArray[Any] = np.arange(int(lengths.sum())) + shifts
    return found
