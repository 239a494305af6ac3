"""Writing the file of a pool."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from workbench import __version__
from workbench.core.atomic import atomic_path
from workbench.core.digest import digest_parts
from workbench.core.errors import MachineError
from workbench.skills import schema
from workbench.skills.folders import safe_folder
from workbench.skills.reader import READER_VERSION
from workbench.skills.render import normal_body, normal_description, normal_name, render_skill
from workbench.skills.schema import BuildCounts, PoolHeader
from workbench.skills.skill import SkillFile, SkillTree

_NO_PLACE = ("SQLITE_FULL", "SQLITE_IOERR", "SQLITE_READONLY", "SQLITE_CANTOPEN")


@dataclass(frozen=True, slots=True)
class Entry:
    """One skill to write.

    Attributes:
        name, description, body: in the normal form of `render`.
        tree: its files; ``None`` when it came as text alone.
    """

    id: str
    name: str
    description: str
    body: str
    folder: str
    tree: SkillTree | None = None


def text_entry(skill_id: str, name: str, description: str, body: str) -> Entry:
    """An entry from text alone, brought into normal form; its folder is the id's last segment."""
    last = skill_id.rsplit("/", 1)[-1]
    shown = normal_name(name) or last
    return Entry(skill_id, shown, normal_description(description), normal_body(body), safe_folder(last))


def write_pool(path: Path, name: str, entries: Iterable[Entry], sources: tuple[str, ...] = ()) -> PoolHeader:
    """Write a pool of skills that need no reading; atomically. May be empty.

    Raises:
        ValueError: an id occurs twice.
        MachineError: the file cannot be written.
    """
    with atomic_path(path) as temporary, PoolWriter(temporary) as writer:
        for entry in entries:
            if not writer.add(entry):
                raise ValueError(f"id {entry.id!r} occurs twice")
        counts = BuildCounts(found=len(writer), accepted=len(writer))
        return writer.finish(name, counts, sources=sources)


class PoolWriter:
    """Fills one new database file; `finish` seals it. Memory holds ids and blob digests only."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._ids: set[str] = set()
        self._blobs: dict[str, int] = {}
        self._text_bytes = self._files = self._file_bytes = 0
        self._connection = sqlite3.connect(path, isolation_level=None)
        try:
            self._begin()
        except sqlite3.OperationalError as error:
            self._close(error)
            raise

    def _begin(self) -> None:
        for pragma in (
            f"page_size = {schema.PAGE_SIZE}",
            f"application_id = {schema.APPLICATION_ID}",
            f"user_version = {schema.SCHEMA_VERSION}",
            "journal_mode = OFF",
            "synchronous = OFF",
        ):
            self._connection.execute(f"PRAGMA {pragma}")
        self._connection.executescript(schema.TABLES)
        self._connection.execute("BEGIN")

    def __enter__(self) -> PoolWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close(error)

    def _close(self, error: BaseException | None) -> None:
        """Close the file; an error of a disk is raised as what it is."""
        self._connection.close()
        if isinstance(error, sqlite3.OperationalError) and error.sqlite_errorname.startswith(_NO_PLACE):
            raise MachineError(f"cannot write {self._path.parent}: {error}; choose another place") from error

    def __len__(self) -> int:
        return len(self._ids)

    def add(self, entry: Entry) -> bool:
        """Add a skill; ``False``, and nothing done, when its id is taken."""
        if entry.id in self._ids:
            return False
        self._ids.add(entry.id)
        key = len(self._ids)
        body = entry.body.encode("utf-8")
        digest = (entry.tree or text_tree(entry.name, entry.description, entry.body)).digest
        text_digest = schema.text_digest(entry.name, entry.description, body)
        row = (key, entry.id, entry.name, entry.description, entry.folder, digest, text_digest)
        self._connection.execute("INSERT INTO skill VALUES (?, ?, ?, ?, ?, ?, ?)", row)
        self._connection.execute("INSERT INTO body VALUES (?, ?)", (key, body))
        self._text_bytes += len(body)
        for path, file in entry.tree.files.items() if entry.tree else ():
            row_of_file = (key, path, int(file.executable), self._blob(file))
            self._connection.execute("INSERT INTO file VALUES (?, ?, ?, ?)", row_of_file)
            self._files += 1
        return True

    def finish(
        self,
        name: str,
        counts: BuildCounts,
        *,
        sources: tuple[str, ...],
        signature: str = "",
        links: tuple[str, ...] = (),
    ) -> PoolHeader:
        """Index the file, compute its fingerprint and write the header."""
        for statement in schema.INDEXES:
            self._connection.execute(statement)
        header = PoolHeader(
            reader_version=READER_VERSION,
            workbench_version=__version__,
            name=name,
            fingerprint=fingerprint_of(self._connection),
            count=len(self._ids),
            text_bytes=self._text_bytes,
            files=self._files,
            file_bytes=self._file_bytes,
            sources=sources,
            signature=signature,
            counts=counts,
            links=links,
        )
        self._connection.execute("INSERT INTO header VALUES (?, ?)", header.sealed())
        self._connection.execute("COMMIT")
        return header

    def _blob(self, file: SkillFile) -> int:
        digest = file.digest
        if digest not in self._blobs:
            self._blobs[digest] = len(self._blobs) + 1
            self._connection.execute("INSERT INTO blob VALUES (?, ?)", (self._blobs[digest], file.data))
            self._file_bytes += len(file.data)
        return self._blobs[digest]


def text_tree(name: str, description: str, body: str) -> SkillTree:
    """The tree of a skill that came as text alone: one rendered SKILL.md."""
    return SkillTree({"SKILL.md": SkillFile(render_skill(name, description, body))})


def fingerprint_of(connection: sqlite3.Connection) -> str:
    """sha256 over (id, folder, tree digest, text digest) of every skill in id order.

    It covers all that a router or an agent can see of a pool, and nothing else: not its name,
    its sources, their order or their place on disk.
    """
    rows: Iterator[tuple[str, ...]] = connection.execute(
        "SELECT id, folder, digest, text_digest FROM skill ORDER BY id"
    )
    return digest_parts(part for row in rows for part in row)
