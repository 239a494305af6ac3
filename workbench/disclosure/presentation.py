"""The disclosure protocol: routed skills -> the text and tools an agent gets.

Each other module in this folder is one way of showing skills and exports
``present(skills, showing, observe) -> Presentation``. Law, tested for every way:

- nothing to show: no text about skills and no tool;
- display names are unique, and neither they nor the wording reveal pool ids, gold or benchmark;
- the catalogue's text stays within its budget; a skill whose name and description did not fit
  is in `not_shown`, never shortened in silence;
- catalogue entries are escaped: as many entries can be parsed from the text as were shown;
- a skill's own text is delivered unchanged: what it says is part of the treatment;
- the wording says what there is, not what to do, unless a nudge is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Literal, Protocol, get_args

from inspect_ai.tool import Tool, ToolDef

from workbench.core.digest import digest_text
from workbench.core.record import Load

DEFAULT_BUDGET = 20_000
"""Characters of catalogue text; 50 skills with 300-character descriptions fit."""

Nudge = Literal["neutral", "encouraged", "required"]
NUDGES: tuple[Nudge, ...] = get_args(Nudge)
"""How strongly an agent is told to use skills; a factor of an experiment, neutral unless told otherwise."""


@dataclass(frozen=True)
class Showing:
    """How skills are shown.

    Attributes:
        way: a file in this folder.
        budget: characters of catalogue text; ten times as many of bodies.
        nudge: see `Nudge`.
        picks: bodies that a model may choose where it chooses before it starts.
    """

    way: str = "progressive"
    budget: int = DEFAULT_BUDGET
    nudge: Nudge = "neutral"
    picks: int = 1


@dataclass(frozen=True)
class ShownSkill:
    """A skill as the agent may get to know it.

    Attributes:
        id: pool id, for the record only; never part of any text.
        name: unique display name within the trial.
        description: one text, as written.
        place: absolute path of its folder in the sandbox; ``None`` where it is a text alone.
        skill_md: full text of its SKILL.md, or of its body where it is a text alone.
    """

    id: str
    name: str
    description: str
    place: str | None
    skill_md: str


@dataclass(frozen=True)
class Presentation:
    """What goes to the agent.

    Attributes:
        text: put into the system prompt; empty when there is nothing to say.
        tools: given to the agent beside its own.
        shown, not_shown: pool ids, in order.
        choice: asked before the agent starts; what it gives takes the place of this presentation.
    """

    text: str
    tools: tuple[Tool | ToolDef, ...]
    shown: tuple[str, ...]
    not_shown: tuple[str, ...]
    choice: Choice | None = None

    @property
    def digest(self) -> str | None:
        """sha256 of the text, ``None`` when there is none."""
        return digest_text(self.text) if self.text else None


@dataclass(frozen=True)
class Choice:
    """A question to the model about what it wants to be shown.

    Attributes:
        prompt: put behind the task, in a conversation of its own.
        pick: the model's reply -> what is shown, or ``None`` when the reply names nothing.
        fallback: what is shown when no reply can be used.
    """

    prompt: str
    pick: Callable[[str], Presentation | None]
    fallback: Callable[[], Presentation]


Observe = Callable[[Load], None]
"""Told of every load as it happens."""


class Disclosure(Protocol):
    """A module in this folder."""

    def present(self, skills: Sequence[ShownSkill], showing: Showing, observe: Observe) -> Presentation:
        """Show `skills` within the budget."""


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


def content(skill: ShownSkill) -> str:
    """A skill's own text, unchanged, in a tag that names its folder where it has one."""
    place = "" if skill.place is None else f' folder="{skill.place}"'
    return f"<skill_content{place}>\n{skill.skill_md}\n</skill_content>"


def cut_off(skills: Sequence[ShownSkill], count: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Ids of the first `count` skills, and of the others."""
    return tuple(s.id for s in skills[:count]), tuple(s.id for s in skills[count:])
