"""The lock of a sweep: what decided its answers, and what of it is no longer what it was."""

from __future__ import annotations

import json
import platform
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from workbench import __version__
from workbench.cli._sweep_fence import LOCK, identity, job_key, place
from workbench.cli._sweep_ledger import Cell, arm_of
from workbench.cli._sweep_spec import DEFAULT_AGENT, Job, SweepSpec
from workbench.core.atomic import write_text
from workbench.core.digest import digest_json
from workbench.core.errors import UsageError
from workbench.core.types import TASK_PREFIX
from workbench.reporting.logfile import ForeignLogError, UnreadableLogError, read_header

if TYPE_CHECKING:
    from inspect_ai.dataset import Sample

    from workbench.cli._sweep_run import Prepared

NO_MODEL = "none/none"
AUTO = ("skill_agent", "oracle")
"""What the default agent is with a model and without."""
_DISTRIBUTION = "skill-workbench"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class LockedTask(_Part):
    """A task: sha256 of all that can decide its outcome, and of what its image is built from.

    Attributes:
        image: ``None`` where trials run without one.
    """

    digest: str
    image: str | None


class LockedModel(_Part):
    """A model as it is called: its id at the provider, its endpoint where one is given, settings.

    Attributes:
        earlier: endpoints of earlier starts, whose trials count: an endpoint may move.
    """

    id: str
    endpoint: str | None
    earlier: tuple[str, ...] = ()
    generate: Mapping[str, Any]


class LockedJob(_Part):
    """One Inspect task: a model, an agent, and baselines or a router.

    Attributes:
        model: as Inspect logs it, "provider/name".
        generate: sampling settings.
        settings: arguments of the model's provider, secrets left out, as Inspect logs them.
        version: a digest of everything but `arguments` and `limits` that changes an answer.
        limits: on one trial, by Inspect's names.
        routers: name -> fingerprint of recipe, weights and seed on this pool.
        arms: arm -> samples; each runs `Lock.trials` times.
    """

    label: str
    model: str
    generate: Mapping[str, Any]
    settings: Mapping[str, Any]
    agent: str
    arguments: Mapping[str, Any]
    version: str
    limits: Mapping[str, Any]
    pool: str
    pool_fingerprint: str
    routers: Mapping[str, str]
    arms: Mapping[str, int]

    @property
    def place(self) -> str:
        """What it is known by across starts."""
        return place(self.model, self.generate, self.agent, self.arguments, self.settings)

    def cell(self, sample: str) -> Cell:
        """Where a sample of it is counted."""
        return self.model, self.agent, arm_of(sample, self.arguments)

    @property
    def key(self) -> str:
        """Place and identity: what its trials are known by in the ledger."""
        return job_key(self.place, self.identity)

    @property
    def identity(self) -> str:
        """What must be the same for a finished trial to count."""
        return identity(self.version, self.limits)


class Lock(_Part):
    """``sweep.lock``.

    Attributes:
        packages: version of every declared dependency that is installed.
    """

    schema_version: Literal[4] = 4
    suite: str
    trials: int
    seed: int
    workbench: str = __version__
    python: str
    platform: str
    packages: Mapping[str, str]
    models: Mapping[str, LockedModel]
    tasks: Mapping[str, LockedTask]
    jobs: tuple[LockedJob, ...]


def lock_of(spec: SweepSpec, prepared: list[Prepared]) -> Lock:
    """The lock of jobs that are about to run."""
    return Lock(
        suite=spec.suite,
        trials=spec.trials,
        seed=spec.seed,
        python=platform.python_version(),
        platform=platform.platform(),
        packages=dict(_packages()),
        models={part.job.model: _model(part, spec) for part in prepared},
        tasks=dict(_task(sample) for part in prepared for sample in part.task.dataset),
        jobs=tuple(_job(part, spec) for part in prepared),
    )


def refuse_doubles(prepared: list[Prepared], lock: Lock) -> None:
    """Check that no job is another one under a second name (``none`` and ``none/none``, a copied recipe).

    Raises:
        UsageError: two are the same; names axis and both names.
    """
    known: dict[str, Job] = {}
    for part, locked in zip(prepared, lock.jobs, strict=True):
        job = part.job
        first = known.setdefault(_substance(job, locked), job)
        if first is job:
            continue
        axes = ("model", "agent", "pool", "router")
        axis = next((name for name in axes if getattr(first, name) != getattr(job, name)), None)
        if axis is None:
            continue
        where = "" if axis == "model" else f" on model '{job.model}'"
        raise UsageError(
            f"{axis}s: '{getattr(first, axis)}' and '{getattr(job, axis)}' are the same{where}; leave one out"
        )


def _substance(job: Job, locked: LockedJob) -> str:
    """What a job comes to, whatever its parts are called."""
    agent = AUTO[locked.model == NO_MODEL] if job.agent == DEFAULT_AGENT else job.agent
    routed = [job.k, locked.pool_fingerprint, sorted(locked.routers.values())] if job.router else []
    return digest_json([locked.model, agent, job.condition, job.disclosure, routed])


def write_lock(folder: Path, now: Lock) -> list[str]:
    """Write a lock in place of the last one; returns what changed, a line for every job run anew."""
    before = read_lock(folder)
    kept = now if before is None else _with_endpoints(before, now)
    write_text(folder / LOCK, kept.model_dump_json(indent=2) + "\n")
    return [] if before is None else list(changes(before, now))


