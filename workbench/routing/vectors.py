"""The vectors of a pool on disk: half precision, memory-mapped, encoded in pieces that are kept."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import file_digest
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from workbench.core.atomic import atomic_open
from workbench.core.types import Progress
from workbench.routing.encoder import Encoder
from workbench.routing.stage import SkillCollection
from workbench.routing.text import DocumentText

if TYPE_CHECKING:
    from numpy.typing import NDArray

PIECE = 1024
"""Skills per piece: what an interrupted build loses at most."""

Unit = Literal["skill", "section"]

REVISION = 1
"""Raise when a change of code alters what is stored."""

_VECTORS = "vectors.npy"
_STARTS = "starts.npy"
_ABOUT = "about.json"
_log = logging.getLogger(__name__)


class Stored(NamedTuple):
    """The vectors of a pool.

    Attributes:
        rows: rows x dimensions, float16, memory-mapped; skills in id order.
        starts: the first row of each skill, and the number of rows; ``None`` where every skill has one.
    """

    rows: NDArray[Any]
    starts: NDArray[Any] | None


class _Texts(NamedTuple):
    """What the encoder reads of one piece: texts, how many each skill has, and which skills were cut."""

    texts: list[str]
    counts: list[int]
    capped: list[bool]


def build(
    folder: Path,
    pieces: Path,
    pool: SkillCollection,
    encoder: Encoder,
    document: DocumentText,
    progress: Progress,
    unit: Unit = "skill",
) -> None:
    """Encode every skill of a pool, in id order, and write the vectors to an empty folder.

    Finished pieces found in `pieces` are not encoded again. How many skills were cut to the
    model's input is logged and written beside the vectors.
    """
    import numpy as np

    ids = pool.ids()
    cut = 0
    counts: list[int] = []
    parts: list[Path] = []
    for start in range(0, len(ids), PIECE):
        progress("encode", start, len(ids))
        read_ = _read(pool, ids[start : start + PIECE], document, unit)
        path = _piece(pieces, start) or _encode(pieces, start, read_, encoder)
        cut += int(path.stem.split("-")[1])
        counts += read_.counts
        parts.append(path)
    progress("encode", len(ids), len(ids))
    _join(folder, parts, sum(counts))
    if unit == "section":
        np.save(folder / _STARTS, np.concatenate([[0], np.cumsum(counts)]), allow_pickle=False)
    about = {"skills": len(ids), "rows": sum(counts), "cut": cut}
    (folder / _ABOUT).write_text(json.dumps(about), encoding="utf-8")
    if cut:
        share = 100 * cut / len(ids)
        _log.warning("%d of %d skills were cut to the encoder's input (%.0f %%)", cut, len(ids), share)


@contextmanager
def writing(folder: Path, shape: tuple[int, int]) -> Iterator[Callable[[NDArray[Any]], None]]:
    """Write a folder's file of vectors, one block of rows after another.

    Not by a memory map: where the disk is full, a map kills the process.
    """
    import numpy as np

    with (folder / _VECTORS).open("wb") as file:
        header = {"descr": np.dtype(np.float16).str, "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(file, header)

        def write(rows: NDArray[Any]) -> None:
            file.write(np.asarray(rows, dtype=np.float16).tobytes())

        yield write


def read(folder: Path) -> Stored:
    """The vectors of a built index."""
    import numpy as np

    starts = folder / _STARTS
    rows: NDArray[Any] = np.load(folder / _VECTORS, mmap_mode="r")
    return Stored(rows, np.load(starts) if starts.exists() else None)


def lengths(rows: NDArray[Any]) -> NDArray[Any]:
    """The length of each row, float32: of a unit vector, what half precision has left of it."""
    import numpy as np

    starts = range(0, len(rows), PIECE)
    parts = [np.linalg.norm(rows[at : at + PIECE].astype(np.float32), axis=1) for at in starts]
    return np.concatenate(parts)


def _read(pool: SkillCollection, ids: Sequence[str], document: DocumentText, unit: Unit) -> _Texts:
    found = _Texts([], [], [])
    for skill in pool.skills(ids):
        texts = document.parts(skill) if unit == "section" else [document.render(skill)]
        found.texts.extend(texts)
        found.counts.append(len(texts))
        found.capped.append(unit == "skill" and document.cuts(skill))
    return found


def _encode(pieces: Path, start: int, given: _Texts, encoder: Encoder) -> Path:
    """Encode one piece and keep it as ``<start>-<skills cut>-<sha256>.npy``."""
    import numpy as np

    vectors, cut = encoder.encode(given.texts)
    ends = np.cumsum(given.counts)
    by_tokens = [any(cut[end - count : end]) for end, count in zip(ends, given.counts, strict=True)]
    lost = sum(map(any, zip(given.capped, by_tokens, strict=True)))
    working = pieces / "working.npy"
    write_piece(working, vectors)
    return working.rename(pieces / f"{start:08d}-{lost}-{_sum(working)}.npy")


def write_piece(path: Path, rows: NDArray[Any]) -> None:
    """Write rows in half precision, whole or not at all."""
    import numpy as np

    with atomic_open(path) as file:
        np.save(file, rows.astype(np.float16), allow_pickle=False)


def _join(folder: Path, parts: Sequence[Path], rows: int) -> None:
    """Copy the pieces, one at a time, into the file of vectors."""
    import numpy as np

    size = np.load(parts[0], mmap_mode="r").shape[1]
    with writing(folder, (rows, size)) as write:
        for path in parts:
            write(np.load(path))


def _piece(pieces: Path, start: int) -> Path | None:
    """A finished piece whose content is what its name says."""
    for path in pieces.glob(f"{start:08d}-*.npy"):
        if path.stem.split("-")[2] == _sum(path):
            return path
        path.unlink()
    return None


def _sum(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()
