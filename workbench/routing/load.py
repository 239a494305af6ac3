"""Recipe + pool -> router."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from workbench.core.digest import digest_json
from workbench.core.types import Progress, Ranking, silent
from workbench.core.workspace import Workspace
from workbench.routing.language import Complete, Language
from workbench.routing.pipeline import Passed, Pipeline, Step
from workbench.routing.recipe import Recipe, StageSpec, load_recipe
from workbench.routing.router import Query
from workbench.routing.stage import RouteContext, SkillCollection, Stage


class RecipeRouter:
    """A `router.Router` made from a recipe."""

    def __init__(self, recipe: Recipe, context: RouteContext) -> None:
        self.recipe = recipe
        self._built: list[Stage] = []
        self._pipeline = _pipeline(recipe.stages, context, self._built)

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

    @property
    def parallel(self) -> int:
        """As many as a language model may be asked at the same time; 1 for what runs on this machine."""
        limits = [spec.options.parallel for spec in self.recipe.specs() if isinstance(spec.options, Language)]
        return min(limits, default=1)

    def stages(self) -> tuple[Stage, ...]:
        """Its stages in order, each refined one as what refines it."""
        return tuple(step.stage for step in self._pipeline.steps)

    def every_stage(self) -> tuple[Stage, ...]:
        """All stages, those of channels before the stage that combines them."""
        return tuple(self._built)

    def methods(self) -> tuple[str, ...]:
        """The names of its steps, in order."""
        return tuple(step.method for step in self._pipeline.steps)

    def trace(self, query: Query, k: int) -> list[Passed]:
        """What every step gives for one query; see `Pipeline.trace`."""
        return self._pipeline.trace(query, k)

    def notes(self) -> tuple[str, ...]:
        """What its stages have to say about the answers so far, a line each."""
        return self._pipeline.notes()

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
    name: str,
    pool: SkillCollection,
    workspace: Workspace,
    *,
    seed: int = 0,
    progress: Progress = silent,
    complete: Complete | None = None,
) -> RecipeRouter:
    """The router of a name, over a pool. Cheap: indexes and weights wait for `prepare` or the first query.

    Args:
        name: of a recipe, ``routers/<name>.yaml``.
        pool: the skills to choose from.
        workspace: finds the recipe and the cache.
        seed: for methods that draw lots.
        progress: told about long work.
        complete: answers what stages ask of a language model.

    Raises:
        UnknownNameError: no such router; names the nearest one.
        ContentError: its recipe is wrong; says file and line.
    """
    recipe = load_recipe(workspace.find("routers", name))
    context = RouteContext(pool, workspace.cache, seed, progress, complete=complete)
    return RecipeRouter(recipe, context)


def _pipeline(specs: Sequence[StageSpec], context: RouteContext, built: list[Stage]) -> Pipeline:
    steps: list[Step] = []
    for spec in specs:
        before = steps.pop() if getattr(spec.module, "REFINES", False) else None
        steps.append(_step(spec, context, before, built))
    return Pipeline(steps, context.pool)


def _step(spec: StageSpec, context: RouteContext, before: Step | None, built: list[Stage]) -> Step:
    """The step of a stage; one that refines `before` takes its place, and its description with it."""
    channels = tuple(_pipeline(channel, context, built) for channel in spec.channels)
    inner = before.stage if before else None
    stage = spec.module.build(spec.options, replace(context, channels=channels, inner=inner))
    built.append(stage)
    digest = digest_json([before.description, spec.digest]) if before else spec.digest
    method = f"{before.method} + {spec.method}" if before else spec.method
    return Step(method, stage, digest, getattr(spec.module, "USES_GOLD", False))
