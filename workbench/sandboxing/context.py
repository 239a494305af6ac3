"""The build context: which files are sent, their digest, and the tar that carries them.

Only the executable bit of a file's mode is sent, as git keeps it, and times are fixed, so that
the same content has the same name on every machine. Links are sent as links, never followed.
"""

from __future__ import annotations

import hashlib
import os
import stat
import tarfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from workbench.core.errors import ContentError, UsageError

_CHUNK = 1 << 20
_MTIME = 1577836800
"""2020-01-01; zip files cannot hold times before 1980, so 0 would break packaging in an image."""


@dataclass(frozen=True)
class Entry:
    """One path of the context, relative and POSIX. `link` is where a link points."""

    path: str
    kind: Literal["folder", "file", "link"]
    executable: bool = False
    size: int = 0
    link: str = ""


def entries(root: Path, empty: Iterable[str] = (), dockerfile: str = "Dockerfile") -> list[Entry]:
    """What is sent of a folder, sorted by path; ``.dockerignore`` is honoured.

    Args:
        root: the context.
        empty: folders whose contents are left out; they are sent even where absent.
        dockerfile: sent even where it is ignored.

    Sockets, pipes and devices are left out, as the docker CLI does.
    """
    emptied = {folder.strip("/") for folder in empty}
    found = {folder: Entry(folder, "folder") for folder in emptied if folder}
    for path in _walk(root, emptied, dockerfile):
        entry = _entry(root, path)
        if entry is not None:
            found.setdefault(path, entry)
    return [found[path] for path in sorted(found)]


def digest(root: Path, listed: Iterable[Entry]) -> str:
    """sha256 over path, kind, executable bit and content of every entry, hex."""
    state = hashlib.sha256()
    for entry in listed:
        content = _hash(root / entry.path) if entry.kind == "file" else entry.link
        row = f"{entry.kind}\0{entry.path}\0{int(entry.executable)}\0{content}\0"
        state.update(row.encode("utf-8", "surrogateescape"))
    return state.hexdigest()


def tar(root: Path, listed: Iterable[Entry], added: Mapping[str, bytes]) -> Iterator[bytes]:
    """The context as a tar stream in pieces of at most 1 MiB.

    Args:
        added: files that replace or join those of the context, such as the rewritten Dockerfile.

    Raises:
        UsageError: a file changed its size while it was sent.
    """
    for entry in listed:
        if entry.path in added:
            continue
        yield header(entry)
        if entry.kind == "file":
            yield from _content(root / entry.path, entry.size)
    yield from members((path, data, False) for path, data in sorted(added.items()))


def members(files: Iterable[tuple[str, bytes, bool]], uid: int = 0, gid: int = 0) -> Iterator[bytes]:
    """Files given as (path, bytes, executable) as a tar stream that ends the archive."""
    for path, data, executable in files:
        yield header(Entry(path, "file", executable, len(data)), uid, gid)
        yield data + b"\0" * (-len(data) % tarfile.BLOCKSIZE)
    yield b"\0" * (2 * tarfile.BLOCKSIZE)


def header(entry: Entry, uid: int = 0, gid: int = 0) -> bytes:
    """The tar header of an entry."""
    info = tarfile.TarInfo(entry.path)
    info.mtime, info.uid, info.gid, info.size = _MTIME, uid, gid, entry.size
    info.mode = 0o755 if entry.executable or entry.kind == "folder" else 0o644
    if entry.kind == "folder":
        info.type = tarfile.DIRTYPE
    elif entry.kind == "link":
        info.type, info.linkname, info.mode = tarfile.SYMTYPE, entry.link, 0o777
    return info.tobuf(tarfile.PAX_FORMAT, "utf-8", "surrogateescape")


def _walk(root: Path, emptied: set[str], dockerfile: str) -> Iterator[str]:
    """Relative paths that are sent, except below the emptied folders."""
    ignore = root / ".dockerignore"
    if ignore.is_file():
        paths = _not_ignored(root, ignore, dockerfile)
    else:
        paths = _all(root)
    for path in paths:
        if not any(path == folder or path.startswith(f"{folder}/") for folder in emptied):
            yield path


def _not_ignored(root: Path, ignore: Path, dockerfile: str) -> Iterator[str]:
    from docker.utils.build import exclude_paths

    try:
        lines = ignore.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ContentError(ignore, None, f"cannot be read: {error}") from error
    patterns = [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]
    yield from (path.replace(os.sep, "/") for path in exclude_paths(str(root), patterns, dockerfile))


def _all(root: Path) -> Iterator[str]:
    for folder, folders, files in os.walk(root):
        inside = os.path.relpath(folder, root).replace(os.sep, "/")
        prefix = "" if inside == "." else f"{inside}/"
        yield from (prefix + name for name in (*folders, *files))


def _entry(root: Path, path: str) -> Entry | None:
    try:
        status = (root / path).lstat()
        if stat.S_ISLNK(status.st_mode):
            return Entry(path, "link", link=str((root / path).readlink()))
    except OSError as error:
        raise UsageError(f"{root / path}: cannot be read: {error.strerror}") from error
    if stat.S_ISDIR(status.st_mode):
        return Entry(path, "folder")
    if stat.S_ISREG(status.st_mode):
        return Entry(path, "file", bool(status.st_mode & stat.S_IXUSR), status.st_size)
    return None


def _hash(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from error


def _content(path: Path, size: int) -> Iterator[bytes]:
    """The bytes of a file in chunks, padded to whole blocks."""
    sent = 0
    with path.open("rb") as file:
        while sent < size and (chunk := file.read(min(_CHUNK, size - sent))):
            sent += len(chunk)
            yield chunk
    if sent != size:
        raise UsageError(f"{path}: changed while it was sent; run again")
    if size % tarfile.BLOCKSIZE:
        yield b"\0" * (-size % tarfile.BLOCKSIZE)
