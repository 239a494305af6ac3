"""What a model reads of a skill and of a query: fields, caps and prefixes, as data in a recipe."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from pydantic import ConfigDict
from pydantic import Field as Option

from workbench.core.content import Content
from workbench.skills.skill import Skill

MAX_SECTIONS = 64
_HEADING = re.compile(r" {0,3}#{1,6}\s")
_FENCE = re.compile(r" {0,3}(```|~~~)")

SkillField = Literal["name", "description", "body"]


class _Verbatim(Content):
    """Content whose blanks count: they are part of what a model was trained on."""

    model_config = ConfigDict(frozen=True, extra="forbid", str_strip_whitespace=False)


class QueryText(_Verbatim):
    """A query: `prefix`, then the first `chars` characters of the task.

    Attributes:
        prefix: put before the task, exactly as written.
        chars: characters kept of the task; all if not given.
        tokens: longest text for one task, prefix included, in the model's tokens; the model's limit
            if not given.
        long: what happens to a text beyond that limit: it is ``cut``, or read in ``windows`` of that
            length, whose vectors are averaged, so that nothing of the task is lost.
        analysis: what follows where the query has an analysis, which replaces ``{analysis}``
            (SkillReason, appendix E.1; line breaks are not shown there).
    """

    prefix: str = ""
    chars: int | None = Option(None, ge=1)
    tokens: int | None = Option(None, ge=16)
    long: Literal["cut", "windows"] = "cut"
    analysis: str = "\nQuery analysis: {analysis}\nIn summary, the retrieval representation for this task is:"

    def render(self, task: str, analysis: str = "") -> str:
        """The text for one task; lone surrogates, which no tokeniser takes, become ``?``."""
        reasoned = self.analysis.replace("{analysis}", analysis) if analysis else ""
        return self.prefix + (task[: self.chars] + reasoned).encode("utf-8", "replace").decode("utf-8")


class DocumentText(_Verbatim):
    """A skill: its fields, each cut to its cap, joined by `separator`.

    Attributes:
        fields: in the order in which they are read.
        separator: between fields, exactly as written.
        prefix: before the first field.
        description_chars: characters kept of the description; all if not given.
        body_chars: characters kept of the body; all if not given.
    """

    fields: tuple[SkillField, ...] = Option(("name", "description", "body"), min_length=1)
    separator: str = " | "
    prefix: str = ""
    description_chars: int | None = Option(None, ge=1)
    body_chars: int | None = Option(None, ge=1)

    def parts(self, skill: Skill) -> list[str]:
        """A text for each section of the body, with the other fields before it; at least one."""
        return [self.render(replace(skill, body=section)) for section in sections(skill.body)]

    def render(self, skill: Skill) -> str:
        """The text for one skill."""
        return self.prefix + self.separator.join(self.field(skill, name) for name in self.fields)

    def field(self, skill: Skill, name: SkillField) -> str:
        """One field, cut to its cap."""
        text: str = getattr(skill, name)[: self._cap(name)]
        return text

    def cuts(self, skill: Skill) -> bool:
        """Whether `render` leaves some of a field's text out."""
        return any(
            len(getattr(skill, name)) > (self._cap(name) or len(getattr(skill, name))) for name in self.fields
        )

    def _cap(self, name: SkillField) -> int | None:
        return {"name": None, "description": self.description_chars, "body": self.body_chars}[name]


def sections(body: str) -> list[str]:
    """A markdown body split before each heading; blocks of code are not looked into.

    Headings that follow each other directly stay together; what is beyond `MAX_SECTIONS` is one
    section. An empty body is one empty section.
    """
    found: list[list[str]] = [[]]
    fenced = False
    for line in body.split("\n"):
        if _FENCE.match(line):
            fenced = not fenced
        written = any(text.strip() and not _HEADING.match(text) for text in found[-1])
        if not fenced and written and _HEADING.match(line) and len(found) < MAX_SECTIONS:
            found.append([])
        found[-1].append(line)
    return ["\n".join(lines) for lines in found]


class SkillListing:
    """Numbered candidates as a judge reads them (SkillRouter, appendix G)."""

    def __init__(self, document: DocumentText) -> None:
        self._document = document

    def render(self, skills: Sequence[Skill]) -> str:
        """``[1] Name: ...``, then description and body, each cut to its cap, for every skill."""
        return "\n".join(f"[{number}] {self._one(skill)}" for number, skill in enumerate(skills, start=1))

    def _one(self, skill: Skill) -> str:
        fields = self._document.fields
        return "\n".join(f"{name.capitalize()}: {self._document.field(skill, name)}" for name in fields)
