"""Recipe + pool -> router."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from workbench.core.types import Ranking
from workbench.core.workspace import Workspace
from workbench.routing.pipeline import Pipeline, Step
from workbench.routing.recipe import Recipe, StageSpec, load_recipe
from workbench.routing.router import Query
from workbench.routing.stage import Progress, RouteContext, SkillCollection, no_progress


class RecipeRouter:
    """A `router.Router` made from a recipe."""

    def __init__(self, recipe: Recipe, context: RouteContext) -> None:
        self.recipe = recipe
        self._pipeline = _pipeline(recipe.stages, context)

    @property
    def name(self) -> str:
        """The recipe's name."""
        return self.recipe.name

    @property
    def fingerprint(self) -> str:
        """Digest of everything but the pool that can change an answer: stages, options, seed, weights."""
        return self._pipeline.fingerprint

    @property
    def index_fingerprint(self) -> str | None:
        """Digest of the indexes in use; ``None`` without an index. Known before they are built."""
        return self._pipeline.index_fingerprint

    def prepare(self) -> None:
        """Load weights, and build or open indexes, now rather than at the first query.

        Raises:
            UsageError: missing extra, weights or data.
            MachineError: no place to write an index.
        """
        self._pipeline.prepare()

    def route(self, queries: Sequence[Query], k: int) -> list[Ranking]:
        """Rank the pool for each query; see `router.Router`."""
        if k < 1:
            raise ValueError(f"k must be at least 1, not {k}")
        return self._pipeline.run(queries, k)


def router_names(workspace: Workspace) -> list[str]:
    """Names of all routers of a workspace, sorted."""
    return workspace.names("routers")


def load_router(
    name: str, pool: SkillCollection, workspace: Workspace, *, seed: int = 0, progress: Progress | None = None
) -> RecipeRouter:
    """The router of a name, over a pool. Cheap: indexes and weights wait for `prepare` or the first query.

    Args:
        name: of a recipe, ``routers/<name>.yaml``.
        pool: the skills to choose from.
        workspace: finds the recipe and the cache.
        seed: for methods that draw lots.
        progress: told about long work.

    Raises:
        UnknownNameError: no such router; names the nearest one.
        ContentError: its recipe is wrong; says file and line.
    """
    recipe = load_recipe(workspace.find("routers", name))
    return RecipeRouter(recipe, RouteContext(pool, workspace.cache, seed, progress or no_progress))


def _pipeline(specs: Sequence[StageSpec], context: RouteContext) -> Pipeline:
    return Pipeline([_step(spec, context) for spec in specs], context.pool)


def _step(spec: StageSpec, context: RouteContext) -> Step:
    channels = tuple(_pipeline(channel, context) for channel in spec.channels)
    stage = spec.module.build(spec.options, replace(context, channels=channels))
    return Step(spec.method, stage, spec.digest, getattr(spec.module, "USES_GOLD", False))
