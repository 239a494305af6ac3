"""Records of JSONL and Parquet files -> finds.

A record has an id (``skill_id`` or ``id``), ``name``, ``description`` and ``body`` (or
``content``); or it is a raw file: ``path`` (of a SKILL.md) and ``text``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath

from workbench.skills.discover import SKILL_FILE
from workbench.skills.folders import safe_folder
from workbench.skills.frontmatter import MAX_BYTES as MAX_HEAD_BYTES
from workbench.skills.reader import (
    MAX_BYTES,
    ReadResult,
    check_text,
    notes_on,
    read_skill,
    rejected,
    with_repair,
)
from workbench.skills.refusal import Problem, RefusedError
from workbench.skills.render import normal_body, normal_description, normal_name, render_skill
from workbench.skills.skill import SkillFile, SkillTree
from workbench.skills.source import Found

Row = Mapping[str, object]
COLUMNS = ("skill_id", "id", "name", "description", "body", "content", "path", "text")
"""Every column that is looked at."""


def found_in_rows(rows: Iterable[tuple[str, Row | Problem]], prefix: str) -> Iterator[Found]:
    """A find for each (origin, record); records that could not be read come as their problem."""
    for origin, row in rows:
        if isinstance(row, Problem):
            yield Found("", origin, "skill", rejected(row))
            continue
        try:
            yield _raw_file(row, origin, prefix) if _is_raw_file(row) else _texts(row, origin, prefix)
        except RefusedError as refusal:
            yield Found(_id_or_nothing(row, prefix), origin, "skill", rejected(refusal.problem))


def _is_raw_file(row: Row) -> bool:
    return "path" in row and "text" in row and "body" not in row and "content" not in row


def _raw_file(row: Row, origin: str, prefix: str) -> Found:
    path, text = PurePosixPath(_text(row, "path")), _text(row, "text")
    if path.name.lower() != "skill.md" or not path.parent.name:
        raise RefusedError("missing_id", f"path {str(path)[:80]!r} names no SKILL.md in a folder")
    check_text(str(path))
    data = text.encode("utf-8", "surrogatepass")
    result = read_skill(data, path.parent.name)
    if path.name != SKILL_FILE:
        result = with_repair(result, "file_name")
    tree = None if result.problem else SkillTree({SKILL_FILE: SkillFile(data)})
    return Found(f"{prefix}{path.parent}", origin, safe_folder(path.parent.name), result, tree)


def _texts(row: Row, origin: str, prefix: str) -> Found:
    skill_id = _id(row, prefix)
    last = skill_id.rsplit("/", 1)[-1]
    name = normal_name(_text(row, "name"))
    description = normal_description(_text(row, "description"))
    body = normal_body(_text(row, "body") or _text(row, "content"))
    check_text(skill_id + description + body + name.replace("\0", ""))
    head = len(render_skill(name, description, ""))
    size = head + len(body.encode("utf-8")) + 2
    if size > MAX_BYTES or head > MAX_HEAD_BYTES:
        raise RefusedError("too_large", f"makes a SKILL.md of {size} bytes")
    notes = notes_on(name or last, description, body, last, {})
    result = ReadResult(name or last, description, body, notes=notes)
    return Found(skill_id, origin, safe_folder(last), result if name else with_repair(result, "missing_name"))


def _id(row: Row, prefix: str) -> str:
    for key in ("skill_id", "id"):
        if key in row and row[key] not in (None, ""):
            return prefix + _text(row, key)
    raise RefusedError("missing_id", "no skill_id and no id")


def _id_or_nothing(row: Row, prefix: str) -> str:
    try:
        return _id(row, prefix).encode("utf-8", "backslashreplace").decode("utf-8")
    except RefusedError:
        return ""


def _text(row: Row, key: str) -> str:
    """A field as text; nothing is the empty text, a number is written out."""
    value = row.get(key)
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    raise RefusedError("bad_row", f"{key} is no text but {type(value).__name__}")
