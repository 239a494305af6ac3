"""Background projection: what all skills of a library share is taken out of their vectors."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import Field as Option

from workbench.core.content import Content
from workbench.core.digest import digest_json
from workbench.routing import background, words
from workbench.routing.cache import Once
from workbench.routing.router import Query
from workbench.routing.space import RefinedSpace, SpaceStage, inner_space
from workbench.routing.stage import RouteContext, Stage

if TYPE_CHECKING:
    from numpy.typing import NDArray

REVISION = 2
REFINES = True
BEHIND = {"dense": {"model": "example/encoder"}}
EXAMPLE = {"generic_words": 5}


class Config(Content):
    """Options of the stage (SkillRep, section 3.3).

    It is the last stage that refines a space: what has moved skills or queries stands before it. Of a
    small pool it removes less than asked for: at most half of the directions that its vectors span,
    and says so.

    Attributes:
        directions: top right singular vectors removed with rescaling; the paper's 2.
        generic: further directions removed without, taken from generic words; the paper's 2.
        generic_words: words of the lowest inverse document frequency that they are taken from.
    """

    directions: int = Option(2, ge=0)
    generic: int = Option(2, ge=0)
    generic_words: int = Option(100, ge=1)


class _Projection(NamedTuple):
    """What is removed at each level (rows orthonormal), and each skill's scale after the first."""

    first: NDArray[Any]
    second: NDArray[Any]
    scales: NDArray[Any]


class Project(RefinedSpace):
    """A space without its background.

    Nothing is encoded or copied: the inner product of a query with a projected skill is that of
    the projected query with the skill, times the skill's scale.
    """

    def __init__(self, config: Config, context: RouteContext, inner: SpaceStage) -> None:
        super().__init__(inner)
        self._config = config
        self._context = context
        self._projection = Once(self._open)
        self._removed: int | None = None

    @property
    def index_fingerprint(self) -> str:
        """Digest of the inner index, the options, and the code that splits words."""
        options = self._config.model_dump(mode="json")
        return digest_json(["project", REVISION, words.REVISION, options, self.inner.index_fingerprint])

    def scales(self) -> NDArray[Any]:
        """1 / length after the first level."""
        return self._projection().scales

    def encode(self, queries: Sequence[Query]) -> NDArray[Any]:
        """The inner space's query vectors without the background; no longer of unit length."""
        import numpy as np

        found = self._projection()
        narrowed = background.without(self.inner.encode(queries), found.second)
        projected: NDArray[Any] = background.without(narrowed, found.first).astype(np.float32)
        return projected

    def _open(self) -> _Projection:
        import numpy as np

        folder = self.cache.open(self.index_fingerprint, self._build)
        found = _Projection(*(np.load(folder / f"{name}.npy") for name in _Projection._fields))
        self._removed = len(found.first) + len(found.second)
        return found

    def notes(self) -> tuple[str, ...]:
        """That less was removed than asked for, where it was."""
        asked = self._config.directions + self._config.generic
        if self._removed is None or self._removed == asked:
            return super().notes()
        less = f"project: {self._removed} directions removed, not {asked}: this pool has no more"
        return (*super().notes(), less)

    def _build(self, folder: Path, pieces: Path) -> None:
        import numpy as np
        from bm25s.stopwords import STOPWORDS_EN

        config = self._config
        rows, starts = self.inner.stored()
        self._context.progress("project", 0, 1)
        room = min(rows.shape) // 2
        first = background.principal(rows, min(config.directions, room))
        remaining = background.lengths(rows, first)
        scales = np.where(remaining > 1e-6, 1 / np.maximum(remaining, 1e-6), 0.0)
        second = np.zeros((0, rows.shape[1]))
        if generic := min(config.generic, room - len(first)):
            second = background.generic(
                rows,
                starts,
                scales,
                first,
                self.pool.skills(),
                frozenset(STOPWORDS_EN),
                config.generic_words,
                generic,
            )
        for name, array in _Projection(first, second, scales)._asdict().items():
            np.save(folder / f"{name}.npy", array, allow_pickle=False)
        self._context.progress("project", 1, 1)


def build(config: Config, context: RouteContext) -> Stage:
    """The stage in place of the one before it; nothing is computed until it is needed."""
    return Project(config, context, inner_space(context, "project"))
