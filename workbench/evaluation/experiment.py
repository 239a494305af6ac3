"""One evaluation put together: suite, pool, routers, arms and sandbox. Built before anything runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from workbench import __version__
from workbench.benchmarks.suite import Suite, load_suite, suite_data, suite_spec
from workbench.benchmarks.task import BenchmarkTask
from workbench.core.digest import digest_json, digest_parts, short
from workbench.core.errors import MachineError
from workbench.core.types import Arm
from workbench.core.workspace import Workspace
from workbench.evaluation.arguments import EvalArguments
from workbench.evaluation.gold import gold_of
from workbench.evaluation.guard import Guard
from workbench.evaluation.routes import Routes
from workbench.evaluation.treatment import Treatment
from workbench.routing.load import load_router
from workbench.routing.router import Router
from workbench.routing.stage import Progress
from workbench.sandboxing.availability import EngineStatus, engine_status
from workbench.skills.discover import read_tree
from workbench.skills.folders import unique_folders
from workbench.skills.opening import open_pool
from workbench.skills.pool import Pool
from workbench.skills.progress import shown_progress


@dataclass(frozen=True)
class Experiment:
    """Everything that decides what a trial is."""

    suite: Suite
    arguments: EvalArguments
    routes: Routes
    engine: EngineStatus
    guard: Guard = field(default_factory=Guard)

    @property
    def local(self) -> bool:
        """Whether trials run in Inspect's local sandbox, for want of an engine."""
        return not self.engine.ok

    def treatments(self, arm: Arm, task_id: str) -> list[Treatment]:
        """The skills of one trial, ready to install: the task's own copy where one is gold."""
        gold = self.routes.gold[task_id].folders
        pool = self.routes.pool
        ids = self.routes.chosen(arm, task_id)
        folders = self._folders(ids, gold)
        trees = {i: read_tree(gold[i].parent, gold[i].name) if i in gold else pool.tree(i) for i in ids}
        return [Treatment(i, folders[i], trees[i]) for i in ids]

    def _folders(self, ids: Sequence[str], gold: Mapping[str, Path]) -> dict[str, str]:
        """Folder names in the sandbox: gold keeps its own, since reference solutions expect it."""
        own = {i: gold[i].name for i in ids if i in gold}
        taken = {name.casefold() for name in own.values()}
        others = (self.routes.pool.get(i) for i in ids if i not in gold)
        moved = (replace(s, folder=f"{s.folder}-2") if s.folder.casefold() in taken else s for s in others)
        return {**unique_folders(moved), **own}

    @cached_property
    def task_digests(self) -> dict[str, str]:
        """Task id -> digest of what decides its outcome."""
        return {task.id: task_digest(task) for task in self.suite.tasks}

    @property
    def version(self) -> str:
        """Digest of all that changes an answer and is not a passed argument, so that a changed
        pool, recipe or task is never taken for one that has run (Inspect compares versions)."""
        parts = {
            "code": __version__,
            "pool": self.routes.pool.fingerprint,
            "routers": {name: router.fingerprint for name, router in self.routes.routers.items()},
            "tasks": self.task_digests,
            "arguments": self.arguments.model_dump(mode="json", exclude={"data"}),
            "sandbox": "local" if self.local else "docker-sdk",
        }
        return short(digest_json(parts))


def experiment(suite_name: str, arguments: EvalArguments, workspace: Workspace) -> Experiment:
    """Read the suite, open the pool, load the routers and look for an engine.

    Raises:
        WorkbenchError: whatever is missing or wrong, before anything is spent.
    """
    suite = load_suite(suite_name, workspace, arguments.data)
    whole = suite
    if arguments.tasks:
        suite = suite.select(arguments.tasks)
    engine = _engine(suite)
    with shown_progress() as progress:
        pool = open_pool(
            arguments.pool,
            workspace,
            suite_data=lambda name: whole.data if name == suite_name else suite_data(name, workspace),
            progress=progress,
        )
        routers = _routers(arguments, pool, workspace, progress)
    return Experiment(
        suite, arguments, Routes(suite, pool, gold_of(whole, pool), routers, arguments.k), engine
    )


def _routers(
    arguments: EvalArguments, pool: Pool, workspace: Workspace, progress: Progress
) -> dict[str, Router]:
    """The routers by name, with weights loaded and indexes built, so that what is missing shows now."""
    routers: dict[str, Router] = {}
    for name in arguments.routers if "routed" in arguments.conditions else ():
        router = load_router(name, pool, workspace, seed=arguments.seed, progress=progress)
        router.prepare()
        routers[name] = router
    return routers


def defaults(suite_name: str, workspace: Workspace) -> tuple[str, int]:
    """A suite's own pool and router depth."""
    _, spec = suite_spec(suite_name, workspace)
    return spec.pool, spec.router_k


def task_digest(task: BenchmarkTask) -> str:
    """sha256 over what decides a task's outcome: everything but the data in its build context."""
    below = (file for name in ("tests", "solution", "environment/skills") for file in _below(task, name))
    files = [task.environment / "Dockerfile", *below]
    parts: list[str | bytes] = [task.instruction, repr(task.limits), repr(task.network)]
    for file in files:
        if file.is_file():
            parts += [file.relative_to(task.folder).as_posix(), file.read_bytes()]
    return digest_parts(parts)


def _below(task: BenchmarkTask, name: str) -> list[Path]:
    return sorted(p for p in (task.folder / name).rglob("*") if not p.is_symlink())


def _engine(suite: Suite) -> EngineStatus:
    status = engine_status()
    if not status.ok and suite.spec.sandbox == "docker":
        raise MachineError(
            f"'{suite.name}' runs in Docker containers, and {status.reason}; start an engine"
            " (workbench doctor says how), or try the bundled suite: inspect eval workbench/quickstart"
        )
    return status
