"""One Inspect task per suite: ``inspect eval workbench/<suite> --router bm25``."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from inspect_ai import Task, task
from inspect_ai.model import GenerateConfig
from inspect_ai.solver import TaskState
from inspect_ai.viewer import ViewerConfig

from workbench.benchmarks.suite import suite_home, suite_names
from workbench.core.errors import WorkbenchError
from workbench.core.terminal import safe
from workbench.core.workspace import Workspace, find_workspace
from workbench.evaluation import trials
from workbench.evaluation.arguments import folder, parse, refuse_unknown
from workbench.evaluation.budget import Budget
from workbench.evaluation.names import qualified

MAX_RETRIES = 8
"""Model calls are tried again this often (Inspect's default is without end); ``--max-retries`` overrides."""


def register_suites() -> list[Callable[..., Task]]:
    """Register a task for every suite of the workspace and of the package."""
    workspace, here = find_workspace(), Path.cwd()
    return [_register(name, workspace, here) for name in suite_names(workspace)]


def _register(name: str, workspace: Workspace, here: Path) -> Callable[..., Task]:
    def suite_task(
        router: str | list[str] | None = None,
        router_k: int | None = None,
        pool: str | None = None,
        conditions: str | list[str] | None = None,
        disclosure: str | None = None,
        nudge: str | None = None,
        catalogue: int | None = None,
        picks: int | None = None,
        data: str | None = None,
        subset: str | list[str] | None = None,
        tasks: str | list[str] | None = None,
        judge: str | None = None,
        toolqa: str | None = None,
        budget: float | str | None = None,
        unpriced: str | None = None,
        seed: int | None = None,
        verifier: str | None = None,
        **unknown: Any,
    ) -> Task:
        given = {
            "router": router,
            "router_k": router_k,
            "pool": pool,
            "conditions": conditions,
            "disclosure": disclosure,
            "nudge": nudge,
            "catalogue": catalogue,
            "picks": picks,
            "data": data,
            "subset": subset,
            "tasks": tasks,
            "judge": judge,
            "toolqa": toolqa,
            "budget": budget,
            "unpriced": unpriced,
            "seed": seed,
            "verifier": verifier,
        }
        with user_errors():
            refuse_unknown(unknown)
            return build_task(name, given, workspace, here)

    suite_task.__doc__ = f"The suite '{name}' under the conditions none, gold and routed."
    return task(name=qualified(name))(suite_task)


def build_task(name: str, given: dict[str, Any], workspace: Workspace, here: Path) -> Task:
    """The Inspect task of a suite for task arguments as Inspect passes them.

    Args:
        workspace: where the suite was found.
        here: what relative paths in the arguments are relative to. Neither is looked for again:
            Inspect changes the current directory when it makes a task anew for a retry.

    Raises:
        WorkbenchError: anything missing or wrong, before anything is spent.
    """
    from workbench.evaluation.agents.auto import auto
    from workbench.evaluation.columns import headline
    from workbench.evaluation.dataset import dataset
    from workbench.evaluation.experiment import experiment
    from workbench.evaluation.prepare import prepare
    from workbench.evaluation.score import workbench_scorer

    own = suite_home(name, workspace, folder("data", given, here))
    arguments = parse(given, workspace, here, pool=own.pool, k=own.k)
    run = experiment(name, arguments, workspace)
    if len(arguments.arms) > 1:
        samples = f"{len(run.suite.tasks)} x {len(arguments.arms)} samples"
        _notice(f"{samples} (tasks x treatments); --limit counts samples")
    if own.sampled:
        _notice(f"{name}: a small sample of our own; for the benchmark itself: workbench fetch {name}")
    if run.engine is not None and run.local:
        _notice(f"{run.engine.reason}. Trials run in Inspect's local sandbox: on this machine, not isolated")
    return Task(
        dataset=dataset(run),
        setup=prepare(run),
        solver=auto(),
        scorer=workbench_scorer(run),
        cleanup=_forgetter(run.budget),
        headline_metric=headline(arguments.arms),
        config=GenerateConfig(max_retries=MAX_RETRIES),
        fail_on_error=True,
        continue_on_fail=True,
        score_on_error=True,
        version=run.version,
        metadata={
            "suite": name,
            "pool": run.routes.pool.name,
            "pool_fingerprint": run.routes.pool.fingerprint,
            "routers": {n: r.fingerprint for n, r in run.routes.routers.items()},
        },
        viewer=ViewerConfig(),
    )


def _forgetter(budget: Budget | None) -> Callable[[TaskState], Awaitable[None]]:
    """What ends a trial however it went; a trial that was scored has been settled by then."""

    async def forget(state: TaskState) -> None:
        trials.end(state.uuid)
        if budget is not None:
            await budget.settle(state.uuid, None)

    return forget


@contextmanager
def user_errors() -> Iterator[None]:
    """Turn our errors for people into Inspect's, which it shows without a traceback."""
    from inspect_ai._util.error import PrerequisiteError
    from rich.markup import escape

    try:
        yield
    except WorkbenchError as error:
        raise PrerequisiteError(escape(safe(str(error)))) from None


def _notice(message: str) -> None:
    sys.stderr.write(f"skill-workbench: {safe(message)}\n")
