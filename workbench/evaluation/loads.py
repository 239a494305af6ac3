"""Use detection: which skills a transcript shows to have been loaded, and by what evidence.

The ``load_skill`` tool reports loads itself, exactly; a skill tool that a command-line agent brings
along is read from its calls, by the folder named. Beside them, every tool call's arguments are
searched for paths into the installed folders: ``cat .../SKILL.md`` is a body read, any other
file a file read. Patterns (``.../skills/*/SKILL.md``) and a ``cd`` into a folder are followed.
That sees what is spelled out and misses what is computed, so these loads are a lower bound.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, Literal

from workbench.core.record import Installed, Load
from workbench.evaluation.layout import HOME

_PYTHON_TOOLS = {"python", "ipython", "execute_python"}
_SKILL_TOOLS = {"skill", "use_skill", "activate_skill"}
_EVIDENCE = 200
_WORD = re.compile(r"""[^\s"'`;|&<>(){},=\[\]]+(?:\[[^\]\s]*\][^\s"'`;|&<>(){},=]*)*""")
_STEP = re.compile(r"[\n;]|&&|\|\|")
_CD = re.compile(r"^\s*(?:cd|pushd)\s+(?:--\s+)?[\"']?([^\s\"';&|]+)")
_VARIABLES = ("$SKILLS_DIR", "${SKILLS_DIR}")


@dataclass(frozen=True)
class Call:
    """A tool call of the transcript: the assistant turn it belongs to (1-based), name, arguments."""

    turn: int
    tool: str
    arguments: Mapping[str, Any]


def detect(calls: Iterable[Call], installed: Sequence[Installed], places: Sequence[str]) -> list[Load]:
    """Loads seen in tool calls, in order, each (skill, tier, path) once.

    Args:
        installed: skills in the sandbox; `Installed.folder` is the folder's name there.
        places: folders that hold them, e.g. ``~/.claude/skills`` with the home written out.
    """
    if not installed:
        return []
    finder = _Finder({skill.folder: skill.id for skill in installed}, places)
    seen: dict[tuple[str, str, str], Load] = {}
    for call in calls:
        for load in _native(call, installed):
            seen.setdefault((load.id, load.tier, load.evidence), load)
        via: Literal["python", "shell"] = "python" if call.tool in _PYTHON_TOOLS else "shell"
        for skill_id, rest, evidence in finder.found(call.arguments):
            tier: Literal["body", "file"] = "body" if rest.lower() == "skill.md" else "file"
            load = Load(id=skill_id, tier=tier, via=via, evidence=evidence[:_EVIDENCE], turn=call.turn)
            seen.setdefault((skill_id, tier, evidence), load)
    return list(seen.values())


def _native(call: Call, installed: Sequence[Installed]) -> Iterator[Load]:
    """A load by a skill tool of the agent's own (Claude Code's ``Skill``, Inspect's ``skill``)."""
    if call.tool.lower() not in _SKILL_TOOLS:
        return
    named = {text.strip().rpartition(":")[2] for text in _texts(call.arguments)}
    for skill in installed:
        if skill.folder in named:
            yield Load(id=skill.id, tier="body", via="tool", evidence=skill.folder, turn=call.turn)


class _Finder:
    """Finds words of a text that name a file inside an installed skill."""

    def __init__(self, ids: Mapping[str, str], places: Sequence[str]) -> None:
        self.ids = ids
        self.spellings = {s for place in places for s in _spellings(place)}

    def found(self, arguments: Any) -> Iterator[tuple[str, str, str]]:
        """(skill id, path inside its folder, word as written) for every such word."""
        for text in _texts(arguments):
            folder = ""
            for step in _STEP.split(text):
                if change := _CD.match(step):
                    folder = posixpath.join(folder, change[1])
                    continue
                for word in _WORD.findall(step):
                    yield from self._word(word, folder)

    def _word(self, word: str, folder: str) -> Iterator[tuple[str, str, str]]:
        # A bare word after `cd` may be a program's name; one with a dot or a slash is a file.
        joined = folder and set(word) & set("./") and not word.startswith("-")
        for path in (word, posixpath.join(folder, word)) if joined else (word,):
            inner = self._inside(path)
            name, _, rest = inner.partition("/")
            rest = rest.strip("/")
            if not name or not rest:
                continue
            for known, skill_id in self.ids.items():
                if fnmatchcase(known, name):
                    yield skill_id, rest, word

    def _inside(self, path: str) -> str:
        """The path below a place for skills, or nothing."""
        clean = re.sub(r"/(?:\./)*/*", "/", path.removeprefix("./"))
        inner = (clean.removeprefix(f"{s}/") for s in self.spellings if clean.startswith(f"{s}/"))
        return next(inner, "")


def _spellings(place: str) -> Iterator[str]:
    """Ways to write a place: from the root, from home, by a variable, and relative to its parents."""
    yield place
    yield from _VARIABLES
    if place.startswith(f"{HOME}/"):
        for home in ("~", "$HOME", "${HOME}"):
            yield home + place.removeprefix(HOME)
    parts = place.strip("/").split("/")
    if len(parts) >= 2:
        yield "/".join(parts[-2:])


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)
    elif value is not None and not isinstance(value, bool | int | float):
        yield json.dumps(value, default=str)
