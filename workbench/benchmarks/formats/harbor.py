"""The Harbor task format, as SkillsBench's task folders use it.

    <task>/
      task.toml          metadata, timeouts, resources; old and new keys
      instruction.md     what the agent is asked
      environment/       Dockerfile, its build context, and skills/<folder>/SKILL.md
      solution/solve.sh  reference solution
      tests/test.sh      writes /logs/verifier/reward.txt or reward.json

Unknown keys are tolerated, as Harbor tolerates them, and named in the task's notes.
Source: https://harborframework.com/docs/tasks
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from workbench.benchmarks.task import DEFAULT_SECONDS, BenchmarkTask, GoldSkill, Limits
from workbench.core.content import load_mapping, validate
from workbench.core.errors import ContentError
from workbench.core.types import Network

_SIZE = re.compile(r"^\s*(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?\s*$", re.IGNORECASE)
_UNIT_MB = {"": 1 / 2**20, "K": 1 / 2**10, "M": 1.0, "G": 2.0**10, "T": 2.0**20}
_TAGS = ("difficulty", "category", "kind")


class _Lenient(BaseModel):
    model_config = ConfigDict(frozen=True, extra="allow")


class _Phase(_Lenient):
    timeout_sec: float = Field(default=DEFAULT_SECONDS, gt=0, allow_inf_nan=False)
    env: dict[str, str] = {}

    @field_validator("env", mode="before")
    @classmethod
    def _as_text(cls, value: Any) -> Any:
        if isinstance(value, dict):
            return {key: _text(item) for key, item in value.items()}
        return value


class _Environment(_Lenient):
    build_timeout_sec: float = Field(default=DEFAULT_SECONDS, gt=0, allow_inf_nan=False)
    cpus: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    memory_mb: int | None = Field(default=None, gt=0)
    storage_mb: int | None = Field(default=None, gt=0)
    gpus: int = Field(default=0, ge=0)
    allow_internet: bool | None = None
    network_mode: Literal["public", "no-network", "none", "allowlist"] | None = None
    allowed_hosts: tuple[str, ...] = ()
    env: dict[str, str] = {}

    @model_validator(mode="before")
    @classmethod
    def _old_sizes(cls, value: Any) -> Any:
        """``memory = "4G"`` is the old spelling of ``memory_mb = 4096``; the new key wins."""
        if not isinstance(value, dict):
            return value
        new = dict(value)
        for key in ("memory", "storage"):
            if new.get(f"{key}_mb") is None and key in new:
                new[f"{key}_mb"] = _megabytes(new[key])
        return new


class _TaskFile(_Lenient):
    metadata: dict[str, Any] = {}
    agent: _Phase = _Phase()
    verifier: _Phase = _Phase()
    solution: _Phase = _Phase()
    environment: _Environment = _Environment()


_KNOWN = {
    "version", "schema_version", "metadata", "agent", "verifier", "solution", "environment", "source",
}  # fmt: skip


MISSING = "holds no task folders (each with a task.toml); give the folder above them"


def tasks_folder(folder: Path) -> Path | None:
    """The folder that holds task folders: the given one, or the ``tasks/`` in it."""
    return next((f for f in (folder, folder / "tasks") if any(f.glob("*/task.toml"))), None)


def read_tasks(suite: str, folder: Path) -> tuple[BenchmarkTask, ...]:
    """Read every task folder (one with a ``task.toml``) in `folder`, sorted by name.

    Raises:
        ContentError: a task.toml or instruction.md is broken; names file and line.
    """
    return tuple(read_task(suite, path.parent) for path in sorted(folder.glob("*/task.toml")))


def read_task(suite: str, folder: Path) -> BenchmarkTask:
    """Read one task folder. Raises ContentError."""
    file = folder / "task.toml"
    raw = _read_toml(file)
    spec = validate(raw, _TaskFile, file)
    environment = folder / "environment"
    services, compose_note = _compose(environment)
    return BenchmarkTask(
        id=folder.name,
        suite=suite,
        folder=folder,
        instruction=_read_text(folder / "instruction.md"),
        gold=_gold(environment / "skills"),
        environment=environment,
        tests=folder / "tests",
        solution=_existing(folder / "solution" / "solve.sh"),
        limits=_limits(spec),
        network=_network(spec.environment),
        allowed_hosts=spec.environment.allowed_hosts if spec.environment.network_mode == "allowlist" else (),
        verifier_env=spec.verifier.env,
        solution_env=spec.solution.env,
        tags=_tags(spec.metadata),
        notes=tuple(n for n in (compose_note, *_ignored(raw, spec)) if n),
        unsupported=_unsupported(folder, spec, services),
    )


def _limits(spec: _TaskFile) -> Limits:
    env = spec.environment
    return Limits(
        agent_seconds=spec.agent.timeout_sec,
        verifier_seconds=spec.verifier.timeout_sec,
        build_seconds=env.build_timeout_sec,
        cpus=env.cpus,
        memory_mb=env.memory_mb,
        storage_mb=env.storage_mb,
        gpus=env.gpus,
        stated=_stated(spec),
    )


def _stated(spec: _TaskFile) -> frozenset[str]:
    """Which of the limits the task.toml itself states."""
    own = spec.environment
    phases = {"agent_seconds": spec.agent, "verifier_seconds": spec.verifier}
    times = [name for name, phase in phases.items() if "timeout_sec" in phase.model_fields_set]
    resources = ("cpus", "memory_mb", "storage_mb", "gpus")
    sizes = [name for name in resources if name in own.model_fields_set and getattr(own, name) is not None]
    build = ["build_seconds"] if "build_timeout_sec" in own.model_fields_set else []
    return frozenset((*times, *sizes, *build))


def _network(env: _Environment) -> Network | None:
    if env.network_mode is not None:
        return "public" if env.network_mode == "public" else "none"
    if env.allow_internet is None:
        return None
    return "public" if env.allow_internet else "none"


def _unsupported(folder: Path, spec: _TaskFile, services: int) -> str | None:
    if not (folder / "environment" / "Dockerfile").is_file():
        return "environment/Dockerfile is missing"
    if not (folder / "tests" / "test.sh").is_file():
        return "tests/test.sh is missing"
    if spec.environment.gpus:
        return f"asks for {spec.environment.gpus} GPU"
    if services > 1:
        return f"its compose file starts {services} services; one is supported"
    return None


def _compose(environment: Path) -> tuple[int, str | None]:
    """Number of services in a compose file (1 without one), and what is ignored of it."""
    for name in ("docker-compose.yaml", "docker-compose.yml", "compose.yaml", "compose.yml"):
        file = environment / name
        if not file.is_file():
            continue
        try:
            count = len(load_mapping(file)["services"])
        except (ContentError, KeyError, TypeError):
            return 1, f"{name} cannot be read and is ignored"
        return count, f"{name} is ignored: its variables and mounts come from the host"
    return 1, None


def _gold(skills: Path) -> tuple[GoldSkill, ...]:
    """Every folder below ``environment/skills`` that holds a SKILL.md, in any spelling."""
    if not skills.is_dir():
        return ()
    folders = (p for p in sorted(skills.iterdir()) if p.is_dir() and not p.is_symlink())
    return tuple(GoldSkill(p.name, p) for p in folders if _has_skill_file(p))


def _has_skill_file(folder: Path) -> bool:
    return any(p.name.lower() == "skill.md" and p.is_file() for p in folder.iterdir())


def _ignored(raw: Mapping[str, Any], spec: _TaskFile) -> list[str]:
    names = [key for key in raw if key not in _KNOWN]
    notes = [f"task.toml: [{name}] is ignored" for name in names]
    if spec.environment.env:
        names = sorted(spec.environment.env)
        notes.append(f"task.toml: [environment.env] is ignored ({', '.join(names)})")
    if spec.environment.network_mode == "allowlist" and not spec.environment.allowed_hosts:
        notes.append("task.toml: network_mode = allowlist without allowed_hosts is treated as none")
    return notes


def _tags(metadata: Mapping[str, Any]) -> dict[str, str]:
    return {key: _text(metadata[key]) for key in _TAGS if metadata.get(key) not in (None, "")}


def _megabytes(value: Any) -> Any:
    """``"4G"`` -> 4096; a bare number is bytes; anything else is returned for pydantic to refuse."""
    match = _SIZE.match(str(value))
    if match is None:
        return value
    return round(float(match[1]) * _UNIT_MB[match[2].upper()])


def _text(value: Any) -> str:
    """A TOML scalar as it would be written: booleans in lower case."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _existing(path: Path) -> Path | None:
    return path if path.is_file() else None


def _read_toml(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(_read_text(file))
    except RecursionError:
        raise ContentError(file, None, "not valid TOML: nested too deeply") from None
    except tomllib.TOMLDecodeError as error:
        match = re.search(r"at line (\d+)", str(error))
        line = int(match[1]) if match else None
        raise ContentError(file, line, f"not valid TOML: {str(error).split(' (at')[0]}") from None


def _read_text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ContentError(file, None, f"cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ContentError(file, None, f"is not UTF-8 (byte {error.start})") from error
