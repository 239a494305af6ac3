"""The protocol of pool sources: one file per kind in ``sources/``, found by its name.

A source module has

- ``Options``: the type of its entry in a pool's YAML file (a `Content` model or a scalar);
- ``describe(options, context) -> str``: one line for people;
- ``signature(options, context) -> str``: changes whenever `read` would find something else, as
  cheaply as can be (sizes and times of change, or a pinned digest; never the contents);
- ``read(options, context) -> Iterator[Found]``.

Law, tested for every source (tests/contract/test_pool_sources.py):

- every skill found is yielded, accepted, repaired or rejected; one bad skill stops nothing;
- ids are a function of the source alone, not of where it lies or in which order it is walked;
- reading twice yields the same finds in the same order; nothing that is read is executed;
- a source that cannot be read at all raises a `UsageError` that says what to type.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, cast

from workbench.core.plugins import load_plugin, plugin_names
from workbench.core.types import Progress, silent
from workbench.skills.pool import Pool
from workbench.skills.reader import ReadResult
from workbench.skills.skill import SkillTree

_PACKAGE = "workbench.skills.sources"

SuiteData = Callable[[str], Path]
"""Name of a suite -> folder of its task folders; raises `UsageError` when it is not at hand."""


@dataclass(frozen=True, slots=True)
class Found:
    """One thing a source came across.

    Attributes:
        id: unique within the source; empty only when it is rejected for want of one.
        origin: where it was found, for people.
        folder: safe folder name to install under.
        tree: its files; ``None`` when it came as text alone, or is rejected.
        nested: it lies inside another skill's folder.
    """

    id: str
    origin: str
    folder: str
    result: ReadResult
    tree: SkillTree | None = None
    nested: bool = False


@dataclass(frozen=True)
class SourceContext:
    """What a source may use.

    Attributes:
        base: folder that relative paths start from.
        downloads: folder for files that are fetched.
        suite_data: folder of a suite's tasks.
        open_pool: a pool by name, built when needed.
        record: told about each link that was resolved inside a root.
    """

    base: Path
    downloads: Path
    suite_data: SuiteData
    open_pool: Callable[[str], Pool]
    progress: Progress = silent
    record: Callable[[str], None] = lambda link: None


class Source(Protocol):
    """A source module, as seen from outside; see the law above."""

    Options: Any

    def describe(self, options: Any, context: SourceContext) -> str:
        """One line for people."""

    def signature(self, options: Any, context: SourceContext) -> str:
        """Changes whenever `read` would find something else."""

    def read(self, options: Any, context: SourceContext) -> Iterator[Found]:
        """Everything the source holds."""


def source_kinds() -> list[str]:
    """Names of all kinds of source, sorted."""
    return plugin_names(_PACKAGE)


def load_source(kind: str) -> Source:
    """The module of a kind (UnknownNameError names the nearest)."""
    return cast(Source, load_plugin(_PACKAGE, kind, "pool source"))
