"""What a routing method is made of: a pool to choose from, a context to be built in, a stage."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from workbench.core.types import Progress, Ranking, silent
from workbench.routing.language import Complete
from workbench.routing.router import Query
from workbench.skills.skill import Skill

if TYPE_CHECKING:
    from workbench.routing.pipeline import Pipeline


class SkillCollection(Protocol):
    """The part of a pool that routing needs. Immutable; ids are unique and sorted."""

    @property
    def name(self) -> str:
        """The pool's name, for messages."""

    @property
    def fingerprint(self) -> str:
        """Digest of the content; equal pools have equal fingerprints in any order of reading."""

    def __len__(self) -> int: ...

    def __contains__(self, skill_id: object, /) -> bool: ...

    def ids(self) -> Sequence[str]:
        """All ids, sorted."""

    def get(self, skill_id: str) -> Skill:
        """One skill by id; raises if there is none."""

    def skills(self, ids: Iterable[str] | None = None) -> Iterator[Skill]:
        """All skills, or those named, one at a time in id order."""


@dataclass(frozen=True)
class RouteContext:
    """What a stage may use while it is built and while it runs.

    Attributes:
        pool: the skills to choose from.
        cache: folder for what can be built or fetched again.
        seed: for methods that draw lots.
        progress: told about long work.
        channels: the finished pipelines of a method that combines others, in the recipe's order.
        inner: the stage before, for a method that refines it.
        complete: answers what stages ask of a language model; ``None`` where nobody does.
    """

    pool: SkillCollection
    cache: Path
    seed: int = 0
    progress: Progress = silent
    channels: tuple[Pipeline, ...] = field(default=())
    inner: Stage | None = None
    complete: Complete | None = None


class Stage(ABC):
    """One step of a router.

    A module in ``workbench/routing/methods/`` exports

    - ``Config``: a frozen model of the stage's options in a recipe;
    - ``build(config, context) -> Stage``: cheap; long work waits for `prepare`;
    - ``REVISION: int``: raised when a change of code alters an answer;
    - ``USES_GOLD = True`` if the stage may see a query's gold skills;
    - ``IS_CONTROL = True`` if it answers by something else than the query's text;
    - ``NEEDS_CANDIDATES = True`` if it cannot stand first in a recipe;
    - ``REFINES = True`` if it takes the place of the stage before it, which it finds in
      `RouteContext.inner` (``methods/project.py`` behind ``methods/dense.py``); it also exports
      ``BEHIND``, an example of that stage;
    - ``REWRITES = True`` if its stage is a `QueryStage`, which cannot stand last;
    - ``IS_SPACE = True`` if its stage is a `space.SpaceStage`, so that such a method can follow;
    - ``EXAMPLE``: options of a small instance, if the defaults do not make one. The contract tests
      run it; models named in it are random ones.

    A `Config` with a field ``channels`` (see ``methods/fuse.py``) makes a method that combines
    other stages; they arrive built in `RouteContext.channels`.
    """

    def prepare(self) -> None:  # noqa: B027  (most stages have nothing to prepare)
        """Do the long work (load weights, build or open an index). Idempotent, thread-safe."""

    def depth(self, k: int) -> int:
        """How many candidates it wants from the stage before it in order to give `k`."""
        return k

    @property
    def identity(self) -> str:
        """What, besides pool and options, decides its answers, e.g. the digest of its weights."""
        return ""

    @property
    def index_fingerprint(self) -> str | None:
        """Digest of the index in use, ``None`` without one. Does not need the index to exist."""
        return None

    def notes(self) -> tuple[str, ...]:
        """What happened since it was built that a reader of its answers must know, a line each."""
        return ()

    @abstractmethod
    def run(self, queries: Sequence[Query], candidates: Sequence[Ranking] | None, k: int) -> list[Ranking]:
        """Rank skills for each query; the law of `router.Router` holds for the result.

        Args:
            candidates: what the stage before gave, per query: rank these and no others.
                ``None`` for the first stage: rank the pool.
            k: at most so many per query, at least 1.
        """


class QueryStage(Stage):
    """A stage that changes what is asked and not what is answered: candidates pass through it."""

    @abstractmethod
    def rewrite(self, queries: Sequence[Query]) -> list[Query]:
        """The queries for the stages behind it, in order; none depends on the others."""

    def run(self, queries: Sequence[Query], candidates: Sequence[Ranking] | None, k: int) -> list[Ranking]:
        """The candidates as they are."""
        return [ranking[:k] for ranking in candidates or [()] * len(queries)]


def candidate_ids(candidates: Sequence[Ranking] | None, place: int) -> Collection[str] | None:
    """The ids a stage may choose from for one query; ``None`` means the whole pool."""
    return None if candidates is None else {entry.id for entry in candidates[place]}
