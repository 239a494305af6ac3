"""The vectors of a pool on disk: half precision, memory-mapped, encoded in pieces that are kept."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from hashlib import file_digest
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.core.atomic import atomic_open
from workbench.routing.encoder import Encoder
from workbench.routing.stage import Progress, SkillCollection
from workbench.routing.text import DocumentText

if TYPE_CHECKING:
    from numpy.typing import NDArray

PIECE = 1024
"""Skills per piece: what an interrupted build loses at most."""

_VECTORS = "vectors.npy"
_ABOUT = "about.json"
_log = logging.getLogger(__name__)


def build(
    folder: Path,
    pieces: Path,
    pool: SkillCollection,
    encoder: Encoder,
    document: DocumentText,
    progress: Progress,
) -> None:
    """Encode every skill of a pool, in id order, and write the vectors to an empty folder.

    Finished pieces found in `pieces` are not encoded again. How many skills were cut to the
    model's input is logged and written beside the vectors.
    """
    import numpy as np

    ids = pool.ids()
    cut = 0
    parts: list[Path] = []
    for start in range(0, len(ids), PIECE):
        progress("encode", start, len(ids))
        path = _piece(pieces, start)
        if path is None:
            path = _encode(pieces, start, ids[start : start + PIECE], pool, encoder, document)
        cut += int(path.stem.split("-")[1])
        parts.append(path)
    progress("encode", len(ids), len(ids))
    vectors: Any = None
    for at, path in enumerate(parts):
        part = np.load(path)
        if vectors is None:
            shape = (len(ids), part.shape[1])
            vectors = np.lib.format.open_memmap(folder / _VECTORS, "w+", dtype=np.float16, shape=shape)
        vectors[at * PIECE : at * PIECE + len(part)] = part
    vectors.flush()
    (folder / _ABOUT).write_text(json.dumps({"skills": len(ids), "cut": cut}), encoding="utf-8")
    if cut:
        _log.warning(
            "%d of %d skills were cut to the encoder's input (%.0f %%)", cut, len(ids), 100 * cut / len(ids)
        )


def read(folder: Path) -> NDArray[Any]:
    """The vectors of a built index, skills in id order x dimensions, float16, memory-mapped."""
    import numpy as np

    vectors: NDArray[Any] = np.load(folder / _VECTORS, mmap_mode="r")
    return vectors


def _encode(
    pieces: Path,
    start: int,
    ids: Sequence[str],
    pool: SkillCollection,
    encoder: Encoder,
    document: DocumentText,
) -> Path:
    """Encode one piece and keep it as ``<start>-<number cut>-<sha256>.npy``."""
    import numpy as np

    texts, capped = [], []
    for skill in pool.skills(ids):
        texts.append(document.render(skill))
        capped.append(document.cuts(skill))
    vectors, cut = encoder.encode(texts)
    lost = sum(by_caps or by_tokens for by_caps, by_tokens in zip(capped, cut, strict=True))
    working = pieces / "working.npy"
    with atomic_open(working) as file:
        np.save(file, vectors.astype(np.float16), allow_pickle=False)
    return working.rename(pieces / f"{start:08d}-{lost}-{_sum(working)}.npy")


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
