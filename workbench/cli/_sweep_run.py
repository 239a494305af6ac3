"""Running a sweep: jobs -> Inspect tasks -> one ``eval_set`` per agent, watched and fenced."""

from __future__ import annotations

import io
import math
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext, redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inspect_ai.hooks import Hooks, SampleEnd, SampleStart, TaskStart, hooks
from pydantic import ValidationError

from workbench.cli._sweep_fence import job_key, known_as
from workbench.cli._sweep_ledger import Cell, Ledger, arm_of, outcome
from workbench.cli._sweep_spec import DEFAULT_AGENT, Job, Own, SweepSpec
from workbench.core.content import plain
from workbench.core.digest import digest_bytes, short
from workbench.core.errors import UnknownNameError, UsageError, suggestion
from workbench.core.types import TASK_PREFIX
from workbench.evaluation.budget import share
from workbench.reporting.logfile import EvalSpec

if TYPE_CHECKING:
    from inspect_ai import Task
    from inspect_ai.log import EvalSample
    from inspect_ai.model import GenerateConfig, Model

SCORER = "workbench"
_NO_MODEL = frozenset(("none", "none/none"))
_NOT_A_SETTING = frozenset(("model", "role", "default", "required", "config", "memoize", "fallback"))
"""Parameters of Inspect's `get_model` that are its own."""
_BUFFER = 1
"""Trials held back before they are written: a kill costs those in flight and no more."""


@dataclass(frozen=True)
class Prepared:
    """A job and its Inspect task."""

    job: Job
    task: Task


@dataclass(frozen=True)
class Bounds:
    """How much runs at once; changes nothing in the answers. ``None`` is Inspect's own choice."""

    samples: int | None = None
    tasks: int | None = None


def own_of(spec: SweepSpec) -> Own:
    """The depth and pool of the suite.

    Raises:
        WorkbenchError: there is no such suite, or no data of it.
    """
    from workbench.benchmarks.suite import suite_home
    from workbench.core.workspace import find_workspace
    from workbench.evaluation.arguments import folder

    home = suite_home(spec.suite, find_workspace(), folder("data", {"data": spec.data}, Path.cwd()))
    return Own(home.k, home.pool)


def prepare(spec: SweepSpec, jobs: list[Job]) -> list[Prepared]:
    """Build every task: pools are opened, routers loaded, so that what is missing shows before any spend.

    Notices of the machine (no engine, say) are printed once, not once a job; Inspect's list of hooks,
    which it prints where the first model is made, is not. The tasks forget the file that defines them:
    Inspect knows a log by it, as seen from the current folder, and would run all again from another.

    Raises:
        WorkbenchError: as a single evaluation would.
    """
    from inspect_ai import task_with
    from inspect_ai._eval.task.constants import TASK_FILE_ATTR

    sampling = _generate(spec)
    share(spec.budget)
    for agent in spec.agents:
        _check_agent(agent)
    build = _suite_task(spec.suite)
    settings = {"base_url": spec.model_base_url, **spec.model_args}
    heard = io.StringIO()
    done = []
    for job in jobs:
        if job.agent == "skill_agent" and job.model in _NO_MODEL:
            raise UsageError("agent 'skill_agent' needs a model; give models, or exclude the pair")
        with redirect_stdout(io.StringIO()), redirect_stderr(heard), _plain_errors():
            task = build(**job.arguments(spec))
            model = _model(job.model, sampling, settings)
        if spec.limits.cost_usd is not None:
            _require_price(model)
        task = task_with(task, model=model, version=f"{task.version}{agent_mark(job.agent)}")
        setattr(task, TASK_FILE_ATTR, None)
        done.append(Prepared(job, task))
    for line in dict.fromkeys(line for line in heard.getvalue().splitlines() if "--limit counts" not in line):
        sys.stderr.write(f"{line}\n")
    return done


def _model(name: str, sampling: GenerateConfig, settings: Mapping[str, Any]) -> Model:
    """Providers raise what they like: on names, on settings, on what they cannot reach."""
    from inspect_ai._util.error import PrerequisiteError
    from inspect_ai.model import get_model

    given = {key: value for key, value in settings.items() if value is not None}
    if taken := sorted(given.keys() & _NOT_A_SETTING):
        raise UsageError(f"model_args: '{taken[0]}' is no setting of a provider; leave it out")
    try:
        return get_model(name, config=sampling, **given)
    except PrerequisiteError:
        raise
    except Exception as error:
        said = " ".join(str(error).split()) or type(error).__name__
        raise UsageError(
            f"model '{name}': {said}; give PROVIDER/NAME, such as litellm/openai/gpt-5-mini"
        ) from error


def _require_price(model: Model) -> None:
    """Inspect keeps a limit on cost only of models whose price it knows, and says so after the start."""
    from inspect_ai.model import get_model_info

    info = get_model_info(model)
    if info is None or info.cost is None:
        raise UsageError(
            f"limits.cost_usd: the price of model '{model}' is not known; give it with"
            " model_args: {input_cost_per_token: USD, output_cost_per_token: USD}, or leave the limit out"
        )


def _generate(spec: SweepSpec) -> GenerateConfig:
    from inspect_ai.model import GenerateConfig

    for name in spec.generate:
        if name not in GenerateConfig.model_fields:
            raise UnknownNameError("key in generate:", name, GenerateConfig.model_fields)
        if isinstance(value := spec.generate[name], float) and not math.isfinite(value):
            raise UsageError(f"generate.{name}: must be a finite number (found {value})")
    try:
        return GenerateConfig(**spec.generate)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"][:1])
        raise UsageError(f"generate.{where}: {plain(first)} (found {first['input']!r})") from None


