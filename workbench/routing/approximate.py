"""Approximate search by faiss: graphs (HNSW) and inverted lists (IVF), for pools too large to look through.

What faiss proposes is scored exactly (`search.ExactSearch`), so a score is never approximate; only
a skill can be missed. How many are is measured when an index is built, and said.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field as Option

from workbench.core.content import Content
from workbench.core.errors import MissingDataError
from workbench.routing.search import ExactSearch

if TYPE_CHECKING:
    from numpy.typing import NDArray

_INDEX = "faiss.index"
_ABOUT = "recall.json"
_ROWS = 16_384
_SAMPLE = 100
_AT = 10
_log = logging.getLogger(__name__)


class SearchChoice(Content):
    """How a pool's vectors are searched.

    Attributes:
        index: ``exact`` looks at every vector, on a GPU if faiss has one; ``hnsw`` walks a graph;
            ``ivf`` looks into lists.
        links: of hnsw: links per vector; more find more and need more memory.
        build_effort: of hnsw: candidates looked at while the graph is built.
        effort: of hnsw: candidates looked at per query.
        lists: of ivf: number of lists; ``None`` is 4 times the square root of the vectors' number.
        probes: of ivf: lists looked into per query.
        oversample: proposals per result asked for, scored exactly.
    """

    index: Literal["exact", "hnsw", "ivf"] = "exact"
    links: int = Option(32, ge=2)
    build_effort: int = Option(80, ge=1)
    effort: int = Option(256, ge=1)
    lists: int | None = Option(None, ge=1)
    probes: int = Option(32, ge=1)
    oversample: int = Option(4, ge=1)


def require() -> None:
    """Check that faiss is installed.

    Raises:
        MissingDataError: it is not; says what to type.
    """
    if find_spec("faiss") is None:
        raise MissingDataError(
            "this router searches with faiss, which is not installed; "
            "type: pip install 'skill-workbench[dense]', or choose `search: {index: exact}` in the recipe"
        )


def build(folder: Path, rows: NDArray[Any], scales: NDArray[Any] | None, choice: SearchChoice) -> None:
    """Build an index over rows (times their scales), measure it, and write both to an empty folder."""
    require()
    import faiss

    index = _empty(faiss, rows.shape, choice)
    threads = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)  # with several, a graph depends on which thread came first
    try:
        if not index.is_trained:
            index.train(_block(rows, scales, slice(0, min(len(rows), 256 * index.nlist))))
        for block in blocks(rows, scales):
            index.add(block)
    finally:
        faiss.omp_set_num_threads(threads)
    try:
        faiss.write_index(index, str(folder / _INDEX))
    except RuntimeError as error:  # faiss' word for a disk that is full
        raise OSError(str(error)) from error
    share = _recall(index, rows, scales, choice)
    (folder / _ABOUT).write_text(json.dumps({"recall": share, "at": _AT}), encoding="utf-8")
    _log.warning("%s index: recall@%d %.3f against exact search", choice.index, _AT, share)


def recall(folder: Path) -> float:
    """The recall@10 measured when the index was built: the pool's own vectors as queries."""
    found: float = json.loads((folder / _ABOUT).read_text(encoding="utf-8"))["recall"]
    return found


class Approximate:
    """A `search.Proposer` over a built index; thread-safe. On a GPU if faiss has one."""

    def __init__(self, index: Any, choice: SearchChoice) -> None:
        self._index = index
        self._choice = choice
        _set_effort(index, choice)

    @classmethod
    def open(cls, folder: Path, choice: SearchChoice) -> Approximate:
        """The index that `build` wrote. Graphs stay on the CPU: faiss has none for GPUs."""
        require()
        import faiss

        index = faiss.read_index(str(folder / _INDEX))
        if choice.index == "ivf" and getattr(faiss, "get_num_gpus", int)() > 0:
            index = faiss.index_cpu_to_all_gpus(index)
        return cls(index, choice)

    def propose(self, queries: NDArray[Any], count: int) -> list[NDArray[Any]]:
        """The rows that faiss finds; where it finds fewer, it fills up with -1, which is left out."""
        import numpy as np

        wanted = min(count * self._choice.oversample, self._index.ntotal)
        _, found = self._index.search(np.ascontiguousarray(queries, dtype=np.float32), wanted)
        return [np.unique(row[row >= 0]) for row in found]


def _empty(faiss: Any, shape: Sequence[int], choice: SearchChoice) -> Any:
    count, size = shape
    if choice.index == "hnsw":
        index = faiss.IndexHNSWFlat(size, choice.links, faiss.METRIC_INNER_PRODUCT)
        index.hnsw.efConstruction = choice.build_effort
        return index
    lists = min(choice.lists or max(1, round(4 * count**0.5)), max(1, count // 39))  # faiss wants 39 a list
    quantizer = faiss.IndexFlatIP(size)
    index = faiss.IndexIVFFlat(quantizer, size, lists, faiss.METRIC_INNER_PRODUCT)
    index.cp.seed = 0
    return index


def _set_effort(index: Any, choice: SearchChoice) -> None:
    if choice.index == "hnsw":
        index.hnsw.efSearch = choice.effort
    else:
        index.nprobe = min(choice.probes, index.nlist)


def blocks(rows: NDArray[Any], scales: NDArray[Any] | None) -> Iterator[NDArray[Any]]:
    """The rows, times their scales, in single precision, a few thousand at a time."""
    for start in range(0, len(rows), _ROWS):
        yield _block(rows, scales, slice(start, start + _ROWS))


def _block(rows: NDArray[Any], scales: NDArray[Any] | None, part: slice) -> NDArray[Any]:
    import numpy as np

    block: NDArray[Any] = np.ascontiguousarray(rows[part], dtype=np.float32)
    if scales is not None:
        block *= scales[part, None].astype(np.float32)
    return block


def _recall(index: Any, rows: NDArray[Any], scales: NDArray[Any] | None, choice: SearchChoice) -> float:
    """Share of the exact ten nearest rows that are proposed, over evenly spaced rows as queries."""
    import numpy as np

    places = np.unique(np.linspace(0, len(rows) - 1, min(_SAMPLE, len(rows))).astype(int))
    names = [f"{place:09d}" for place in range(len(rows))]
    queries = np.asarray(rows[places], dtype=np.float32)
    exact = ExactSearch(rows, names, scales).search(queries, _AT)
    proposed = Approximate(index, choice).propose(queries, _AT)
    shares = [
        np.isin([int(entry.id) for entry in nearest], found).mean()
        for nearest, found in zip(exact, proposed, strict=True)
    ]
    return float(np.mean(shares))