def moved_endpoints(folder: Path, now: Lock) -> Iterator[str]:
    """A line for every model whose endpoint is not that of the last start."""
    before = read_lock(folder)
    for name, model in now.models.items() if before is not None else ():
        assert before is not None
        then = before.models.get(name, model)
        if then.endpoint != model.endpoint:
            yield (
                f"{name} was called at {then.endpoint or 'its usual endpoint'} before; trials from there"
                " count, so if it is another model, give it another folder: --out DIR"
            )


def _with_endpoints(before: Lock, now: Lock) -> Lock:
    """`now`, its models with the endpoints of earlier starts."""
    models = {}
    for name, model in now.models.items():
        then = before.models.get(name, model)
        known = (*then.earlier, *([then.endpoint] if then.endpoint is not None else []))
        earlier = tuple(dict.fromkeys(place for place in known if place != model.endpoint))
        models[name] = model.model_copy(update={"earlier": earlier})
    return now.model_copy(update={"models": models})


def same_suite(folder: Path, suite: str) -> None:
    """Check that a folder holds no trials of another suite, as far as lock and logs tell.

    Raises:
        UsageError: it does; says which.
    """
    lock = read_lock(folder)
    known = {lock.suite} if lock is not None else set(_suites(folder))
    if other := sorted(known - {suite}):
        raise UsageError(
            f"{folder}: holds a sweep of suite '{other[0]}', not of '{suite}'; give another folder: --out DIR"
        )


def _suites(folder: Path) -> Iterator[str]:
    for path in sorted(folder.glob("*.eval")):
        with suppress(UnreadableLogError, ForeignLogError, OSError, ValueError):
            yield read_header(path).eval.task.removeprefix(TASK_PREFIX)


def read_lock(folder: Path) -> Lock | None:
    """The lock of the last start; ``None`` without one, or where it is of another version or damaged."""
    try:
        return Lock.model_validate_json((folder / LOCK).read_text(encoding="utf-8"))
    except (OSError, ValidationError, UnicodeDecodeError):
        return None


def changes(before: Lock, now: Lock) -> Iterator[str]:
    """``<job> (<what>)`` for every job whose identity is not what it was."""
    known = {job.place: job for job in before.jobs}
    tasks = [f"task {name}" for name in now.tasks if before.tasks.get(name) not in (None, now.tasks[name])]
    for job in now.jobs:
        then = known.get(job.place, job)
        if then.identity == job.identity:
            continue
        parts = {
            "workbench": before.workbench != now.workbench,
            "limits": then.limits != job.limits,
            f"pool {job.pool}": then.pool_fingerprint != job.pool_fingerprint,
            **{f"router {name}": then.routers.get(name) != mark for name, mark in job.routers.items()},
        }
        found = [*(name for name, differs in parts.items() if differs), *tasks]
        yield f"{job.label} ({', '.join(found) or 'suite, prompt or sandbox'})"


def _packages() -> Iterator[tuple[str, str]]:
    for line in requires(_DISTRIBUTION) or ():
        name = _NAME.match(line)
        if name is None or "extra == 'dev'" in line:
            continue
        with suppress(PackageNotFoundError):
            yield name[0], version(name[0])


def _model(part: Prepared, spec: SweepSpec) -> LockedModel:
    model = part.task.model
    return LockedModel(id=str(model), endpoint=spec.model_base_url, generate=spec.generate)


def _task(sample: Sample) -> tuple[str, LockedTask]:
    from workbench.sandboxing.config import DockerConfig

    about = sample.metadata or {}
    config = None if sample.sandbox is None else sample.sandbox.config
    plan = config.build if isinstance(config, DockerConfig) else None
    digest = None if plan is None else plan.digest
    return about["task"], LockedTask(digest=about["task_digest"], image=digest)


def _job(part: Prepared, spec: SweepSpec) -> LockedJob:
    about = part.task.metadata or {}
    return LockedJob(
        label=part.job.label,
        model=str(part.task.model),
        generate=_sampling(part),
        settings=_settings(part),
        agent=part.job.agent,
        arguments=part.job.arguments(spec),
        version=str(part.task.version),
        limits=_limits(part, spec),
        pool=about["pool"],
        pool_fingerprint=about["pool_fingerprint"],
        routers=about["routers"],
        arms=Counter(arm_of(str(sample.id), part.job.arguments(spec)) for sample in part.task.dataset),
    )


def _sampling(part: Prepared) -> dict[str, Any]:
    from inspect_ai.model import Model

    model = part.task.model
    assert isinstance(model, Model)
    return model.config.model_dump(mode="json", exclude_none=True)


def _settings(part: Prepared) -> dict[str, Any]:
    from inspect_ai.model import Model
    from inspect_ai.model._model_config import model_args_for_log

    model = part.task.model
    assert isinstance(model, Model)
    found: dict[str, Any] = json.loads(json.dumps(model_args_for_log(model.model_args), default=str))
    return found


def _limits(part: Prepared, spec: SweepSpec) -> dict[str, Any]:
    """A limit of the spec goes before the task's own, as Inspect has it."""
    own = {name: getattr(part.task, name) for name in ("turn_limit", "working_limit")}
    given = {name: value or getattr(part.task, name) for name, value in spec.limits.by_option().items()}
    return {name: value for name, value in {**own, **given}.items() if value is not None}
