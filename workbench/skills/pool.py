"""A pool: an immutable, fingerprinted collection of skills, read lazily from one file."""

from __future__ import annotations

import sqlite3
import threading
import weakref
from collections.abc import Iterable, Iterator
from heapq import nlargest
from pathlib import Path
from typing import Any

from workbench.core.errors import MissingDataError, UnknownNameError
from workbench.skills import schema
from workbench.skills.schema import PoolHeader
from workbench.skills.skill import Skill, SkillFile, SkillTree
from workbench.skills.writer import fingerprint_of, text_tree

_CHUNK = 256
_SKILL = (
    "SELECT skill.id, name, description, text, folder, digest, text_digest"
    " FROM skill JOIN body ON body.key = skill.key"
)
_MAGIC = b"SQLite format 3\0"


class Pool:
    """Skills by id. Ids are unique and sorted; names need not be unique.

    Opening reads the header alone; bodies stay on disk. Every text and file that is read is
    checked against its digest. All methods may be called from several threads at once.

    Args:
        path: a file that `PoolWriter` wrote.

    Raises:
        MissingDataError: no file, not a pool, another version, or damaged (also by every method
            that meets the damage later); the message says how to build it again.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._ids: tuple[str, ...] | None = None
        self._connection = self._connect()
        self._close = weakref.finalize(self, self._connection.close)
        try:
            self.header = self._read_header()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Release the file. Also done when the pool is no longer used."""
        self._close()

    @property
    def name(self) -> str:
        """The name it was built under."""
        return self.header.name

    @property
    def fingerprint(self) -> str:
        """sha256 of the content, hex; equal content has equal fingerprints wherever it came from."""
        return self.header.fingerprint

    def __len__(self) -> int:
        return self.header.count

    def ids(self) -> tuple[str, ...]:
        """All ids, sorted."""
        if self._ids is None:
            self._ids = tuple(row[0] for row in self._rows("SELECT id FROM skill ORDER BY id"))
        return self._ids

    def __contains__(self, skill_id: object) -> bool:
        return isinstance(skill_id, str) and bool(self._rows("SELECT 1 FROM skill WHERE id = ?", skill_id))

    def get(self, skill_id: str) -> Skill:
        """One skill.

        Raises:
            UnknownNameError: no such id; names the nearest one.
        """
        rows = self._rows(f"{_SKILL} WHERE skill.id = ?", skill_id)
        if not rows:
            raise UnknownNameError("skill", skill_id, self._near(skill_id))
        return self._skill(rows[0])

    def skills(self, ids: Iterable[str] | None = None) -> Iterator[Skill]:
        """Skills in id order, streamed: all, or those of the ids given (each once).

        Raises:
            UnknownNameError: one of the ids given is not in the pool.
        """
        if ids is not None:
            yield from (self.get(skill_id) for skill_id in sorted(set(ids)))
            return
        last = ""
        while rows := self._rows(f"{_SKILL} WHERE skill.id > ? ORDER BY skill.id LIMIT {_CHUNK}", last):
            yield from map(self._skill, rows)
            last = rows[-1][0]

    def tree(self, skill_id: str) -> SkillTree:
        """All files of one skill, byte-exact; its digest is the skill's.

        Raises:
            UnknownNameError: no such id.
        """
        skill = self.get(skill_id)
        rows = self._rows(
            "SELECT path, data, executable FROM file JOIN blob ON blob.key = file.blob"
            " WHERE file.key = (SELECT key FROM skill WHERE id = ?)",
            skill_id,
        )
        tree = (
            SkillTree({path: SkillFile(data, bool(executable)) for path, data, executable in rows})
            if rows
            else text_tree(skill.name, skill.description, skill.body)
        )
        if tree.digest != skill.digest:
            raise self._damaged(f"the files of '{skill_id}' do not match their digest")
        return tree

    def is_text_only(self, skill_id: str) -> bool:
        """Whether the skill came as text alone, so that its one file is rendered."""
        query = "SELECT 1 FROM file JOIN skill ON skill.key = file.key WHERE skill.id = ? LIMIT 1"
        return skill_id in self and not self._rows(query, skill_id)

    def by_name(self, name: str) -> list[str]:
        """Ids of the skills with exactly this name, sorted; none, one or several."""
        return [row[0] for row in self._rows("SELECT id FROM skill WHERE name = ? ORDER BY id", name)]

    def by_digest(self, digest: str) -> list[str]:
        """Ids of the skills whose tree has this digest, sorted: byte-equal copies of each other."""
        return [row[0] for row in self._rows("SELECT id FROM skill WHERE digest = ? ORDER BY id", digest)]

    def repeated_names(self) -> list[tuple[str, int]]:
        """Names used more than once, with how often; most frequent first, then by name."""
        return self._repeated("name")

    def repeated_digests(self) -> list[tuple[str, int]]:
        """Digests of trees that occur more than once, with how often; most frequent first."""
        return self._repeated("digest")

    def verify(self) -> None:
        """Read everything, and compare every digest and the fingerprint.

        Raises:
            MissingDataError: something is damaged.
        """
        if self._rows("PRAGMA integrity_check") != [("ok",)]:
            raise self._damaged("SQLite's integrity check fails")
        for skill in self.skills():
            self.tree(skill.id)
        with self._lock:
            found = fingerprint_of(self._connection)
        if found != self.fingerprint or len(self.ids()) != len(self):
            raise self._damaged("its content does not match its fingerprint")

    def _repeated(self, column: str) -> list[tuple[str, int]]:
        query = (
            f"SELECT {column}, COUNT(*) FROM skill GROUP BY {column} HAVING COUNT(*) > 1 ORDER BY 2 DESC, 1"
        )
        return [(row[0], row[1]) for row in self._rows(query)]

    def _skill(self, row: tuple[Any, ...]) -> Skill:
        skill_id, name, description, body, folder, digest, text_digest = row
        if schema.text_digest(name, description, body) != text_digest:
            raise self._damaged(f"the text of '{skill_id}' does not match its digest")
        return Skill(skill_id, name, description, body.decode("utf-8"), folder, digest)

    def _rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        try:
            with self._lock:
                return self._connection.execute(query, values).fetchall()
        except sqlite3.ProgrammingError:
            raise
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            raise self._damaged(str(error)) from None

    def _connect(self) -> sqlite3.Connection:
        """A read-only connection. The file never changes once it has its name, so it needs no locks."""
        try:
            with self.path.open("rb") as file:
                head = file.read(32)
                size = file.seek(0, 2)
        except OSError as error:
            raise MissingDataError(f"{self.path}: cannot be read: {error.strerror}") from None
        if not head.startswith(_MAGIC):
            raise self._damaged("it is no pool file")
        if schema.PAGE_SIZE * int.from_bytes(head[28:32], "big") != size:
            raise self._damaged("it is cut short")
        uri = f"{self.path.resolve().as_uri()}?mode=ro&immutable=1"
        return sqlite3.connect(uri, uri=True, check_same_thread=False)

    def _read_header(self) -> PoolHeader:
        if self._rows("PRAGMA application_id") != [(schema.APPLICATION_ID,)]:
            raise self._damaged("it is no pool file")
        version = self._rows("PRAGMA user_version")[0][0]
        if version != schema.SCHEMA_VERSION:
            raise self._damaged(f"it has format {version}, this version reads {schema.SCHEMA_VERSION}")
        rows = self._rows("SELECT json, sha256 FROM header")
        try:
            return schema.unseal(*rows[0])
        except (IndexError, ValueError) as error:
            raise self._damaged(str(error).splitlines()[0]) from None

    def _damaged(self, what: str) -> MissingDataError:
        again = f"workbench pool build NAME|PATH -o {self.path}"
        return MissingDataError(f"{self.path}: {what}; build it again: {again}")

    def _near(self, wanted: str) -> list[str]:
        """Ids that could have been meant: those that share most of their two ends with the one asked for.

        One slip leaves the rest of an id at its ends; comparing fully with 100,000 ids takes seconds.
        """
        last = wanted.rsplit("/", 1)[-1]
        likeness = ((i.rsplit("/", 1)[-1] == last, _shared_ends(i, wanted), i) for i in self.ids())
        best = nlargest(20, likeness)
        return [i for same, shared, i in best if same or shared * 2 >= len(wanted)] or list(self.ids()[:13])


def _shared_ends(one: str, other: str) -> int:
    """Length of the common prefix and, behind it, the common suffix."""
    shorter = min(len(one), len(other))
    front = next((n for n in range(shorter) if one[n] != other[n]), shorter)
    rest = shorter - front
    return front + next((n for n in range(rest) if one[-1 - n] != other[-1 - n]), rest)
