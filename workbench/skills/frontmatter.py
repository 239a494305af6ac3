"""The YAML block at the head of a SKILL.md: strict first, then narrow repairs line by line.

Values stay as written (``yes`` is "yes", ``1.0`` is "1.0"). Nothing is constructed: the parser's
events are read directly, so that size, nesting, aliases and tags are bounded before any value
exists, and the time is bounded with them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import yaml
from yaml import events as ev

from workbench.skills.refusal import RefusedError, Repair

MAX_BYTES = 64 * 1024
MAX_NESTING = 32
MAX_KEYS = 500
MAX_NODES = 10_000

Value: TypeAlias = "str | list[Value] | dict[str, Value]"
"""A YAML value with every scalar as the text it was written as."""

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TAGS = {f"tag:yaml.org,2002:{t}" for t in ("str", "int", "float", "bool", "null", "timestamp", "seq", "map")}
_KEY = re.compile(r"([A-Za-z_][\w.-]*)[ \t]*:(?:[ \t]+(.*))?$")
_OWN_KEY = re.compile(r"(?:name|description)[ \t]*:(?:[ \t]|$)")
_CONFLICT = re.compile(r"(<{7}|={7}|>{7})( |$)")
_COLON = re.compile(r":(?:\s|$)")
_BLOCK_SCALAR = re.compile(r"[|>][+-]?\d?[ \t]+")
_HEAD_LINES = 20


@dataclass(frozen=True, slots=True)
class Frontmatter:
    """What stands at the head of a file: its values, the text after it, and what was repaired."""

    values: Mapping[str, Value]
    body: str
    repairs: tuple[Repair, ...]


class _InvalidYamlError(Exception):
    """Not YAML: the parser's words and the line (1-based in the file)."""

    def __init__(self, what: str, line: int) -> None:
        super().__init__(what)
        self.what = what
        self.line = line


def read_frontmatter(text: str, first_line: int = 1) -> Frontmatter | None:
    """Read the frontmatter of a text with ``\\n`` newlines and no leading blank lines.

    Args:
        first_line: number of the text's first line in its file, for messages.

    Returns:
        ``None`` when there is nothing that looks like frontmatter.

    Raises:
        RefusedError: ``bad_yaml``, ``too_complex`` or ``too_large``.
    """
    lines = text.split("\n")
    found = _opening(lines)
    if found is None:
        return None
    start, repairs = found
    close = next((n for n in range(start, len(lines)) if _is_fence(lines[n])), None)
    before = lines[: start - 1] if "text_before_frontmatter" in repairs else []
    if close is None or _holds_markdown(lines, start, close):
        close = _last_plausible(lines, start)
        if close == start or not any(_KEY.match(line) for line in lines[start:close]):
            return None
        repairs = (*repairs, "unterminated_frontmatter")
        rest = lines[close:]
    else:
        rest = lines[close + 1 :]
    values, more = _values(lines[start:close], first_line + start)
    return Frontmatter(values, "\n".join([*before, *rest]), _ordered([*repairs, *more]))


def _opening(lines: Sequence[str]) -> tuple[int, tuple[Repair, ...]] | None:
    """Index of the first line of the block, and what is wrong with how it starts."""
    if _is_fence(lines[0]):
        return 1, ()
    if _OWN_KEY.match(lines[0]):
        return 0, ("missing_opening_fence",)
    for n, line in enumerate(lines[:_HEAD_LINES]):
        if _is_fence(line):
            following = next((other for other in lines[n + 1 :] if other.strip()), "")
            return (n + 1, ("text_before_frontmatter",)) if _OWN_KEY.match(following) else None
        if line.strip() and not line.startswith(("#", "<!--")):
            return None
    return None


def _is_fence(line: str) -> bool:
    return line.startswith("---") and not line[3:].strip()


def _holds_markdown(lines: Sequence[str], start: int, close: int) -> bool:
    """Whether the "block" runs into the body: after a blank line a heading, and prose behind it."""
    for n in range(start + 1, close):
        if lines[n].startswith("#") and not lines[n - 1].strip():
            return any(_is_prose(line) for line in lines[n + 1 : close])
    return False


def _is_prose(line: str) -> bool:
    return bool(line.strip()) and not line.startswith((" ", "\t", "#", "- ")) and not _KEY.match(line)


def _last_plausible(lines: Sequence[str], start: int) -> int:
    """Where an unterminated block ends: at a blank line after a key, or at prose or a heading."""
    seen_key = False
    for n in range(start, len(lines)):
        line = lines[n]
        if _KEY.match(line):
            seen_key = True
        elif (seen_key and (not line.strip() or line.startswith("#"))) or _is_prose(line):
            return n
    return len(lines)


def _values(lines: Sequence[str], first_line: int) -> tuple[dict[str, Value], list[Repair]]:
    """Values of a block: strict YAML, else each top-level entry on its own."""
    text = "\n".join(lines)
    if len(text.encode("utf-8")) > MAX_BYTES:
        raise RefusedError("too_large", f"frontmatter larger than {MAX_BYTES} bytes", first_line)
    try:
        return _parse(text, first_line)
    except _InvalidYamlError as error:
        entries, repairs = _entries(lines, first_line)
        if not entries:
            raise RefusedError("bad_yaml", error.what, error.line) from None
    values: dict[str, Value] = {}
    for key, line, entry in entries:
        value, more = _entry_value(key, line, entry)
        repairs += more
        if key in values:
            repairs.append("duplicate_key")
        values[key] = value
    return values, repairs


