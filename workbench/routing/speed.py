"""How fast is a router: built, opened again, and asked, one query at a time and all at once."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median, quantiles

from workbench.core.workspace import Workspace
from workbench.routing.encoder import forget_texts
from workbench.routing.load import RecipeRouter
from workbench.routing.router import Query


@dataclass(frozen=True)
class StageSpeed:
    """Milliseconds of one stage, over queries routed alone: median and 95th percentile."""

    method: str
    median: float
    p95: float


@dataclass(frozen=True)
class Speed:
    """A router's times and sizes.

    Attributes:
        build_seconds: from nothing but weights and a pool until it can answer.
        open_seconds: the same with its indexes built.
        index_bytes: of everything that it built.
        first_milliseconds: the first query after opening.
        stages: per stage, warm.
        single_per_second: queries per second, one at a time.
        batched_per_second: queries per second, all in one call.
    """

    build_seconds: float
    open_seconds: float
    index_bytes: int
    first_milliseconds: float
    stages: tuple[StageSpeed, ...]
    single_per_second: float
    batched_per_second: float


Make = Callable[[Workspace], RecipeRouter]


def measure_speed(make: Make, workspace: Workspace, queries: Sequence[Query], k: int) -> Speed:
    """Build the router in a cache of its own, open it again, and ask it.

    Args:
        make: a workspace -> the router over its pool.
        workspace: the user's; its weights and kept answers are used, its indexes are not.
        queries: at least one.
    """
    with tempfile.TemporaryDirectory(prefix="workbench-speed-") as temporary:
        cache = Path(temporary)
        for shared in ("models", "completions"):
            if (workspace.cache / shared).is_dir():
                (cache / shared).symlink_to(workspace.cache / shared)
        apart = replace(workspace, cache=cache)
        build_seconds = _timed(make(apart).prepare)
        router = make(apart)
        open_seconds = _timed(router.prepare)
        first = _timed(lambda: router.route(queries[:1], k))
        forget_texts()
        traces = [router.trace(query, k) for query in queries]
        forget_texts()
        single = _timed(lambda: [router.route([query], k) for query in queries])
        forget_texts()
        batched = _timed(lambda: router.route(queries, k))
        size = sum(path.stat().st_size for path in (cache / "indexes").rglob("*") if path.is_file())
    stages = (
        _stage(method, [1000 * trace[at].seconds for trace in traces if at < len(trace)])
        for at, method in enumerate(router.methods())
    )
    count = len(queries)
    return Speed(
        build_seconds, open_seconds, size, 1000 * first, tuple(stages), count / single, count / batched
    )


def _stage(method: str, milliseconds: Sequence[float]) -> StageSpeed:
    high = quantiles(milliseconds, n=20, method="inclusive")[-1] if len(milliseconds) > 1 else milliseconds[0]
    return StageSpeed(method, median(milliseconds), high)


def _timed(do: Callable[[], object]) -> float:
    start = time.perf_counter()
    do()
    return time.perf_counter() - start
