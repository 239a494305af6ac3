"""What a skill breaks of the Agent Skills specification (agentskills.io/specification). Filters nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from workbench.skills.frontmatter import Value
from workbench.skills.reader import SPEC_KEYS, read_skill
from workbench.skills.skill import Skill, SkillTree

_MAX_NAME = 64
_MAX_DESCRIPTION = 1024
_MAX_COMPATIBILITY = 500
_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")


class Finding(NamedTuple):
    """One breach: the rule's name, and what was found."""

    rule: str
    detail: str


def spec_findings(skill: Skill, tree: SkillTree) -> Iterator[Finding]:
    """Every breach of the specification in a skill's SKILL.md, as strictly as it is written."""
    read = read_skill(tree.files["SKILL.md"].data, skill.folder)
    for repair in read.repairs:
        yield Finding("frontmatter", repair)
    yield from _name(skill)
    if not 1 <= len(skill.description) <= _MAX_DESCRIPTION:
        yield Finding("description_length", f"{len(skill.description)} characters, 1 to {_MAX_DESCRIPTION}")
    yield from _optional(read.extra)


def _name(skill: Skill) -> Iterator[Finding]:
    if len(skill.name) > _MAX_NAME:
        yield Finding("name_length", f"{len(skill.name)} characters, 1 to {_MAX_NAME}")
    if not _NAME.fullmatch(skill.name):
        yield Finding("name_form", f"{skill.name!r}: lower-case letters, digits and single hyphens")
    if skill.name != skill.folder:
        yield Finding("name_differs_from_folder", f"{skill.name!r} in {skill.folder!r}")


def _optional(extra: Mapping[str, Value]) -> Iterator[Finding]:
    for key in sorted(set(extra) - SPEC_KEYS):
        yield Finding("unknown_key", key)
    metadata = extra.get("metadata", {})
    if not isinstance(metadata, dict) or any(not isinstance(value, str) for value in metadata.values()):
        yield Finding("metadata_form", "a map of texts to texts")
    for key in ("license", "compatibility", "allowed-tools"):
        if not isinstance(extra.get(key, ""), str):
            yield Finding(f"{key.replace('-', '_')}_form", "one text")
    if not 1 <= len(str(extra.get("compatibility", "any"))) <= _MAX_COMPATIBILITY:
        yield Finding("compatibility_length", f"1 to {_MAX_COMPATIBILITY} characters")
