"""Tables as ToolQA has them: every value is a text. Kept as SQLite files, built once, read only."""

from __future__ import annotations

import csv
import json
import re
import sqlite3
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from inspect_ai.tool import ToolError

from workbench.core.atomic import atomic_path
from workbench.core.digest import digest_json, short
from workbench.core.errors import ContentError
from workbench.core.locks import exclusive

TABLES = ("flights", "coffee", "airbnb", "yelp")
_CONDITION = re.compile(r"^\s*(.+?)\s*(>=|<=|=|>|<)\s*(.*?)\s*$", re.DOTALL)
_DOTTED = re.compile(r"\b(\w+)\.(\w+_data)\b")
_SECONDS = 20.0
_ROWS = 1_000


class Tables:
    """One trial's view: the loaded table, and the filters on it.

    Args:
        corpus: folder with a folder per table.
        cache: folder for the SQLite files.
    """

    def __init__(self, corpus: Path, cache: Path) -> None:
        self._corpus = corpus
        self._cache = cache
        self._db: sqlite3.Connection | None = None
        self._loaded: list[str] = []
        self._where: list[tuple[str, str, str]] = []

    def load(self, name: str) -> str:
        """Load a table and drop all filters. Raises ToolError for one that is not there."""
        table = name.strip().lower()
        if table not in TABLES or not (self._corpus / table).is_dir():
            there = [t for t in TABLES if (self._corpus / t).is_dir()]
            raise ToolError(f"There is no table '{name}'. There are: {', '.join(there) or 'none'}")
        if table not in self._loaded:
            file = _built(self._corpus / table, self._cache)
            self._connection().execute(
                f"ATTACH DATABASE ? AS {table}", (f"{file.as_uri()}?mode=ro&immutable=1",)
            )
        self._loaded = [t for t in self._loaded if t != table] + [table]
        self._where = []
        return f"Loaded {table}. Its columns: {', '.join(self._columns())}."

    def filter(self, conditions: str) -> str:
        """Add conditions, in order; one that leaves no row is not kept."""
        columns = self._columns()
        for condition in conditions.split(", "):
            found = _CONDITION.match(condition)
            if found is None or found[1] not in columns:
                raise ToolError(f"'{condition}' is no condition on one of: {', '.join(columns)}")
            self._where.append((found[1], found[2], found[3].strip("\"'")))
            if not self._count():
                self._where.pop()
                raise ToolError(f"No row fulfils '{condition}'; it was not applied.")
        return f"{self._count()} rows are left."

    def values(self, column: str) -> str:
        """The values of a column in the rows that are left, in their order."""
        if column not in self._columns():
            raise ToolError(f"There is no column '{column}'. There are: {', '.join(self._columns())}")
        clause, values = self._clause()
        rows = self._run(f"SELECT {_quoted(column)} FROM {self._table()}{clause} LIMIT {_ROWS}", values)
        return ", ".join(str(row[0]) for row in rows)

    def query(self, sql: str) -> str:
        """Rows of one SELECT. Raises ToolError for anything else."""
        for table in TABLES:
            if re.search(rf"\b{table}_data\b|\b{table}\.", sql) and table not in self._loaded:
                self.load(table)
        connection = self._connection()
        connection.set_authorizer(_only_reading)
        try:
            cursor = self._cursor(_DOTTED.sub(r"\1_data", sql), ())
            names = [column[0] for column in cursor.description or ()]
            rows = cursor.fetchmany(_ROWS)
        except sqlite3.Error as error:
            raise ToolError(f"The statement failed: {error}") from None
        finally:
            connection.set_authorizer(None)
        lines = (", ".join(f"{n}: {v}" for n, v in zip(names, row, strict=True)) for row in rows)
        return "\n".join(lines) or "No rows."

    def _connection(self) -> sqlite3.Connection:
        if self._db is None:
            self._db = sqlite3.connect(":memory:", uri=True, check_same_thread=False)
        return self._db

    def _table(self) -> str:
        if not self._loaded:
            raise ToolError("No table is loaded; use LoadDB first.")
        return f"{self._loaded[-1]}.{self._loaded[-1]}_data"

    def _columns(self) -> list[str]:
        cursor = self._connection().execute(f"SELECT * FROM {self._table()} LIMIT 0")
        return [column[0] for column in cursor.description]

    def _clause(self) -> tuple[str, list[str]]:
        if not self._where:
            return "", []
        parts = (f"{_quoted(column)} {operator} ?" for column, operator, _ in self._where)
        return f" WHERE {' AND '.join(parts)}", [value for _, _, value in self._where]

    def _count(self) -> int:
        clause, values = self._clause()
        return int(str(self._run(f"SELECT COUNT(*) FROM {self._table()}{clause}", values)[0][0]))

    def _run(self, sql: str, values: Sequence[str]) -> list[tuple[object, ...]]:
        try:
            return self._cursor(sql, values).fetchall()
        except sqlite3.Error as error:
            raise ToolError(f"The table cannot be read: {error}") from None

    def _cursor(self, sql: str, values: Sequence[str]) -> sqlite3.Cursor:
        """Run a statement, stopped after 20 seconds."""
        end = time.monotonic() + _SECONDS
        self._connection().set_progress_handler(lambda: int(time.monotonic() > end), 10_000)
        return self._connection().execute(sql, values)


def _only_reading(action: int, *_: object) -> int:
    allowed = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}
    return sqlite3.SQLITE_OK if action in allowed else sqlite3.SQLITE_DENY


def _quoted(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'


def _built(folder: Path, cache: Path) -> Path:
    """The SQLite file of a table's one source file, built when it is not there or the source changed."""
    sources = sorted(p for p in folder.iterdir() if p.suffix in (".csv", ".json", ".jsonl"))
    if not sources:
        raise ToolError(f"The table '{folder.name}' has no file.")
    source, state = sources[0], sources[0].stat()
    key = short(digest_json([str(source.resolve()), state.st_size, state.st_mtime_ns]))
    out = cache / "toolqa" / f"{folder.name}-{key}.sqlite"
    out.parent.mkdir(parents=True, exist_ok=True)
    with exclusive(out.with_suffix(".lock")):
        if not out.is_file():
            _build(source, folder.name, out)
    return out


def _build(source: Path, table: str, out: Path) -> None:
    rows = _csv_rows(source) if source.suffix == ".csv" else _json_rows(source)
    columns = next(rows, None)
    if not columns:
        raise ContentError(source, 1, "has no columns")
    with atomic_path(out) as temporary:
        connection = sqlite3.connect(temporary)
        try:
            connection.execute(
                f"CREATE TABLE {table}_data ({', '.join(f'{_quoted(c)} TEXT' for c in columns)})"
            )
            marks = ", ".join("?" * len(columns))
            connection.executemany(f"INSERT INTO {table}_data VALUES ({marks})", rows)
            connection.commit()
        finally:
            connection.close()


def _csv_rows(source: Path) -> Iterator[list[str]]:
    """The header, then every row at its length; a row that is short is filled with nothing."""
    csv.field_size_limit(sys.maxsize)
    with source.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        reader = csv.reader(file)
        header = next(reader, [])
        yield header
        for row in reader:
            yield (row + [""] * len(header))[: len(header)]


def _json_rows(source: Path) -> Iterator[list[str]]:
    """JSON lines: the columns are those of the first object."""
    header: list[str] = []
    with source.open(encoding="utf-8") as file:
        for line in file:
            if line.strip():
                row = json.loads(line)
                if not header:
                    header = list(row)
                    yield header
                yield [str(row.get(column)) for column in header]
