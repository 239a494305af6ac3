"""The keys of a pool's YAML file.

description: one line
sources:
  - folder: {path: skills, prefix: community/}
  - jsonl: {url: "https://...", sha256: ...}
  - task_skills: {suite: skillsbench}
  - pool: other
count: 2636
rejects_allowed: 3
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, cast

from pydantic import Field, create_model, model_validator

from workbench.core.content import Content, load_content
from workbench.skills.source import load_source, source_kinds


class SourceEntry(Content):
    """One source: exactly one key, the name of a file in ``workbench/skills/sources/``."""

    @model_validator(mode="after")
    def _one_kind(self) -> SourceEntry:
        if len(self.model_fields_set) != 1 or self.options is None:
            raise ValueError(f"give exactly one of {', '.join(type(self).model_fields)}")
        return self

    @property
    def kind(self) -> str:
        """Name of the source's module."""
        return next(iter(self.model_fields_set))

    @property
    def options(self) -> Any:
        """An instance of the module's ``Options``."""
        return getattr(self, self.kind)


class PoolDefinition(Content):
    """A pool, as its YAML file defines it."""

    description: str = Field(min_length=1, description="one line for lists")
    sources: tuple[SourceEntry, ...] = Field(min_length=1, description="where its skills come from, in order")
    count: int | None = Field(default=None, ge=0, description="skills it must hold")
    rejects_allowed: int = Field(default=0, ge=0, description="finds that may be rejected")


def load_definition(path: Path) -> PoolDefinition:
    """Read a pool's YAML file.

    Raises:
        ContentError: starts with ``FILE:LINE``; names the key and the nearest one.
    """
    return load_content(path, _model())


@cache
def _model() -> type[PoolDefinition]:
    """`PoolDefinition` with one field for each kind of source there is."""
    kinds: dict[str, Any] = {kind: (load_source(kind).Options | None, None) for kind in source_kinds()}
    entry = create_model("SourceEntry", __base__=SourceEntry, **kinds)
    model = create_model(
        "PoolDefinition", __base__=PoolDefinition, sources=(tuple[entry, ...], Field(min_length=1))
    )
    return cast(type[PoolDefinition], model)
