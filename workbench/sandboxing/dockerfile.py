"""Reading Dockerfiles: instructions, flags, heredocs and stages, as the builders parse them.

Follows the reference grammar (docs.docker.com/reference/dockerfile) and, where that is silent,
the parser of BuildKit: directives, continuation, comments inside continued lines, JSON form,
heredocs of RUN, COPY and ADD. What the image then holds is the business of `landing`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from workbench.core.errors import ContentError

KEYWORDS = frozenset(
    {"ADD", "ARG", "CMD", "COPY", "ENTRYPOINT", "ENV", "EXPOSE", "FROM", "HEALTHCHECK", "LABEL"}
    | {"MAINTAINER", "ONBUILD", "RUN", "SHELL", "STOPSIGNAL", "USER", "VOLUME", "WORKDIR"}
)
_DIRECTIVE = re.compile(r"^#\s*([a-zA-Z][a-zA-Z0-9]*)\s*=\s*(.+?)\s*$")
_HEREDOC = re.compile(r"^\d*<<(-?)([^<]+)$")
_FLAG = re.compile(r"^--([a-z][a-z-]*)(?:=(.*))?$", re.DOTALL)
_TAKES_HEREDOC = frozenset({"RUN", "COPY", "ADD"})


@dataclass(frozen=True)
class Heredoc:
    """A here-document: its delimiter, its text, and whether ``$VAR`` in it is expanded (unquoted)."""

    name: str
    text: str
    expands: bool


@dataclass(frozen=True)
class Instruction:
    """One instruction.

    Attributes:
        keyword: upper case, one of `KEYWORDS`.
        line: number of its first line, from 1; `end` of its last.
        flags: ``--name=value`` in order; the value of a bare flag is empty.
        text: what follows the flags, continued lines joined, comments removed.
        json: the words of the JSON form, ``None`` for the shell form.
    """

    keyword: str
    line: int
    end: int
    flags: tuple[tuple[str, str], ...]
    text: str
    json: tuple[str, ...] | None = None
    heredocs: tuple[Heredoc, ...] = ()

    @property
    def words(self) -> tuple[str, ...]:
        """The JSON words, else `text` split at blanks; quotes and variables untouched."""
        return self.json if self.json is not None else tuple(self.text.split())

    def flag(self, name: str) -> str | None:
        """The value of a flag, ``None`` where it is absent."""
        return next((value for key, value in self.flags if key == name), None)


@dataclass(frozen=True)
class Stage:
    """One ``FROM`` and what follows it. `base` is resolved against the global ARGs."""

    base: str
    name: str | None
    start: Instruction
    instructions: tuple[Instruction, ...] = ()


@dataclass(frozen=True)
class Dockerfile:
    """A parsed Dockerfile with at least one stage."""

    text: str
    stages: tuple[Stage, ...]
    escape: str = "\\"
    args: Mapping[str, str] = field(default_factory=dict)

    @property
    def base_images(self) -> tuple[str, ...]:
        """Images of a registry that the last stage needs, in order, without stages and ``scratch``."""
        names: dict[str, None] = {}
        for stage in self.needed():
            if self.stage(stage.base, before=stage) is None and stage.base != "scratch":
                names.setdefault(stage.base)
            for copy in stage.instructions:
                source = copy.flag("from") if copy.keyword == "COPY" else None
                if source and self.stage(source, before=stage) is None:
                    names.setdefault(source)
        return tuple(names)

    def stage(self, name: str, *, before: Stage) -> Stage | None:
        """The stage that `name` (or its number) means in `before`; ``None`` when it is an image."""
        earlier = self.stages[: self.stages.index(before)]
        if name.isdecimal() and int(name) < len(earlier):
            return earlier[int(name)]
        return next((s for s in reversed(earlier) if s.name and s.name.lower() == name.lower()), None)

    def needed(self) -> tuple[Stage, ...]:
        """The last stage and all it builds on or copies from, in order of the file."""
        wanted = [self.stages[-1]]
        for stage in wanted:
            sources = [i.flag("from") for i in stage.instructions if i.keyword == "COPY"]
            for name in [stage.base, *sources]:
                found = self.stage(name, before=stage) if name else None
                if found is not None and found not in wanted:
                    wanted.append(found)
        return tuple(stage for stage in self.stages if stage in wanted)


def parse(text: str, file: object = "Dockerfile") -> Dockerfile:
    """Read a Dockerfile.

    Raises:
        ContentError: not a Dockerfile (unknown instruction, no ``FROM``, open heredoc); says the line.
    """
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    lines = text.split("\n")
    escape = _escape(lines)
    stages: list[Stage] = []
    pending: list[Instruction] = []
    args: dict[str, str] = {}
    for instruction in _instructions(lines, escape, file):
        if instruction.keyword == "FROM":
            _close(stages, pending)
            stages.append(_stage(instruction, args, escape, file))
        elif stages:
            pending.append(instruction)
        elif instruction.keyword == "ARG":
            args.update(_arg_defaults(instruction, args, escape))
        else:
            raise ContentError(file, instruction.line, f"{instruction.keyword} before the first FROM")
    if not stages:
        raise ContentError(file, None, "has no FROM instruction")
    _close(stages, pending)
    return Dockerfile(text, tuple(stages), escape, args)


def expand(word: str, values: Mapping[str, str], escape: str = "\\") -> str:
    """A word with quotes removed and ``$NAME``, ``${NAME}``, ``${NAME:-x}``, ``${NAME:+x}`` replaced.

    Unset names become empty, single quotes keep their text as it is, and the escape character
    keeps the next character.
    """
    out: list[str] = []
    quote = ""
    at = 0
    while at < len(word):
        char = word[at]
        if char == escape and quote != "'" and at + 1 < len(word):
            kept = quote and word[at + 1] not in ('"', "$", escape)
            out.append(word[at : at + 2] if kept else word[at + 1])
            at += 2
        elif char in "'\"" and quote in ("", char):
            quote = "" if quote else char
            at += 1
        elif char == "$" and quote != "'":
            value, at = _variable(word, at, values, escape)
            out.append(value)
        else:
            out.append(char)
            at += 1
    return "".join(out)


def assignments(instruction: Instruction, escape: str = "\\") -> list[tuple[str, str | None]]:
    """The raw ``KEY=VALUE`` pairs of ENV, ARG or LABEL; the value is ``None`` for ``ARG KEY``."""
    words = _shell_words(instruction.text, escape)
    if instruction.keyword == "ENV" and words and "=" not in words[0]:
        return [_first_word(instruction.text)]
    pairs = (word.partition("=") for word in words)
    return [(key, value if equals else None) for key, equals, value in pairs]


def _close(stages: list[Stage], pending: list[Instruction]) -> None:
    """Give the instructions read so far to the stage they belong to."""
    if stages:
        last = stages[-1]
        stages[-1] = Stage(last.base, last.name, last.start, tuple(pending))
    pending.clear()


def _stage(instruction: Instruction, args: Mapping[str, str], escape: str, file: object) -> Stage:
    words = instruction.words
    named = len(words) == 3 and words[1].upper() == "AS"
    if not (len(words) == 1 or named):
        raise ContentError(file, instruction.line, f"FROM takes IMAGE [AS NAME] (found '{instruction.text}')")
    base = expand(words[0], args, escape)
    if not base:
        raise ContentError(file, instruction.line, f"FROM {words[0]}: the ARG has no default")
    return Stage(base, words[2] if named else None, instruction)


def _arg_defaults(instruction: Instruction, args: Mapping[str, str], escape: str) -> dict[str, str]:
    pairs = assignments(instruction, escape)
    return {key: expand(value, args, escape) for key, value in pairs if value is not None}


def _escape(lines: list[str]) -> str:
    """The escape character, from the directives at the top of the file."""
    for line in lines:
        directive = _DIRECTIVE.match(line.strip())
        if directive is None:
            break
        if directive[1].lower() == "escape" and directive[2] in ("\\", "`"):
            return directive[2]
    return "\\"


def _instructions(lines: list[str], escape: str, file: object) -> Iterator[Instruction]:
    at = 0
    while at < len(lines):
        if not lines[at].strip() or lines[at].lstrip().startswith("#"):
            at += 1
            continue
        start = at
        logical, at = _logical_line(lines, at, escape)
        keyword, rest = _first_word(logical)
        keyword = keyword.upper()
        if keyword not in KEYWORDS:
            raise ContentError(file, start + 1, f"unknown instruction '{keyword[:40]}'")
        flags, rest = _flags(rest)
        words = _json_words(rest)
        heredocs: tuple[Heredoc, ...] = ()
        if keyword in _TAKES_HEREDOC and words is None:
            heredocs, at = _heredocs(rest, lines, at, escape, file)
        yield Instruction(keyword, start + 1, at, flags, rest, words, heredocs)


def _logical_line(lines: list[str], at: int, escape: str) -> tuple[str, int]:
    """The line at `at` joined with those it continues on, and the index after them."""
    mark = re.escape(escape)
    continued = re.compile(rf"(?:^|(?<!{mark})){mark}[ \t]*$")
    joined = ""
    while at < len(lines):
        line = lines[at]
        at += 1
        if joined and (line.lstrip().startswith("#") or not line.strip()):
            continue
        found = continued.search(line)
        if found is None:
            return joined + line, at
        joined = (joined + line[: found.start()]) or " "
    return joined, at


def _first_word(text: str) -> tuple[str, str]:
    """The first word, and the rest without blanks around it."""
    first, *rest = text.split(maxsplit=1) or [""]
    return first, rest[0].rstrip() if rest else ""


def _flags(rest: str) -> tuple[tuple[tuple[str, str], ...], str]:
    """Leading ``--flag=value`` words, and what follows them."""
    flags: list[tuple[str, str]] = []
    while rest.startswith("--"):
        word, after = _first_word(rest)
        found = _FLAG.match(word)
        if found is None:
            break
        flags.append((found[1], found[2] or ""))
        rest = after
    return tuple(flags), rest


def _json_words(rest: str) -> tuple[str, ...] | None:
    if not rest.startswith("["):
        return None
    try:
        value = json.loads(rest)
    except ValueError:
        return None
    strings = isinstance(value, list) and all(isinstance(word, str) for word in value)
    return tuple(value) if strings else None


def _heredocs(
    rest: str, lines: list[str], at: int, escape: str, file: object
) -> tuple[tuple[Heredoc, ...], int]:
    """The here-documents that a line opens, read from the lines at `at`; and the index after them."""
    found: list[Heredoc] = []
    for word in _shell_words(rest, escape):
        opened = _HEREDOC.match(word)
        if opened is None:
            continue
        name = expand(opened[2], {}, escape)
        body: list[str] = []
        begin = at
        while at < len(lines) and (lines[at].lstrip("\t") if opened[1] else lines[at]) != name:
            body.append(lines[at].lstrip("\t") if opened[1] else lines[at])
            at += 1
        if at == len(lines):
            raise ContentError(file, begin, f"heredoc '{name}' is never closed")
        at += 1
        found.append(Heredoc(name, "".join(line + "\n" for line in body), expands=opened[2] == name))
    return tuple(found), at


def _shell_words(text: str, escape: str) -> list[str]:
    """Words split at blanks outside quotes; quotes and escapes are kept."""
    mark = re.escape(escape)
    return re.findall(rf"(?:{mark}.|'[^']*'|\"(?:{mark}.|[^\"{mark}])*\"|[^\s'\"]|['\"])+", text, re.DOTALL)


def _variable(word: str, at: int, values: Mapping[str, str], escape: str) -> tuple[str, int]:
    """The value of the variable that starts at `at`, and the index after it."""
    plain = re.compile(r"\$([A-Za-z_]\w*|\d)").match(word, at)
    if plain is not None:
        return values.get(plain[1], ""), plain.end()
    braced = re.compile(r"\$\{([A-Za-z_]\w*)(?:(:?[-+?])((?:[^{}]|\{[^{}]*\})*))?\}").match(word, at)
    if braced is None:
        return "$", at + 1
    name, how, other = braced[1], braced[2] or "", braced[3] or ""
    present = bool(values.get(name)) if how.startswith(":") else name in values
    if how.endswith("+"):
        return (expand(other, values, escape) if present else ""), braced.end()
    if how and not present:
        return expand(other, values, escape), braced.end()
    return values.get(name, ""), braced.end()
