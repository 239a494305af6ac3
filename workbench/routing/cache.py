"""Indexes on disk: built once, found whole or not at all, safe with several processes."""

from __future__ import annotations

import json
import logging
import os
import shutil
import tempfile
import weakref
from collections.abc import Callable
from functools import partial
from hashlib import file_digest
from pathlib import Path
from threading import Lock
from typing import Generic, TypeVar

from workbench.core.atomic import reason, unwritable
from workbench.core.digest import short
from workbench.core.errors import MachineError
from workbench.core.locks import OTHER_CACHE, exclusive

Build = Callable[[Path, Path], None]
"""Writes an index: (empty folder to write to, folder of pieces kept from an interrupted build)."""

SCHEMA_VERSION = 1
_HEADER = "header.json"
_log = logging.getLogger(__name__)
T = TypeVar("T")


class IndexCache:
    """The folder of indexes, by fingerprint.

    ::

        <cache>/indexes/
          <fingerprint>/            one index; whole, because it is renamed into place when done
            header.json             written last: size and sha256 of every other file
          <fingerprint>.pieces/     parts of a long build, kept until it is done
          <fingerprint>.building/   being written
          <fingerprint>.lock        held while an index is looked up, built and published

    Nothing in it is ever unpickled. Where the folder cannot be written, indexes live in a
    temporary folder as long as this object does.
    """

    def __init__(self, cache: Path) -> None:
        self.root = cache / "indexes"
        self._temporary: Path | None = None

    def open(self, fingerprint: str, build: Build) -> Path:
        """The folder of an index; built if there is none, or if what is there is damaged.

        Raises:
            MachineError: it can be written neither here nor in the temporary folder.
        """
        try:
            return self._open(self.root, fingerprint, build)
        except (OSError, MachineError) as error:
            if not unwritable(error):
                raise
            _log.warning("cannot write to %s (%s); the index is not kept", self.root, reason(error))
        try:
            return self._open(self._temporary_root(), fingerprint, build)
        except (OSError, MachineError) as error:
            if not unwritable(error):
                raise
            raise MachineError(
                f"no place to write an index: neither {self.root} nor {tempfile.gettempdir()} "
                f"({reason(error)}); free some space or {OTHER_CACHE}"
            ) from error

    def _temporary_root(self) -> Path:
        if self._temporary is None:
            self._temporary = Path(tempfile.mkdtemp(prefix="workbench-indexes-"))
            weakref.finalize(self, shutil.rmtree, self._temporary, ignore_errors=True)
        return self._temporary

    def _open(self, root: Path, fingerprint: str, build: Build) -> Path:
        folder = root / fingerprint
        if _fault(folder) is None:
            return folder
        waiting = partial(
            _log.warning, "another process is building the index %s; waiting", short(fingerprint)
        )
        with exclusive(root / f"{fingerprint}.lock", waiting):
            fault = _fault(folder)
            if fault is None:
                return folder
            if folder.exists():
                _log.warning("the index %s is damaged (%s); building it again", short(fingerprint), fault)
                shutil.rmtree(folder)
            _publish(root, fingerprint, build)
        return folder


def _publish(root: Path, fingerprint: str, build: Build) -> None:
    working, pieces = root / f"{fingerprint}.building", root / f"{fingerprint}.pieces"
    shutil.rmtree(working, ignore_errors=True)
    working.mkdir()
    pieces.mkdir(exist_ok=True)
    try:
        build(working, pieces)
        _seal(working)
        working.rename(root / fingerprint)
    finally:
        shutil.rmtree(working, ignore_errors=True)
    shutil.rmtree(pieces, ignore_errors=True)


def _seal(folder: Path) -> None:
    """Write the header that says what the folder holds, and push everything to the disk."""
    files = {
        path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*")) if path.is_file()
    }
    header = {"schema_version": SCHEMA_VERSION, "files": {name: _sum(path) for name, path in files.items()}}
    (folder / _HEADER).write_text(json.dumps(header, indent=1), encoding="utf-8")
    for path in (*files.values(), folder / _HEADER):
        with path.open("rb") as file:
            os.fsync(file.fileno())


def _fault(folder: Path) -> str | None:
    """Why the folder is not a whole index, or ``None``."""
    try:
        header = json.loads((folder / _HEADER).read_text(encoding="utf-8"))
        if header["schema_version"] != SCHEMA_VERSION:
            return f"schema version {header['schema_version']}"
        if not header["files"]:
            return "no files in its header"
        for name, expected in header["files"].items():
            if _sum(folder / name) != expected:
                return f"{name} is not what was written"
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        return f"{type(error).__name__} in its header" if isinstance(error, KeyError) else str(error)
    return None


def _sum(path: Path) -> list[int | str]:
    with path.open("rb") as file:
        return [path.stat().st_size, file_digest(file, "sha256").hexdigest()]


class Once(Generic[T]):
    """A value made when first asked for, once, whichever thread asks."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._lock = Lock()
        self._made: list[T] = []

    def __call__(self) -> T:
        """The value; the first caller makes it, an error is raised to it and not kept."""
        if not self._made:
            with self._lock:
                if not self._made:
                    self._made.append(self._make())
        return self._made[0]
