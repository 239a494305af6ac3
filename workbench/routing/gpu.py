"""Exact search on a GPU: faiss' flat index proposes, double precision decides, as everywhere."""

from __future__ import annotations

import logging
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from workbench.routing.approximate import blocks
from workbench.routing.search import MARGIN

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MOST = 2048
"""Results per query that faiss' GPU indexes give: https://github.com/facebookresearch/faiss/wiki/Faiss-on-the-GPU."""
_SLACK = 16
_log = logging.getLogger(__name__)


class Flat:
    """A `search.Proposer` over a flat index of all rows: no row that could be among the best is missed.

    A flat index computes in single precision. So it is asked for more than are wanted, until the last
    one it gives is further below the last one wanted than rounding can carry it.

    Args:
        index: a faiss flat inner-product index over the rows, already scaled.
        starts: the first row of each skill, and the number of rows, where skills have several; then
            skills are counted, not rows.
    """

    def __init__(self, index: Any, starts: NDArray[Any] | None = None) -> None:
        self._index = index
        self._starts = starts

    def propose(self, queries: NDArray[Any], count: int) -> list[NDArray[Any]]:
        """For each query (queries x dimensions, float32): every row that may be among the `count` best."""
        import numpy as np

        total = self._index.ntotal
        found: list[NDArray[Any]] = [np.arange(total)] * len(queries)
        left, wanted = list(range(len(queries))), count + _SLACK
        while left and wanted <= min(_MOST, total):
            scores, rows = self._index.search(np.ascontiguousarray(queries[left]), wanted)
            open_still = []
            for place, score, row in zip(left, scores, rows, strict=True):
                last = self._last_wanted(row, count)
                if last is not None and score[-1] < score[last] - MARGIN:
                    found[place] = np.sort(row[score >= score[last] - MARGIN])
                else:
                    open_still.append(place)
            left, wanted = open_still, 2 * wanted
        return found

    def _last_wanted(self, rows: NDArray[Any], count: int) -> int | None:
        """Where, among rows by falling score, the `count`-th skill comes; ``None`` if it does not."""
        import numpy as np

        if self._starts is None:
            return count - 1
        skills = np.searchsorted(self._starts, rows, side="right")
        _, first = np.unique(skills, return_index=True)
        return int(np.sort(first)[count - 1]) if len(first) >= count else None


def flat(
    rows: NDArray[Any], scales: NDArray[Any] | None, starts: NDArray[Any] | None, faiss: Any = None
) -> Flat | None:
    """The rows on a GPU; ``None`` where faiss has none, or they do not fit on it.

    Args:
        rows: rows x dimensions, any float type.
        scales: what each row's inner product is multiplied by.
        starts: see `Flat`.
        faiss: the library, unless it is to be looked for.
    """
    if faiss is None:
        if find_spec("faiss") is None:
            return None
        import faiss
    if getattr(faiss, "get_num_gpus", int)() < 1 or not len(rows):
        return None
    try:
        index = faiss.GpuIndexFlatIP(faiss.StandardGpuResources(), rows.shape[1])
        for block in blocks(rows, scales):
            index.add(block)
        error = _error(index, rows, scales)
    except RuntimeError as full:  # faiss' word for a GPU that has no room, or is too old
        _log.warning("searching on the CPU: %s", str(full).strip().splitlines()[-1])
        return None
    if error > MARGIN / 2:
        _log.warning("searching on the CPU: scores of this GPU are off by up to %.1e", error)
        return None
    return Flat(index, starts)


def _error(index: Any, rows: NDArray[Any], scales: NDArray[Any] | None) -> float:
    """Largest error of the index' scores over a few rows as queries: a GPU may multiply in less precision."""
    import numpy as np

    queries = next(blocks(rows[:_SLACK], None))
    scores, found = index.search(queries, min(_SLACK, len(rows)))
    wide = rows[found].astype(np.float64)
    if scales is not None:
        wide *= scales[found][:, :, None]
    exact = np.einsum("qrd,qd->qr", wide, queries.astype(np.float64))
    return float(np.abs(scores - exact).max())
