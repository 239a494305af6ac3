"""One evaluation put together: suite, pool, routers, arms and sandbox. Built before anything runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path
from types import ModuleType

from inspect_ai.tool import ToolDef

from workbench import __version__
from workbench.benchmarks.suite import Suite, load_suite, suite_data, suite_home
from workbench.benchmarks.task import BenchmarkTask
from workbench.core.digest import digest_json, digest_parts, digest_text, short
from workbench.core.errors import MachineError, UsageError
from workbench.core.plugins import load_plugin
from workbench.core.types import Progress
from workbench.core.workspace import Workspace
from workbench.evaluation.arguments import EvalArguments
from workbench.evaluation.budget import Budget, budget_of
from workbench.evaluation.container import LOCAL, PROVIDER
from workbench.evaluation.gold import gold_of
from workbench.evaluation.guard import Guard
from workbench.evaluation.routes import Routes
from workbench.evaluation.treatment import Treatment
from workbench.models.completion import Completer
from workbench.routing.load import load_router
from workbench.routing.router import Router
from workbench.sandboxing.availability import EngineStatus, engine_status
from workbench.sandboxing.config import BuildPlan
from workbench.sandboxing.images import plan
from workbench.skills.discover import read_tree
from workbench.skills.folders import unique_folders
from workbench.skills.opening import open_pool
from workbench.skills.pool import Pool
from workbench.skills.progress import shown_progress
from workbench.skills.skill import Skill

PROMPT = Path(__file__).parent / "agents" / "skill_agent.md"
"""The default agent's prompt; part of what decides a trial."""


_DECIDING = ("benchmarks", "core", "disclosure", "evaluation", "models", "routing", "sandboxing", "skills")
_TOLD_ELSEWHERE = {"description", "license", "source", "pool", "router_k"}
"""Keys of a suite that change no answer, or are among the arguments."""
_CODE = (".py", ".md")
_IDLE = {"data", "budget", "unpriced"}
_OF_ROUTERS = {"routers", "k", "seed"}
"""Arguments that change no answer: none at all, and none where nothing is routed."""


@dataclass(frozen=True)
class Experiment:
    """Everything that decides what a trial is.

    Attributes:
        plans: task id -> how its one image is built; tasks that cannot be run have none.
        engine: whether there is one, and why not; ``None`` where no task needs a sandbox.
        cache: folder for what tools build.
        guard: stops the run after a failure that makes further trials pointless.
    """

    suite: Suite
    arguments: EvalArguments
    routes: Routes
    plans: Mapping[str, BuildPlan]
    engine: EngineStatus | None
    cache: Path
    guard: Guard = field(default_factory=Guard)

    @property
    def budget(self) -> Budget | None:
        """The purse that trials are paid from, ``None`` without a limit."""
        return budget_of(self.arguments.budget)

    @property
    def local(self) -> bool:
        """Whether trials run in Inspect's local sandbox, for want of an engine."""
        return self.engine is not None and not self.engine.ok

    def treatments(self, ids: Sequence[str], task_id: str) -> list[Treatment]:
        """Skills ready to install: the task's own copy where one is gold, else the pool's. Reads files."""
        gold = self.routes.gold[task_id].folders
        pool = self.routes.pool
        folders = self._folders(ids, gold)
        trees = {i: read_tree(gold[i].parent, gold[i].name) if i in gold else pool.tree(i) for i in ids}
        return [Treatment(i, folders[i], trees[i]) for i in ids]

    def shown(self, ids: Sequence[str]) -> list[Skill]:
        """Skills of the pool that are shown without being installed."""
        return [self.routes.pool.get(skill_id) for skill_id in ids]

    def _folders(self, ids: Sequence[str], gold: Mapping[str, Path]) -> dict[str, str]:
        """Folder names in the sandbox: gold keeps its own, since reference solutions expect it."""
        own = {i: gold[i].name for i in ids if i in gold}
        others = (self.routes.pool.get(i) for i in ids if i not in gold)
        return {**unique_folders(others, taken=own.values()), **own}

    def kit(self, task: BenchmarkTask) -> tuple[ToolDef, ...]:
        """New tools for one trial of a question; none where it comes without."""
        corpus = kit_corpus(self.suite, self.arguments)
        if task.question is None or not task.question.kit or corpus is None:
            return ()
        tools: tuple[ToolDef, ...] = _kit(task.question.kit).tools(corpus, self.cache)
        return tools

    @cached_property
    def task_digests(self) -> dict[str, str]:
        """Task id -> digest of what decides its outcome."""
        return {task.id: task_digest(task, self.plans.get(task.id)) for task in self.suite.tasks}

    @property
    def version(self) -> str:
        """Digest of all that changes an answer and is not a passed argument, so that a changed
        pool, recipe, task or suite is never taken for one that has run (Inspect compares versions)."""
        conditions = set(self.arguments.conditions)
        skilled = None if conditions == {"none"} else self.routes.pool.fingerprint
        idle = _IDLE | (set() if "routed" in conditions else _OF_ROUTERS)
        idle |= {"pool", "showing"} if skilled is None else set()
        parts = {
            "code": [__version__, code_digest()],
            "pool": skilled,
            "routers": {name: router.fingerprint for name, router in self.routes.routers.items()},
            "tasks": self.task_digests,
            "suite": self.suite.spec.model_dump(mode="json", exclude=_TOLD_ELSEWHERE),
            "arguments": self.arguments.model_dump(mode="json", exclude=idle),
            "prompt": digest_text(PROMPT.read_text(encoding="utf-8")),
            "sandbox": None if self.engine is None else LOCAL if self.local else PROVIDER,
        }
        return short(digest_json(parts))


