"""Finding skills in a folder tree, and taking one skill's files, without leaving the root.

- A folder with a ``SKILL.md``, in any case, is a skill, however deep (to 12 levels).
- A skill inside another skill's folder is a skill of its own; its files also stay part of the
  outer skill's tree, since whole folders are installed. Both are counted.
- A skill is taken as its author made it or not at all: a link out of the root, a special file or
  a bound that is passed refuses the whole skill, with the reason.
- A link inside the root counts as what it points to and is recorded. The walk never enters a
  linked folder (its target is walked under its own path), so it has no cycles.
- Version control's own folders (``.git``, ``.hg``, ``.svn``) are nobody's files.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from workbench.skills.reader import MAX_BYTES
from workbench.skills.refusal import Problem, RefusedError
from workbench.skills.skill import SkillFile, SkillTree

MAX_DEPTH = 12
MAX_FILES = 5_000
MAX_TREE_BYTES = 100 * 1000 * 1000
SKILL_FILE = "SKILL.md"
VERSION_CONTROL = {".git", ".hg", ".svn"}

Record = Callable[[str], None]
"""Told about each link that was resolved inside the root, as ``link -> target``."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """Something found: a skill's folder, or a place that was refused.

    Attributes:
        path: folder relative to the root, POSIX, ``.`` for the root itself.
        file: name of its SKILL.md as spelled; empty where there is none.
        outer: path of the skill whose folder holds this one, if any.
        problem: set when it is refused already.
    """

    path: str
    file: str = ""
    outer: str | None = None
    problem: Problem | None = None


@dataclass(frozen=True, slots=True)
class _Place:
    """A folder on the walk."""

    path: str
    depth: int
    outer: str | None


def walk(root: Path, record: Record = lambda link: None) -> Iterator[Candidate]:
    """Every skill under a root, in sorted order of the tree.

    Raises:
        OSError: the root itself cannot be read.
    """
    top = root.resolve(strict=True)
    os.scandir(top).close()
    yield from _walk(top, _Place(".", 0, None), record)


def read_tree(root: Path, path: str, record: Record = lambda link: None) -> SkillTree:
    """All files of the skill at `path` under `root`, byte-exact; its SKILL.md is spelled so.

    Raises:
        RefusedError: a link out of the root, a special file, or a bound passed.
    """
    top = root.resolve(strict=True)
    reader = _TreeReader(top, record)
    try:
        reader.list_files(top / path, "", ())
        return SkillTree(reader.read())
    except OSError as error:
        name = Path(str(error.filename or path)).name
        raise RefusedError("unreadable", f"{name}: {error.strerror}") from None


def _walk(top: Path, place: _Place, record: Record) -> Iterator[Candidate]:
    folder = top / place.path
    try:
        entries = _entries(folder)
    except OSError as error:
        yield Candidate(place.path, problem=Problem("unreadable", error.strerror or str(error)))
        return
    spellings = [entry.name for entry in entries if _is_skill_file(entry)]
    inner = _Place(place.path, place.depth, place.path) if spellings else place
    if spellings:
        spellings.sort(key=lambda name: (name != SKILL_FILE, name))
        yield _own(top, place, spellings[0], record)
        for other in spellings[1:]:
            taken = Problem("second_skill_file", f"{other} beside {spellings[0]}")
            yield Candidate(place.path, other, place.outer, taken)
    for entry in entries:
        yield from _descend(top, inner, entry, record)


def _own(top: Path, place: _Place, file: str, record: Record) -> Candidate:
    """The skill of a folder, refused at once where its SKILL.md is no file inside the root."""
    try:
        resolved = _inside(top, top / place.path / file, record)
        status = resolved.lstat()
        if not stat.S_ISREG(status.st_mode):
            raise RefusedError("special_file", f"{file} is no regular file")
        if status.st_size > MAX_BYTES:
            raise RefusedError("too_large", f"{file} has {status.st_size} bytes; {MAX_BYTES} are read")
    except RefusedError as refusal:
        return Candidate(place.path, file, place.outer, refusal.problem)
    return Candidate(place.path, file, place.outer)


def _descend(top: Path, place: _Place, entry: os.DirEntry[str], record: Record) -> Iterator[Candidate]:
    path = entry.name if place.path == "." else f"{place.path}/{entry.name}"
    if entry.is_symlink():
        if place.outer is None:
            yield from _linked(top, path, record)
    elif entry.is_dir(follow_symlinks=False):
        if not _is_utf8(entry.name):
            shown = path.encode("utf-8", "backslashreplace").decode()
            yield Candidate(shown, problem=Problem("path_not_utf8", "folder name is not UTF-8"))
        elif place.depth == MAX_DEPTH:
            problem = Problem("too_deep", f"deeper than {MAX_DEPTH} levels; not searched")
            yield Candidate(path, problem=problem)
        else:
            yield from _walk(top, _Place(path, place.depth + 1, place.outer), record)


def _linked(top: Path, path: str, record: Record) -> Iterator[Candidate]:
    """A link outside any skill: refused when it is broken or leads a folder out of the root."""
    link = top / path
    try:
        if link.is_dir() or not link.exists():
            _inside(top, link, record)
    except RefusedError as refusal:
        yield Candidate(path, problem=refusal.problem)
    except OSError as error:
        yield Candidate(path, problem=Problem("unreadable", error.strerror or str(error)))


class _TreeReader:
    """Lists one skill's files under the bounds, then reads them."""

    def __init__(self, top: Path, record: Record) -> None:
        self._top = top
        self._record = record
        self._files: dict[str, Path] = {}
        self._bytes = 0
        self._entries = 0

    def list_files(self, folder: Path, prefix: str, chain: tuple[Path, ...]) -> None:
        """Collect the files under a folder; `chain` holds the real folders above it."""
        if len(chain) > MAX_DEPTH:
            raise RefusedError("too_deep", f"{prefix} is deeper than {MAX_DEPTH} levels")
        if folder in chain:
            raise RefusedError("symlink_cycle", f"{prefix} leads back to a folder above it")
        for entry in _entries(folder):
            self._entries += 1
            if self._entries > MAX_FILES:
                raise RefusedError("too_many_files", f"more than {MAX_FILES} files and folders")
            if not _is_utf8(entry.name):
                raise RefusedError("path_not_utf8", f"{prefix}{entry.name!a}")
            path = folder / entry.name
            if entry.is_symlink():
                path = _inside(self._top, path, self._record)
            self._take(path, f"{prefix}{entry.name}", (*chain, folder))

    def _take(self, path: Path, name: str, chain: tuple[Path, ...]) -> None:
        status = path.lstat()
        if stat.S_ISDIR(status.st_mode):
            self.list_files(path, f"{name}/", chain)
        elif stat.S_ISREG(status.st_mode):
            self._files[name] = path
            self._bytes += status.st_size
            if self._bytes > MAX_TREE_BYTES:
                raise RefusedError("too_large", f"more than {MAX_TREE_BYTES} bytes")
        else:
            raise RefusedError("special_file", f"{name} is a FIFO, socket or device")

    def read(self) -> dict[str, SkillFile]:
        """The files' bytes, the skill's own file under the name SKILL.md."""
        own = min(
            (name for name in self._files if name.lower() == "skill.md"),
            key=lambda name: (name != SKILL_FILE, name),
            default=None,
        )
        if own is None:
            raise RefusedError("no_skill_file", f"no {SKILL_FILE}")
        return {SKILL_FILE if name == own else name: _read_file(name, p) for name, p in self._files.items()}


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    with os.scandir(folder) as entries:
        return sorted((e for e in entries if e.name not in VERSION_CONTROL), key=lambda e: e.name)


