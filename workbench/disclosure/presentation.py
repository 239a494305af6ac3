"""The disclosure protocol: routed skills -> the text and tools an agent gets.

Each other module in this folder is one way of showing skills and exports
``present(skills, budget, observe) -> Presentation``. Law, tested for every way:

- nothing to show: no text about skills and no tool;
- display names are unique, and neither they nor the wording reveal pool ids, gold or benchmark;
- the catalogue's text stays within its budget; a skill whose name and description did not fit
  is in `not_shown`, never shortened in silence;
- catalogue entries are escaped: as many entries can be parsed from the text as were shown;
- a skill's own text is delivered unchanged: what it says is part of the treatment.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Protocol

from inspect_ai.tool import Tool, ToolDef

from workbench.core.digest import digest_text
from workbench.core.record import Load

DEFAULT_BUDGET = 20_000
"""Characters of catalogue text; 50 skills with 300-character descriptions fit."""


@dataclass(frozen=True)
class ShownSkill:
    """A skill installed in the sandbox, as the agent may get to know it.

    Attributes:
        id: pool id, for the record only; never part of any text.
        name: unique display name within the trial.
        description: one text, as written.
        place: absolute path of its folder in the sandbox.
        skill_md: full text of its SKILL.md.
    """

    id: str
    name: str
    description: str
    place: str
    skill_md: str


@dataclass(frozen=True)
class Presentation:
    """What goes to the agent.

    Attributes:
        text: put into the system prompt; empty when there is nothing to say.
        tools: given to the agent beside its own.
        shown, not_shown: pool ids, in order.
    """

    text: str
    tools: tuple[Tool | ToolDef, ...]
    shown: tuple[str, ...]
    not_shown: tuple[str, ...]

    @property
    def digest(self) -> str | None:
        """sha256 of the text, ``None`` when there is none."""
        return digest_text(self.text) if self.text else None


Observe = Callable[[Load], None]
"""Told of every load as it happens."""


class Disclosure(Protocol):
    """A module in this folder."""

    def present(self, skills: Sequence[ShownSkill], budget: int, observe: Observe) -> Presentation:
        """Show `skills` within `budget` characters."""


def entry(skill: ShownSkill) -> str:
    """One catalogue entry. Name and description are escaped, so they cannot close the tag."""
    name, description = (escape(" ".join(t.split()), quote=False) for t in (skill.name, skill.description))
    return f"<skill><name>{name}</name><description>{description}</description></skill>"


def within(
    skills: Sequence[ShownSkill], budget: int, text: Callable[[ShownSkill], str]
) -> tuple[int, list[str]]:
    """How many leading skills fit into `budget` characters, and their texts."""
    texts: list[str] = []
    used = 0
    for skill in skills:
        piece = text(skill)
        used += len(piece) + 1
        if used > budget:
            break
        texts.append(piece)
    return len(texts), texts