@cache
def code_digest() -> str:
    """Digest of the rooms whose code decides a trial: a checkout may change while its version stays."""
    root = Path(__file__).parents[1]
    files = sorted(file for room in _DECIDING for file in (root / room).rglob("*.*") if file.suffix in _CODE)
    return digest_parts(part for file in files for part in (str(file.relative_to(root)), file.read_bytes()))


def experiment(suite_name: str, arguments: EvalArguments, workspace: Workspace) -> Experiment:
    """Read the suite, open the pool, load the routers and look for an engine.

    Raises:
        WorkbenchError: whatever is missing or wrong, before anything is spent.
    """
    suite = load_suite(suite_name, workspace, arguments.data)
    whole = suite
    if arguments.subsets:
        suite = suite.subset(arguments.subsets)
    if arguments.tasks:
        suite = suite.select(arguments.tasks)
    suite = with_kits(suite, arguments)
    engine = _engine(suite)
    suite, plans = planned(suite)
    with shown_progress() as progress:
        pool = open_pool(
            arguments.pool,
            workspace,
            suite_data=lambda name: whole.data if name == suite_name else suite_data(name, workspace),
            progress=progress,
        )
        completers = {name: Completer.from_environment(workspace.cache) for name in arguments.routers}
        routers = _routers(arguments, pool, workspace, progress, completers)
    routes = Routes(suite, pool, gold_of(whole, pool), routers, arguments.k, completers)
    return Experiment(suite, arguments, routes, plans, engine, workspace.cache)


def _routers(
    arguments: EvalArguments,
    pool: Pool,
    workspace: Workspace,
    progress: Progress,
    completers: Mapping[str, Completer],
) -> dict[str, Router]:
    """The routers by name, with weights loaded and indexes built, so that what is missing shows now."""
    routers: dict[str, Router] = {}
    for name in arguments.routers if "routed" in arguments.conditions else ():
        router = load_router(
            name, pool, workspace, seed=arguments.seed, progress=progress, complete=completers[name]
        )
        router.prepare()
        routers[name] = router
    return routers


def defaults(suite_name: str, workspace: Workspace, data: Path | None = None) -> tuple[str, int]:
    """A suite's own pool and router depth, for the data that a run would use."""
    home = suite_home(suite_name, workspace, data)
    return home.pool, home.k


