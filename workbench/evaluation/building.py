"""Building a suite's images ahead of a run, through the same plans that a run uses."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import anyio

from workbench.benchmarks.suite import load_suite
from workbench.core.workspace import Workspace
from workbench.evaluation.experiment import planned
from workbench.sandboxing.config import BuildPlan
from workbench.sandboxing.images import BuildResult, build
from workbench.sandboxing.progress import BuildDisplay


def build_suite(
    name: str,
    workspace: Workspace,
    *,
    data: Path | None = None,
    tasks: Sequence[str] = (),
    parallel: int | None = None,
) -> dict[str, str | None]:
    """Build the image of every task: task id -> why it has none, or ``None`` when it is ready.

    Raises:
        WorkbenchError: no such suite, no engine.
    """
    suite = load_suite(name, workspace, data)
    if tasks:
        suite = suite.select(tasks)
    suite, plans = planned(suite)
    results = anyio.run(_build, list(plans.values()), parallel)
    unsupported = {task.id: task.unsupported for task in suite.tasks if task.unsupported is not None}
    return {**unsupported, **{task: results[plan.tag].error or None for task, plan in plans.items()}}


async def _build(plans: list[BuildPlan], parallel: int | None) -> dict[str, BuildResult]:
    with BuildDisplay() as display:
        return await build(plans, watcher=display, parallel=parallel)
