"""Another pool, by name, with its ids as they are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from workbench.skills.reader import ReadResult
from workbench.skills.source import Found, SourceContext

Options = Annotated[str, Field(min_length=1, description="``pool: NAME``")]


def describe(options: str, context: SourceContext) -> str:
    """The pool's name."""
    return f"pool {options}"


def signature(options: str, context: SourceContext) -> str:
    """The pool's fingerprint."""
    with context.open_pool(options) as pool:
        return pool.fingerprint


def read(options: str, context: SourceContext) -> Iterator[Found]:
    """The pool's skills in id order; what it rejected is accounted for in its own build."""
    with context.open_pool(options) as pool:
        for number, skill in enumerate(pool.skills(), 1):
            context.progress(f"reading pool {options}", number, len(pool))
            tree = None if pool.is_text_only(skill.id) else pool.tree(skill.id)
            result = ReadResult(skill.name, skill.description, skill.body)
            yield Found(skill.id, f"pool {options}", skill.folder, result, tree)
