"""Folder names to install skills under: one safe path segment, never taken from the frontmatter."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from workbench.core.digest import digest_text
from workbench.skills.skill import Skill

_MAX_BYTES = 100
_KEPT = set(" ._-+@")
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)", re.IGNORECASE)


def safe_folder(name: str) -> str:
    """A real folder's name, or an id's last segment, as a safe path segment.

    Usual names come back unchanged. Everything but letters, digits, combining marks and
    ``._-+@`` and inner spaces becomes ``-``; names that are reserved on some system, empty, or
    longer than 100 bytes are altered so that they keep apart.
    """
    kept = "".join(char if char.isalnum() or char in _KEPT or _is_mark(char) else "-" for char in name)
    kept = kept.lstrip(" .-").rstrip(" .")
    if _RESERVED.match(kept):
        kept = f"skill-{kept}"
    if len(kept.encode("utf-8")) > _MAX_BYTES:
        kept = f"{kept.encode('utf-8')[:80].decode('utf-8', 'ignore')}-{digest_text(name)[:8]}"
    return kept or "skill"


def unique_folders(skills: Iterable[Skill], taken: Iterable[str] = ()) -> dict[str, str]:
    """id -> folder, no two alike on any file system (case is ignored). Independent of the order given.

    In id order, the first skill that wants a folder gets it; the others get ``-2``, ``-3``, ...
    Folders that are `taken` beforehand are given to none.
    """
    wanted = {skill.id: skill.folder for skill in skills}
    used = {folder.casefold() for folder in taken}
    reserved = {folder.casefold() for folder in wanted.values()} | used
    given: dict[str, str] = {}
    for skill_id in sorted(wanted):
        folder, number = wanted[skill_id], 1
        while folder.casefold() in used or (number > 1 and folder.casefold() in reserved):
            number += 1
            folder = f"{wanted[skill_id]}-{number}"
        used.add(folder.casefold())
        given[skill_id] = folder
    return given


def _is_mark(char: str) -> bool:
    # Combining marks belong to letters written in two code points (NFD), and to many scripts.
    return unicodedata.category(char).startswith("M")
