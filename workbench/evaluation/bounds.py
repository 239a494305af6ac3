"""The limits that hold in a trial, and who set each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.benchmarks.task import BenchmarkTask
from workbench.core.record import Bound
from workbench.sandboxing.watchdog import DEFAULT_MB

if TYPE_CHECKING:
    from workbench.sandboxing.providers.docker import DockerSandbox


def bounds_of(task: BenchmarkTask, box: DockerSandbox | None) -> list[Bound]:
    """Every limit of a trial of `task`: those that its engine can set, without a container those on time."""
    limits = task.limits
    wanted: dict[str, float] = {
        "agent_seconds": limits.agent_seconds,
        "verifier_seconds": limits.verifier_seconds,
        "build_seconds": limits.build_seconds,
    }
    held = dict(wanted)
    if box is not None:
        wanted |= {"cpus": box.config.cpus, "memory_mb": box.config.memory_mb, "pids": box.config.pids}
        wanted |= {"storage_mb": box.config.storage_mb or DEFAULT_MB, "shm_mb": box.config.shm_mb}
        real = box.started.limits
        held = {**wanted, "cpus": real.cpus, "memory_mb": real.memory >> 20, "pids": real.pids}
        wanted = {
            name: value for name, value in wanted.items() if name.removesuffix("_mb") not in real.unlimited
        }
    return [_bound(name, value, held[name], stated=name in limits.stated) for name, value in wanted.items()]


def _bound(name: str, wanted: float, held: float, *, stated: bool) -> Bound:
    if held < wanted:
        return Bound(name=name, value=held, origin="machine")
    return Bound(name=name, value=held, origin="task" if stated else "default")
