"""How fast is a router: built, opened again, and asked, one query at a time and all at once."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median, quantiles

from workbench.core.workspace import Workspace
from workbench.routing.encoder import forget_texts
from workbench.routing.language import Language
from workbench.routing.load import RecipeRouter
from workbench.routing.recipe import StageSpec
from workbench.routing.router import Query


@dataclass(frozen=True)
class StageSpeed:
    """Milliseconds of one stage, over queries routed alone: median and 95th percentile.

    Attributes:
        answers: whose time it is: empty for a stage that asks no language model per query.
    """

    method: str
    median: float
    p95: float
    answers: str = ""


@dataclass(frozen=True)
class Speed:
    """A router's times and sizes.

    Attributes:
        build_seconds: from nothing but weights and a pool until it can answer.
        open_seconds: the same with its indexes built.
        index_bytes: of everything that it built.
        first_milliseconds: the first query after opening.
        stages: per stage, warm.
        single_per_second: queries per second, one at a time; ``None`` for a router that asks a
            language model about each query: its answers are kept, so a second pass asks nobody.
        batched_per_second: queries per second, all in one call; ``None`` likewise.
        notes: what must be known to read them.
    """

    build_seconds: float
    open_seconds: float
    index_bytes: int
    first_milliseconds: float
    stages: tuple[StageSpeed, ...]
    single_per_second: float | None
    batched_per_second: float | None
    notes: tuple[str, ...] = ()


Make = Callable[[Workspace], RecipeRouter]


def measure_speed(
    make: Make,
    workspace: Workspace,
    queries: Sequence[Query],
    k: int,
    answers: Callable[[], tuple[int, int]] = lambda: (0, 0),
) -> Speed:
    """Build the router in a cache of its own, open it again, and ask it.

    Args:
        make: a workspace -> the router over its pool.
        workspace: the user's; its weights and kept answers are used, its indexes are not.
        queries: at least one.
        answers: how many answers a language model has given so far, and how many were read from disk.
    """
    with tempfile.TemporaryDirectory(prefix="workbench-speed-") as temporary:
        cache = Path(temporary)
        if (workspace.cache / "models").is_dir():
            (cache / "models").symlink_to(workspace.cache / "models")
        apart = replace(workspace, cache=cache)
        build_seconds = _timed(make(apart).prepare)
        router = make(apart)
        open_seconds = _timed(router.prepare)
        first = _timed(lambda: router.route(queries[:1], k))
        forget_texts()
        before = answers()
        asking = _asking(router)
        timed = queries[1:] or queries if any(asking) else queries  # the first one's answers are kept by now
        traces = [router.trace(query, k) for query in timed]
        given, kept = (after - start for start, after in zip(before, answers(), strict=True))
        single, batched = (None, None) if any(asking) else _rates(router, queries, k)
        size = sum(path.stat().st_size for path in (cache / "indexes").rglob("*") if path.is_file())
    whose = "asks a model" if not kept else "from kept answers" if not given else "some answers kept"
    stages = (
        _stage(
            method, [1000 * trace[at].seconds for trace in traces if at < len(trace)], whose if asks else ""
        )
        for at, (method, asks) in enumerate(zip(router.methods(), asking, strict=True))
    )
    notes = (*router.notes(), *(_unmeasured(kept) if any(asking) else ()))
    return Speed(build_seconds, open_seconds, size, 1000 * first, tuple(stages), single, batched, notes)


def _asking(router: RecipeRouter) -> list[bool]:
    """For each step, whether it asks a language model per query; what refines asks while it builds."""
    own = [spec for spec in router.recipe.stages if not _refines(spec)]
    return [
        any(isinstance(inner.options, Language) and not _refines(inner) for inner in spec.nested())
        for spec in own
    ]


def _refines(spec: StageSpec) -> bool:
    return bool(getattr(spec.module, "REFINES", False))


def _rates(router: RecipeRouter, queries: Sequence[Query], k: int) -> tuple[float, float]:
    """Queries per second: one at a time, and all in one call."""
    forget_texts()
    single = _timed(lambda: [router.route([query], k) for query in queries])
    forget_texts()
    batched = _timed(lambda: router.route(queries, k))
    return len(queries) / single, len(queries) / batched


def _unmeasured(kept: int) -> Iterator[str]:
    yield "queries/s are not measured: answers are kept, so that a second pass asks nobody"
    if kept:
        yield "for the time that the model takes, set SKILL_WORKBENCH_CACHE to an empty folder"


def _stage(method: str, milliseconds: Sequence[float], answers: str) -> StageSpeed:
    high = quantiles(milliseconds, n=20, method="inclusive")[-1] if len(milliseconds) > 1 else milliseconds[0]
    return StageSpeed(method, median(milliseconds), high, answers)


def _timed(do: Callable[[], object]) -> float:
    start = time.perf_counter()
    do()
    return time.perf_counter() - start
