"""The ``docker context`` that the command line would use, read from its files.

Not through the SDK, which is imported in a tenth of a second, looks at the process' own environment only and
takes a context that is missing for the default one.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Context:
    """A context that somebody has chosen; never the built-in ``default``.

    Attributes:
        chosen_by: ``DOCKER_CONTEXT``, or the file that names it.
        host: address of its engine; empty where there is no such context.
        tls: whether the engine is to be spoken to with TLS.
        known: names of all contexts there are.
    """

    name: str
    chosen_by: str
    host: str = ""
    tls: bool = False
    known: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"docker context '{self.name}' ({self.chosen_by})"


def chosen(environ: Mapping[str, str]) -> Context | None:
    """The context in use: ``$DOCKER_CONTEXT``, else what ``docker context use`` has set.

    ``None`` where nobody has chosen, and where ``$DOCKER_HOST`` is set, which wins.
    """
    if environ.get("DOCKER_HOST", "").strip():
        return None
    folder = Path(environ.get("DOCKER_CONFIG") or Path(environ.get("HOME") or "/nonexistent", ".docker"))
    name, by = environ.get("DOCKER_CONTEXT"), "DOCKER_CONTEXT"
    if not name:
        name, by = _read(folder / "config.json").get("currentContext"), str(folder / "config.json")
    if not name or name == "default":
        return None
    key = hashlib.sha256(str(name).encode()).hexdigest()
    meta = _read(folder / "contexts" / "meta" / key / "meta.json")
    host = str(_part(_part(meta, "Endpoints"), "docker").get("Host") or "")
    tls = (folder / "contexts" / "tls" / key / "docker").is_dir()
    return Context(str(name), by, host, tls, () if host else _names(folder))


def _names(folder: Path) -> tuple[str, ...]:
    files = (folder / "contexts" / "meta").glob("*/meta.json")
    return tuple(sorted({"default", *(str(_read(file).get("Name", "?")) for file in files)}))


def _part(record: dict[str, Any], key: str) -> dict[str, Any]:
    found = record.get(key)
    return found if isinstance(found, dict) else {}


def _read(file: Path) -> dict[str, Any]:
    """A file's JSON object; empty where there is none."""
    try:
        found = json.loads(file.read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
