"""What a model reads of a skill and of a query: fields, caps and prefixes, as data in a recipe."""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict
from pydantic import Field as Option

from workbench.core.content import Content
from workbench.skills.skill import Skill

SkillField = Literal["name", "description", "body"]


class _Verbatim(Content):
    """Content whose blanks count: they are part of what a model was trained on."""

    model_config = ConfigDict(frozen=True, extra="forbid", str_strip_whitespace=False)


class QueryText(_Verbatim):
    """A query: `prefix`, then the first `chars` characters of the task.

    Attributes:
        prefix: put before the task, exactly as written.
        chars: characters kept of the task; all if not given.
    """

    prefix: str = ""
    chars: int | None = Option(None, ge=1)

    def render(self, task: str) -> str:
        """The text for one task; lone surrogates, which no tokeniser takes, become ``?``."""
        return self.prefix + task[: self.chars].encode("utf-8", "replace").decode("utf-8")


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

    def render(self, skill: Skill) -> str:
        """The text for one skill."""
        return self.prefix + self.separator.join(
            getattr(skill, name)[: self._cap(name)] for name in self.fields
        )

    def cuts(self, skill: Skill) -> bool:
        """Whether `render` leaves some of a field's text out."""
        return any(
            len(getattr(skill, name)) > (self._cap(name) or len(getattr(skill, name))) for name in self.fields
        )

    def _cap(self, name: SkillField) -> int | None:
        return {"name": None, "description": self.description_chars, "body": self.body_chars}[name]
