"""Exact search among unit vectors.

A matrix product proposes, double precision decides: the product's last digits depend on how many
queries share a batch and on the library behind it, and near-equal skills would change places.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from workbench.core.types import RankedSkill, Ranking

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MARGIN = 1e-4
"""More than the rounding of a single-precision product of unit vectors of 8,192 dimensions."""

_DIGITS = 9
"""Scores are rounded to so many decimals, so that equal vectors have equal scores."""

_BLOCK = 16_384
_RESIDENT_BYTES = 512 * 1024 * 1024


class ExactSearch:
    """Inner-product search over all vectors of a pool; thread-safe.

    Args:
        vectors: skills x dimensions, unit rows, any float type, memory-mapped or not.
        ids: one per row, sorted.
    """

    def __init__(self, vectors: NDArray[Any], ids: Sequence[str]) -> None:
        import numpy as np

        self._stored = vectors
        self._ids = ids
        small = vectors.shape[0] * vectors.shape[1] * 4 <= _RESIDENT_BYTES
        self._resident = np.asarray(vectors, dtype=np.float32) if small else None

    def search(self, query: NDArray[Any], k: int, places: Sequence[int] | None = None) -> Ranking:
        """The `k` nearest: inner product descending, then id ascending.

        Args:
            query: one unit vector.
            places: the rows to choose from; all if not given.
        """
        import numpy as np

        if places is None:
            rough = self._product(query.astype(np.float32))
            found = np.arange(len(rough))
            if k < len(rough):
                found = np.flatnonzero(rough >= np.partition(rough, len(rough) - k)[len(rough) - k] - _MARGIN)
        else:
            found = np.array(sorted(places), dtype=np.int64)
        scores = np.round(self._exact(found, query.astype(np.float64)), _DIGITS)
        order = np.argsort(-scores, kind="stable")[:k]
        return tuple(RankedSkill(self._ids[found[at]], float(scores[at])) for at in order.tolist())

    def _product(self, query: NDArray[Any]) -> NDArray[Any]:
        import numpy as np

        if self._resident is not None:
            product: NDArray[Any] = self._resident @ query
            return product
        starts = range(0, len(self._stored), _BLOCK)
        return np.concatenate([self._stored[at : at + _BLOCK].astype(np.float32) @ query for at in starts])

    def _exact(self, places: NDArray[Any], query: NDArray[Any]) -> NDArray[Any]:
        import numpy as np

        starts = range(0, len(places), _BLOCK)
        parts = [self._stored[places[at : at + _BLOCK]].astype(np.float64) @ query for at in starts]
        return np.concatenate(parts) if parts else np.zeros(0)
