"""Suite x arms -> Inspect samples, task by task, so that ``--limit`` keeps whole tasks together."""

from __future__ import annotations

from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.util import SandboxEnvironmentSpec

from workbench.benchmarks.suite import Suite
from workbench.benchmarks.task import BenchmarkTask
from workbench.core.content import validate
from workbench.core.errors import ContentError
from workbench.core.types import Arm, Network
from workbench.evaluation.container import LOCAL, PROVIDER
from workbench.evaluation.experiment import Experiment
from workbench.sandboxing.config import DockerConfig, allowed


def sample_id(task_id: str, arm: Arm) -> str:
    """``<task>@<arm>``, e.g. ``3d-scan-calc@routed-bm25``."""
    return f"{task_id}@{arm.label}"


def dataset(experiment: Experiment) -> MemoryDataset:
    """One sample per (task, arm); arms of a task share its image."""
    samples: list[Sample] = []
    for task in experiment.suite.tasks:
        sandbox = sandbox_of(experiment, task)
        samples.extend(_sample(experiment, task, arm, sandbox) for arm in experiment.arguments.arms)
    return MemoryDataset(samples, name=experiment.suite.name, location=str(experiment.suite.data))


def sandbox_of(experiment: Experiment, task: BenchmarkTask) -> SandboxEnvironmentSpec | None:
    """The sandbox of every trial of a task; ``None`` for one that cannot be run (its setup says why).

    Raises:
        ContentError: the task asks for what no container can be.
    """
    if task.unsupported is not None or not task.sandboxed:
        return None
    if experiment.local:
        return SandboxEnvironmentSpec(LOCAL)
    limits = task.limits
    stated = {"cpus": limits.cpus, "memory_mb": limits.memory_mb, "storage_mb": limits.storage_mb}
    config = {
        "build": experiment.plans[task.id],
        "network": task.network or experiment.suite.spec.network,
        "allow": (*task.allowed_hosts, *experiment.suite.spec.allowed_hosts),
        "network_verify": verifier_network(experiment.suite, task),
        **{key: value for key, value in stated.items() if value is not None},
    }
    try:
        return SandboxEnvironmentSpec(PROVIDER, validate(config, DockerConfig, task.folder / "task.toml"))
    except ContentError as error:
        key = error.what.partition(":")[0]
        if key not in stated:
            raise
        what = f"environment.{error.what}; allowed: {allowed(key)}"
        raise ContentError(error.file, error.line, what) from None


def verifier_network(suite: Suite, task: BenchmarkTask) -> Network:
    """The verifier's own policy: what the task states for both, else the suite's."""
    return task.network or suite.spec.verifier_network


def _sample(
    experiment: Experiment, task: BenchmarkTask, arm: Arm, sandbox: SandboxEnvironmentSpec | None
) -> Sample:
    gold = experiment.routes.gold[task.id].ids
    return Sample(
        id=sample_id(task.id, arm),
        input=task.instruction,
        target=_target(task),
        metadata={
            "suite": task.suite,
            "task": task.id,
            "condition": arm.condition,
            "router": arm.router or "",
            "arm": arm.label,
            "task_digest": experiment.task_digests[task.id],
            "arm_stratum": f"{arm.label} {'single' if len(gold) == 1 else 'multi'}",
            **task.tags,
        },
        sandbox=sandbox,
    )


def _target(task: BenchmarkTask) -> str:
    """What Inspect's viewer shows beside a score."""
    answer = None if task.question is None else task.question.facts.get("answer")
    return "reward 1" if answer is None else str(answer)