def agent_mark(name: str) -> str:
    """What tells an agent's code from another of its name: its file, or the version of its package."""
    source, _, _ = name.rpartition("@")
    if source and Path(source).is_file():
        return f" agent {short(digest_bytes(Path(source).read_bytes()))}"
    with suppress(PackageNotFoundError, ValueError):
        return f" {name.partition('/')[0]} {version(name.partition('/')[0])}" if "/" in name else ""
    return ""


def _check_agent(name: str) -> None:
    """Agents of the workbench by name; the rest (``package/name``, ``./file.py@name``) as Inspect has it."""
    from inspect_ai._eval.loader import solver_from_spec

    from workbench._registry import AGENTS

    known = [agent.__name__ for agent in AGENTS]
    if name in known:
        return
    if "/" not in name:
        raise UnknownNameError("agent", name, known)
    try:
        with _plain_errors():
            solver_from_spec(_solver(name))
    except UsageError:
        raise
    except Exception as error:  # of a module that is imported, whatever it raises
        said = " ".join(str(error).split()) or type(error).__name__
        raise UsageError(f"agent '{name}': {said}{suggestion(name, known)}") from None


@contextmanager
def _plain_errors() -> Iterator[None]:
    """Inspect's errors for people as ours."""
    from inspect_ai._util.error import PrerequisiteError
    from rich.text import Text

    try:
        yield
    except PrerequisiteError as error:
        raise UsageError(Text.from_markup(str(error)).plain) from None


def _suite_task(suite: str) -> Any:
    """The suite's registered Inspect task, which records its arguments in the log."""
    from workbench.benchmarks.suite import suite_names
    from workbench.core.workspace import find_workspace
    from workbench.evaluation.tasks import register_suites

    workspace = find_workspace()
    workspace.find("tasks", suite)
    return dict(zip(suite_names(workspace), register_suites(), strict=True))[suite]


def run(spec: SweepSpec, prepared: list[Prepared], folder: Path, bounds: Bounds, live: Any) -> bool:
    """Run what has not run; returns whether every trial has a log that is complete.

    Args:
        live: a context manager that shows progress meanwhile.

    Raises:
        KeyboardInterrupt: the user stopped it; what had ended is kept.
    """
    from inspect_ai import eval_set

    complete = True
    limits: dict[str, Any] = spec.limits.by_option()
    with live or nullcontext(), _unannounced():
        for agent in dict.fromkeys(part.job.agent for part in prepared):
            tasks = [part.task for part in prepared if part.job.agent == agent]
            done, logs = eval_set(
                tasks,
                log_dir=str(folder),
                solver=None if agent == DEFAULT_AGENT else _solver(agent),
                epochs=spec.trials,
                log_buffer=_BUFFER,
                log_format="eval",
                log_dir_allow_dirty=True,
                retry_cleanup=False,
                retry_attempts=1,
                display="none",
                max_samples=bounds.samples,
                max_tasks=bounds.tasks,
                **limits,
            )
            if len(logs) < len(tasks) or any(log.status == "cancelled" for log in logs):
                raise KeyboardInterrupt  # which Inspect answers with the logs of what had ended before
            complete = complete and done
    return complete


@contextmanager
def _unannounced() -> Iterator[None]:
    """Without the lines that Inspect prints of each of its sets: a sweep is one thing, and reports once."""
    from rich import get_console

    theirs = get_console()
    before, theirs.quiet = theirs.quiet, True
    try:
        yield
    finally:
        theirs.quiet = before


def _solver(name: str) -> Any:
    from inspect_ai.solver import SolverSpec

    return SolverSpec(name if "/" in name else f"{TASK_PREFIX}{name}")


@dataclass(frozen=True)
class _Running:
    """An evaluation; `job` is its `job_key`."""

    model: str
    agent: str
    arguments: Mapping[str, Any]
    job: str


@hooks(name="workbench_sweep", description="Keeps the ledger of a sweep.")
class Watch(Hooks):
    """Tells the ledger of every trial. Idle unless a sweep of this process has set `ledger`."""

    ledger: Ledger | None = None

    def __init__(self) -> None:
        self._tasks: dict[str, _Running] = {}

    def enabled(self) -> bool:
        """Only while a sweep runs."""
        return Watch.ledger is not None

    async def on_task_start(self, data: TaskStart) -> None:
        """Remember whose trials are coming."""
        spec = EvalSpec.model_validate(data.spec.model_dump(mode="json"))
        agent = (spec.solver or DEFAULT_AGENT).removeprefix(TASK_PREFIX)
        arguments = spec.task_args_passed or {}
        self._tasks[data.eval_id] = _Running(spec.model, agent, arguments, job_key(*known_as(spec)))

    async def on_sample_start(self, data: SampleStart) -> None:
        """A trial begins."""
        if Watch.ledger is not None and data.eval_id in self._tasks:
            Watch.ledger.starts(self._cell(data.eval_id, str(data.summary.id)))

    async def on_sample_end(self, data: SampleEnd) -> None:
        """A trial ended."""
        if Watch.ledger is None or data.eval_id not in self._tasks:
            return
        place = {"job": self._tasks[data.eval_id].job, "eval": data.eval_id}
        name = {"sample": str(data.sample.id), "epoch": data.sample.epoch}
        entry = {**place, **name, **outcome(_record(data.sample))}
        Watch.ledger.ends(self._cell(data.eval_id, str(data.sample.id)), entry)

    def _cell(self, eval_id: str, sample: str) -> Cell:
        task = self._tasks[eval_id]
        return task.model, task.agent, arm_of(sample, task.arguments)


def _record(sample: EvalSample) -> Mapping[str, Any] | None:
    for name, score in (sample.scores or {}).items():
        if name.rsplit("/", 1)[-1] == SCORER and score.metadata is not None:
            record: Mapping[str, Any] | None = score.metadata.get("record")
            return record
    return None
