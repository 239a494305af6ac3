"""Writing so that a reader, or the next start, never sees half a file."""

from __future__ import annotations

import errno
import os
import secrets
import sqlite3
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from workbench.core.errors import MachineError

_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS}
"""What the disk says, whoever wrote; other errors in the block may be about something else."""

_UNWRITABLE = {*_NO_ROOM, errno.EACCES, errno.EPERM, errno.ENOTDIR, errno.EEXIST, None}
"""A read-only or full disk, or a file where the folder should be. numpy, which indexes are written
with, gives no number when a disk is full."""


@contextmanager
def atomic_path(target: Path) -> Iterator[Path]:
    """A temporary path beside `target` that replaces it when the block ends without an error.

    A link is followed, the file keeps the mode that it has, and a new one gets what the umask leaves.

    Raises:
        MachineError: the folder cannot be written, or the disk is full.
    """
    _refuse_what_is_no_file(target)
    try:
        place = Path(os.path.realpath(target))
        place.parent.mkdir(parents=True, exist_ok=True)
        temporary = place.with_name(f".{place.name[:200]}.{secrets.token_hex(4)}.part")
        temporary.touch(exist_ok=False)
        if place.exists():
            temporary.chmod(stat.S_IMODE(place.stat().st_mode))
    except OSError as error:
        raise MachineError(f"cannot write {target}: {error.strerror}; choose another place") from error
    try:
        yield temporary
        with temporary.open("rb") as written:
            os.fsync(written.fileno())
        temporary.replace(place)
    except OSError as error:
        if error.errno not in _NO_ROOM:
            raise
        raise MachineError(
            f"cannot write {target}: {error.strerror}; free some space or choose another place"
        ) from error
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def atomic_open(target: Path) -> Iterator[IO[bytes]]:
    """Like `atomic_path`, but open for writing bytes."""
    with atomic_path(target) as temporary, temporary.open("wb") as file:
        yield file


def write_text(target: Path, text: str) -> None:
    """Write a whole text file (UTF-8, newlines as given) at once or not at all."""
    with atomic_open(target) as file:
        file.write(text.encode("utf-8"))


def _refuse_what_is_no_file(target: Path) -> None:
    """A folder cannot be replaced by a file, and a device must not be: root would lose ``/dev/null``."""
    try:
        wrong = target.exists() and not target.is_file()
    except OSError:
        return  # the folder cannot be looked into; writing there says why
    if wrong:
        raise MachineError(f"cannot write {target}: it is there and is no file; choose another place")


def check_writable(target: Path) -> None:
    """See that a file could be written, before the work that it is to hold. Leaves nothing behind.

    Raises:
        MachineError: it could not be, as far as can be told now.
    """
    _refuse_what_is_no_file(target)
    folder = next(parent for parent in target.absolute().parents if parent.exists())
    try:
        with tempfile.TemporaryFile(dir=folder) as probe:
            probe.write(b"?")
    except OSError as error:
        raise MachineError(f"cannot write {target}: {error.strerror}; choose another place") from error


def unwritable(error: OSError | MachineError) -> bool:
    """Whether the folder written to is to blame, and another would do; a build can fail for other reasons."""
    cause = error.__cause__ if isinstance(error, MachineError) else error
    if isinstance(cause, sqlite3.OperationalError):
        return True
    return isinstance(cause, OSError) and cause.errno in _UNWRITABLE


def reason(error: OSError | MachineError) -> str:
    """Why a folder cannot be written, in a few words."""
    cause = error.__cause__ if isinstance(error, MachineError) else error
    return getattr(cause, "strerror", None) or "it seems to be full"
