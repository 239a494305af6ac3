"""Use detection: which skills a transcript shows to have been loaded, and by what evidence.

The ``load_skill`` tool reports loads itself, exactly. Beside it, every tool call's arguments are
searched for paths into the installed folders: ``cat .../SKILL.md`` is a body read, any other
file a file read. That sees what is spelled out and misses what is computed, so these loads are a
lower bound.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from workbench.core.record import Installed, Load

_PYTHON_TOOLS = {"python", "ipython", "execute_python"}
_EVIDENCE = 200


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
        places: folders that hold them, e.g. ``/root/.claude/skills``.
    """
    ids = {skill.folder: skill.id for skill in installed}
    if not ids:
        return []
    pattern = _paths(ids, places)
    seen: dict[tuple[str, str, str], Load] = {}
    for call in calls:
        for path, folder, rest in _matches(pattern, call):
            tier: Literal["body", "file"] = "body" if _is_body(rest) else "file"
            via: Literal["python", "shell"] = "python" if call.tool in _PYTHON_TOOLS else "shell"
            load = Load(id=ids[folder], tier=tier, via=via, evidence=path[:_EVIDENCE], turn=call.turn)
            seen.setdefault((load.id, tier, path), load)
    return list(seen.values())


def _paths(folders: Iterable[str], places: Sequence[str]) -> re.Pattern[str]:
    """Matches ``<place>/<folder>/<rest>``; a place may be written from ``~``, ``$HOME`` or relative."""
    spellings = {s for place in places for s in _spellings(place)}
    place = "|".join(re.escape(s) for s in sorted(spellings, key=len, reverse=True))
    folder = "|".join(re.escape(f) for f in sorted(folders, key=len, reverse=True))
    return re.compile(rf"(?:{place})/+({folder})(?![\w.-])(/[^\s\"'`;|&<>(){{}}]*)?")


def _spellings(place: str) -> Iterator[str]:
    yield place
    yield "$SKILLS_DIR"
    yield "${SKILLS_DIR}"
    if place.startswith("/root/"):
        for home in ("~", "$HOME", "${HOME}"):
            yield home + place.removeprefix("/root")
    parts = place.strip("/").split("/")
    if len(parts) >= 2:
        yield "/".join(parts[-2:])


def _matches(pattern: re.Pattern[str], call: Call) -> Iterator[tuple[str, str, str]]:
    for text in _texts(call.arguments):
        for match in pattern.finditer(text):
            rest = match[2] or ""
            if rest.strip("/"):
                yield match[0], match[1], rest.strip("/")


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


def _is_body(rest: str) -> bool:
    return rest.lower() == "skill.md"
