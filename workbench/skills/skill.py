"""What a skill is: a folder with a SKILL.md (name, description, body) and any other files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from workbench.core.digest import digest_bytes, digest_parts


@dataclass(frozen=True, slots=True)
class Skill:
    """The text of one skill, as a router reads it.

    Attributes:
        id: unique and stable within its pool, e.g. ``gt/mesh-analysis``.
        name: display name from the frontmatter; data, never a path; need not be unique.
        description: one text, may be empty.
        body: the markdown after the frontmatter.
        folder: safe folder name to install under (one path segment).
        digest: sha256 of the skill's whole tree.
    """

    id: str
    name: str
    description: str
    body: str
    folder: str
    digest: str


class SkillFile(NamedTuple):
    """One file of a skill: bytes and whether its owner may execute it."""

    data: bytes
    executable: bool = False

    @property
    def digest(self) -> str:
        """sha256 of the bytes, hex."""
        return digest_bytes(self.data)


@dataclass(frozen=True)
class SkillTree:
    """All files of one skill, byte-exact: relative POSIX path -> file, always with ``SKILL.md``.

    Paths are relative, without ``..``; there are no links. The digest covers path, executable
    bit and bytes of every file, so equal digests mean equal installs.
    """

    files: Mapping[str, SkillFile] = field(default_factory=dict)

    @property
    def digest(self) -> str:
        """sha256 over (path, executable, bytes) of every file in path order."""
        return digest_parts(self._parts())

    def _parts(self) -> Iterator[str]:
        for path in sorted(self.files):
            file = self.files[path]
            yield path
            yield "x" if file.executable else "-"
            yield file.digest