def kit_corpus(suite: Suite, arguments: EvalArguments) -> Path | None:
    """The folder that tools of questions read: as given, else the one that lies with the data."""
    beside = suite.data / "toolqa"
    return arguments.toolqa or (beside if beside.is_dir() else None)


def with_kits(suite: Suite, arguments: EvalArguments) -> Suite:
    """The suite in which questions whose tools have nothing to read are marked unsupported."""
    corpus = kit_corpus(suite, arguments)
    lacks = {
        q.kit: _kit(q.kit).missing(corpus) for t in suite.tasks if (q := t.question) is not None and q.kit
    }
    tasks = (
        replace(task, unsupported=lacks[task.question.kit])
        if task.question is not None and lacks.get(task.question.kit)
        else task
        for task in suite.tasks
    )
    return replace(suite, tasks=tuple(tasks)) if any(lacks.values()) else suite


def _kit(name: str) -> ModuleType:
    return load_plugin("workbench.benchmarks.kits", name, "kit")


def planned(suite: Suite) -> tuple[Suite, dict[str, BuildPlan]]:
    """The suite with plans for its images; a task whose Dockerfile cannot be read is marked unsupported."""
    tasks: list[BenchmarkTask] = []
    plans: dict[str, BuildPlan] = {}
    for task in suite.tasks:
        try:
            if task.unsupported is None and task.sandboxed:
                plans[task.id] = image_plan(suite, task)
            tasks.append(task)
        except UsageError as error:
            tasks.append(replace(task, unsupported=str(error)))
    return replace(suite, tasks=tuple(tasks)), plans


def image_plan(suite: Suite, task: BenchmarkTask) -> BuildPlan:
    """How a task's one image is built: its own Dockerfile, with the skills left out. Needs no engine."""
    return plan(
        task.environment,
        empty=("skills",),
        title=f"{suite.name}/{task.id}",
        substitute_bases=suite.spec.substitute_bases,
        timeout=task.limits.build_seconds,
    )


def task_digest(task: BenchmarkTask, image: BuildPlan | None) -> str:
    """sha256 over everything of a task that can decide its outcome, its build context included."""
    if task.question is not None:
        asked = task.question
        image_digest = "" if image is None else image.digest
        return digest_json([task.instruction, asked.judge, asked.form, asked.facts, asked.gold, image_digest])
    env = (sorted(task.verifier_env.items()), sorted(task.solution_env.items()))
    facts = repr((task.limits, task.network, task.allowed_hosts, *env))
    parts: list[str | bytes] = [task.instruction, facts, "" if image is None else image.digest]
    for file in (file for name in ("tests", "solution", "environment/skills") for file in _below(task, name)):
        parts += [file.relative_to(task.folder).as_posix(), file.read_bytes()]
    return digest_parts(parts)


def _below(task: BenchmarkTask, name: str) -> list[Path]:
    return sorted(p for p in (task.folder / name).rglob("*") if p.is_file() and not p.is_symlink())


def _engine(suite: Suite) -> EngineStatus | None:
    needing = [task for task in suite.tasks if task.sandboxed]
    if not needing:
        return None
    status = engine_status()
    if not status.ok and suite.spec.sandbox == "docker":
        raise MachineError(
            f"'{suite.name}' runs in Docker containers, and {status.reason}; start an engine"
            f" (workbench doctor says how), or {_without_engine(suite, needing)}"
        )
    return status


def _without_engine(suite: Suite, needing: Sequence[BenchmarkTask]) -> str:
    """What can be run without an engine."""
    needy = {task.tags.get("subset", "") for task in needing}
    others = sorted({task.tags["subset"] for task in suite.tasks if "subset" in task.tags} - needy)
    if others:
        return f"leave out what needs one: -T subset={','.join(others)}"
    return "try the bundled suite: inspect eval workbench/quickstart"
