"""What a benchmark task is, whatever format it came in. Plain data; nothing is run here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from workbench.core.types import Network

DEFAULT_SECONDS = 600.0


@dataclass(frozen=True)
class GoldSkill:
    """One of the skills that ship with a task.

    Attributes:
        folder: the folder's name, under which reference solutions expect it.
        path: where it lies on this machine.
    """

    folder: str
    path: Path


@dataclass(frozen=True)
class Limits:
    """What a task asks of its machine. Seconds and MiB; ``None`` is not stated.

    Times have Harbor's default of ten minutes each, so that nothing runs without end.

    Attributes:
        stated: names of the limits that the task itself states.
    """

    agent_seconds: float = DEFAULT_SECONDS
    verifier_seconds: float = DEFAULT_SECONDS
    build_seconds: float = DEFAULT_SECONDS
    cpus: float | None = None
    memory_mb: int | None = None
    storage_mb: int | None = None
    gpus: int = 0
    stated: frozenset[str] = field(default=frozenset(), repr=False, compare=False)


@dataclass(frozen=True)
class Question:
    """What makes a task one that is answered in words and judged by its answer.

    Attributes:
        judge: a file in ``workbench/benchmarks/judges/``.
        facts: what the judge is given.
        gold: pool ids of the skills it needs, sorted.
        form: what the model is told about the form of its answer; may be empty.
        solution: a reply that is right, or ``None`` where none is known.
        kit: a file in ``workbench/benchmarks/kits/`` that holds the tools to answer it with, or "".
        in_sandbox: the answer is a program, which only a sandbox runs; its image is `environment`.
    """

    judge: str
    facts: Mapping[str, Any]
    gold: tuple[str, ...]
    form: str = ""
    solution: str | None = None
    kit: str = ""
    in_sandbox: bool = False


@dataclass(frozen=True)
class BenchmarkTask:
    """One task of a suite.

    Attributes:
        id: unique within the suite; the folder's name.
        instruction: what the agent is asked, verbatim.
        gold: the skills that ship with it, sorted by folder.
        environment: folder with the Dockerfile and its build context.
        tests: folder that is copied in for verification only.
        solution: the reference solution's script, or ``None``.
        network: what the task states about the agent's network; ``None`` is not stated.
        allowed_hosts: hosts that the agent may reach although its network is ``none``.
        verifier_env, solution_env: variables as written; ``${NAME}`` and ``${NAME:-default}`` are
            not yet resolved.
        tags: facts for slicing results, e.g. ``difficulty``, ``category``, ``kind``.
        notes: what of the format is ignored here, for the reader of a report.
        unsupported: why the task cannot be run here, or ``None``.
        question: set for a task that is answered in words; it has no tests and no skills of its own.
    """

    id: str
    suite: str
    folder: Path
    instruction: str
    gold: tuple[GoldSkill, ...]
    environment: Path
    tests: Path
    solution: Path | None
    limits: Limits = Limits()
    network: Network | None = None
    allowed_hosts: tuple[str, ...] = ()
    verifier_env: Mapping[str, str] = field(default_factory=dict)
    solution_env: Mapping[str, str] = field(default_factory=dict)
    tags: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    unsupported: str | None = None
    question: Question | None = None

    @property
    def sandboxed(self) -> bool:
        """Whether a trial needs a sandbox."""
        return self.question is None or self.question.in_sandbox
