"""One SKILL.md as found in the wild -> name, description and body, or a typed refusal.

A pure function of bytes: it runs nothing, follows nothing, takes well under a second on any
input, and raises nothing. What strict readers lose is repaired and marked; what cannot be read
is refused with a reason and a line.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

from workbench.skills.frontmatter import Value, read_frontmatter
from workbench.skills.refusal import Problem, RefusedError, Repair
from workbench.skills.render import normal_body, normal_description, normal_name, unix_newlines

READER_VERSION = 1
"""Counts up whenever the same bytes are read differently; built pools are then built again."""

MAX_BYTES = 1024 * 1024
_MAX_MADE_DESCRIPTION = 1024
SPEC_KEYS = {"name", "description", "license", "compatibility", "metadata", "allowed-tools"}
_ERROR_PAGE = re.compile(r"\s*(?:<!doctype|<html|<\?xml|\{|\d{3}\b)", re.IGNORECASE)
_NOT_PROSE = re.compile(r"#|<!--|```|~~~|\||!\[|\[!\[|---|===|\*\*\*")

Status = Literal["accepted", "repaired", "rejected"]
STATUSES: tuple[Status, ...] = get_args(Status)

Note = Literal["empty_body", "empty_description", "name_differs_from_folder", "unknown_keys"]
"""What a reader should know although nothing had to be changed for it."""


@dataclass(frozen=True, slots=True)
class ReadResult:
    """What reading a SKILL.md gave.

    Attributes:
        name: one line, never empty unless rejected. Data, never a path.
        description: may be empty.
        body: the markdown after the frontmatter, newlines as ``\\n``, no blank lines around it.
        extra: every other key of the frontmatter, scalars as written.
        repairs: what had to be mended; empty when accepted as it is.
        notes: what is unusual but needs no mending.
        problem: why it is rejected, else ``None``; then all texts are empty.
    """

    name: str = ""
    description: str = ""
    body: str = ""
    extra: Mapping[str, Value] = field(default_factory=dict)
    repairs: tuple[Repair, ...] = ()
    notes: tuple[Note, ...] = ()
    problem: Problem | None = None

    @property
    def status(self) -> Status:
        """``rejected``, ``repaired`` or ``accepted``."""
        if self.problem is not None:
            return "rejected"
        return "repaired" if self.repairs else "accepted"


def rejected(problem: Problem) -> ReadResult:
    """The result of a find that is refused."""
    return ReadResult(problem=problem)


def read_skill(data: bytes, folder: str) -> ReadResult:
    """Read the bytes of one SKILL.md.

    Args:
        folder: name of the folder it lies in; stands in for a missing name.
    """
    try:
        return _read(data, folder)
    except RefusedError as refusal:
        return rejected(refusal.problem)


def with_repair(result: ReadResult, repair: Repair) -> ReadResult:
    """The same result, marked with one more repair (rejected results stay as they are)."""
    return result if result.problem else replace(result, repairs=(*result.repairs, repair))


def check_text(text: str) -> None:
    """Refuse text that cannot be stored as UTF-8 (``not_utf8``) or holds a NUL (``nul``).

    Raises:
        RefusedError: with the line.
    """
    if (at := text.find("\0")) >= 0:
        raise RefusedError("nul", "NUL character", text.count("\n", 0, at) + 1)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        line = text.count("\n", 0, error.start) + 1
        raise RefusedError("not_utf8", "half of a surrogate pair", line) from None


def notes_on(
    name: str, description: str, body: str, folder: str, extra: Mapping[str, Value]
) -> tuple[Note, ...]:
    """The notes on a skill's texts, in alphabetic order."""
    found: dict[Note, bool] = {
        "empty_body": not body,
        "empty_description": not description,
        "name_differs_from_folder": not _same_name(name, folder),
        "unknown_keys": not SPEC_KEYS.issuperset(extra),
    }
    return tuple(note for note, holds in found.items() if holds)


def _read(data: bytes, folder: str) -> ReadResult:
    text, first_line, repairs = _decode(data)
    head = read_frontmatter(text, first_line)
    values = {} if head is None else dict(head.values)
    body = normal_body(text if head is None else head.body)
    if head is None:
        _refuse_what_is_no_skill(body)
        repairs.append("missing_frontmatter")
    else:
        repairs.extend(head.repairs)
    name = normal_name(_text_of(values, "name", repairs) or "")
    description = _text_of(values, "description", repairs)
    if not name:
        name = normal_name(folder) or "skill"
        repairs += ["missing_name"] if head else []
    if description is None:
        description = first_paragraph(body)
        repairs += ["missing_description"] if head else []
    description = normal_description(description)
    check_text(description + name.replace("\0", ""))
    notes = notes_on(name, description, body, folder, values)
    return ReadResult(name, description, body, values, tuple(dict.fromkeys(repairs)), notes)


def _decode(data: bytes) -> tuple[str, int, list[Repair]]:
    """Text with ``\\n`` newlines and no leading blank lines, and the number of its first line."""
    repairs: list[Repair] = []
    if len(data) > MAX_BYTES:
        raise RefusedError("too_large", f"SKILL.md has {len(data)} bytes; at most {MAX_BYTES} are read")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise RefusedError(
            "not_utf8", f"byte 0x{data[error.start]:02x} at offset {error.start}", line
        ) from None
    check_text(text)
    if text.startswith("\ufeff"):
        text = text.removeprefix("\ufeff")
        repairs.append("bom")
    if "\r" in text:
        repairs += ["crlf"] if "\r\n" in text else []
        repairs += ["lone_cr"] if text.count("\r") > text.count("\r\n") else []
        text = unix_newlines(text)
    if not text.strip():
        raise RefusedError("empty_file", "nothing but white space")
    kept = normal_body(text)
    first_line = text[: text.index(kept)].count("\n") + 1
    repairs += ["leading_blank_lines"] if first_line > 1 else []
    return kept, first_line, repairs


def _text_of(values: dict[str, Value], key: str, repairs: list[Repair]) -> str | None:
    """Take a key out of the values as one text; ``None`` where there is none."""
    if key not in values:
        return None
    value = values.pop(key)
    if not isinstance(value, str):
        repairs.append("not_text")
    return _joined(value)


def _joined(value: Value) -> str:
    """A value as one text: items joined with commas, pairs as ``key: value``."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return ", ".join(_joined(item) for item in value)
    return ", ".join(f"{key}: {_joined(item)}" for key, item in value.items())


def _refuse_what_is_no_skill(body: str) -> None:
    """Without frontmatter a skill needs a heading, or a few words that are no error page."""
    if re.search(r"^#{1,6}\s+\S", body, re.MULTILINE):
        return
    if _ERROR_PAGE.match(body) or len(body.split()) < 3:
        raise RefusedError("no_frontmatter", f"no frontmatter and no description in {body[:60]!r}", 1)


def first_paragraph(body: str) -> str:
    """The first paragraph of prose, on one line, or else the first heading; at most 1,024 characters."""
    paragraph: list[str] = []
    heading = ""
    for line in body.split("\n"):
        stripped = line.strip().lstrip(">").strip()
        if stripped.startswith("#"):
            heading = heading or stripped.lstrip("#").strip()
        if stripped and not _NOT_PROSE.match(stripped):
            paragraph.append(stripped)
        elif paragraph:
            break
    return (" ".join(paragraph) or heading)[:_MAX_MADE_DESCRIPTION]


def _same_name(name: str, folder: str) -> bool:
    """Equal as names: NFC, for comparison only."""
    return unicodedata.normalize("NFC", name) == unicodedata.normalize("NFC", folder)