def _inside(top: Path, path: Path, record: Record) -> Path:
    """Where a path really leads, which must be inside the root; links are recorded.

    Raises:
        RefusedError: ``symlink_escape``, ``symlink_broken`` or ``symlink_cycle``.
    """
    if not path.is_symlink():
        return path
    shown = path.relative_to(top).as_posix()
    try:
        resolved = path.resolve(strict=True)
    except FileNotFoundError:
        raise RefusedError("symlink_broken", f"{shown} -> {path.readlink()}") from None
    except (OSError, RuntimeError):
        raise RefusedError("symlink_cycle", f"{shown} leads to itself") from None
    if not resolved.is_relative_to(top):
        raise RefusedError("symlink_escape", f"{shown} -> {path.readlink()}")
    record(f"{shown} -> {resolved.relative_to(top).as_posix()}")
    return resolved


def _read_file(name: str, path: Path) -> SkillFile:
    """A regular file's bytes; its type is checked again once it is open, so that no swap goes unseen."""
    flags = os.O_RDONLY
    for flag in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"):
        flags |= getattr(os, flag, 0)
    handle = os.open(path, flags)
    with os.fdopen(handle, "rb") as file:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_TREE_BYTES:
            raise RefusedError("special_file", f"{name} changed while it was read")
        return SkillFile(file.read(MAX_TREE_BYTES), bool(status.st_mode & stat.S_IXUSR))


def _is_skill_file(entry: os.DirEntry[str]) -> bool:
    return entry.name.lower() == "skill.md" and not entry.is_dir(follow_symlinks=False)


def _is_utf8(name: str) -> bool:
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