_Entry: TypeAlias = tuple[str, int, list[str]]


def _entries(lines: Sequence[str], first_line: int) -> tuple[list[_Entry], list[Repair]]:
    """Top-level entries as (key, line number, lines); lines that follow belong to the last key."""
    entries: list[_Entry] = []
    repairs: list[Repair] = []
    for n, line in enumerate(lines):
        match = _KEY.match(line)
        if match:
            entries.append((match[1], first_line + n, [line]))
        elif _CONFLICT.match(line):
            repairs.append("conflict_markers")
        elif entries:
            entries[-1][2].append(line)
    if len(entries) > MAX_KEYS:
        raise RefusedError("too_complex", f"more than {MAX_KEYS} keys", first_line)
    return entries, repairs


def _entry_value(key: str, line: int, entry: list[str]) -> tuple[Value, list[Repair]]:
    """One entry's value: strict, else the text as it stands on its lines."""
    try:
        values, repairs = _parse("\n".join(entry), line)
        return values[key], repairs
    except (_InvalidYamlError, KeyError):
        pass
    text = _plain_text(entry)
    if _bracket_depth(text) > MAX_NESTING:
        raise RefusedError("too_complex", f"'{key}' is nested deeper than {MAX_NESTING}", line)
    colon = len(entry) == 1 and _COLON.search(text) and not text.startswith(("{", "[", '"', "'"))
    return text, ["unquoted_colon" if colon else "broken_value"]


def _plain_text(entry: Sequence[str]) -> str:
    """The entry's lines after the key, on one line, without quotes or block marks around them."""
    parts = [entry[0].partition(":")[2], *entry[1:]]
    text = " ".join(part.strip() for part in parts if part.strip())
    text = _BLOCK_SCALAR.sub("", text, count=1) if _BLOCK_SCALAR.match(text) else text
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        return text[1:-1]
    return text


def _bracket_depth(text: str) -> int:
    depth = deepest = 0
    for char in text:
        depth += (char in "[{") - (char in "]}")
        deepest = max(deepest, depth)
    return deepest


def _parse(text: str, first_line: int) -> tuple[dict[str, Value], list[Repair]]:
    """A YAML mapping without anchors, aliases, merge keys or foreign tags."""
    composer = _Composer(text, first_line)
    try:
        roots = list(composer.roots())
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        what = getattr(error, "problem", None) or getattr(error, "reason", None) or "not YAML"
        raise _InvalidYamlError(str(what), first_line + (mark.line if mark else 0)) from None
    except (ValueError, OverflowError) as error:
        # The pure Python scanner lets chr() fail on escapes beyond Unicode.
        raise _InvalidYamlError(str(error), first_line) from None
    root = roots[0] if roots else {}
    if len(roots) > 1 or not isinstance(root, dict):
        raise _InvalidYamlError("not a mapping of keys to values", first_line)
    return root, composer.repairs


class _Composer:
    """Builds values from the parser's events, within the bounds."""

    def __init__(self, text: str, first_line: int) -> None:
        self.repairs: list[Repair] = []
        self._events: Iterator[ev.Event] = yaml.parse(text, Loader=_LOADER)
        self._first_line = first_line
        self._nodes = 0

    def roots(self) -> Iterator[Value]:
        """The root value of each document."""
        for event in self._events:
            if isinstance(event, ev.NodeEvent):
                yield self._node(event, 0)

    def _node(self, event: ev.Event, depth: int) -> Value:
        self._admit(event)
        if isinstance(event, ev.ScalarEvent):
            return str(event.value)
        if depth == MAX_NESTING:
            raise RefusedError("too_complex", f"nested deeper than {MAX_NESTING}", self._line(event))
        if isinstance(event, ev.SequenceStartEvent):
            items: list[Value] = []
            while not isinstance(item := next(self._events), ev.SequenceEndEvent):
                items.append(self._node(item, depth + 1))
            return items
        mapping: dict[str, Value] = {}
        while not isinstance(key := next(self._events), ev.MappingEndEvent):
            name = self._key(key)
            if name in mapping:
                self.repairs.append("duplicate_key")
            mapping[name] = self._node(next(self._events), depth + 1)
        return mapping

    def _key(self, event: ev.Event) -> str:
        self._admit(event)
        if not isinstance(event, ev.ScalarEvent):
            raise _InvalidYamlError("a key that is not text", self._line(event))
        if event.value == "<<":
            raise RefusedError("too_complex", "merge key", self._line(event))
        return str(event.value)

    def _admit(self, event: ev.Event) -> None:
        """Count a node, and refuse what makes YAML a program: aliases, anchors, foreign tags."""
        self._nodes += 1
        what = None
        tag = getattr(event, "tag", None)
        if isinstance(event, ev.AliasEvent):
            what = "alias"
        elif getattr(event, "anchor", None) is not None:
            what = "anchor"
        elif tag is not None and tag not in _TAGS:
            what = f"tag {tag}"
        elif self._nodes > MAX_NODES:
            what = f"more than {MAX_NODES} values"
        if what is not None:
            raise RefusedError("too_complex", what, self._line(event))

    def _line(self, event: ev.Event) -> int:
        return self._first_line + (event.start_mark.line if event.start_mark else 0)


def _ordered(repairs: Sequence[Repair]) -> tuple[Repair, ...]:
    return tuple(dict.fromkeys(repairs))
