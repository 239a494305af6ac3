"""The limits and rights of a container, and which of them this engine will not enforce."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from workbench.sandboxing.config import DockerConfig

CAPABILITIES = (
    "AUDIT_WRITE",
    "CHOWN",
    "DAC_OVERRIDE",
    "FOWNER",
    "FSETID",
    "KILL",
    "NET_BIND_SERVICE",
    "SETGID",
    "SETUID",
    "SYS_CHROOT",
)
"""What root keeps: installing packages (apt, pip), switching users (su, sshd), low ports.

Of Docker's default set NET_RAW (forged packets), MKNOD (devices), SETPCAP and SETFCAP (rights for
others) are taken away. Packages that try to set file capabilities fall back or go without.
"""
_NEARLY_ALL = 0.9
_STARTING = 16
"""Processes and threads that the engine may need to start a command."""
_OPEN_FILES = 16384
"""More than most engines may hand on is refused when the container starts."""


@dataclass(frozen=True)
class Limits:
    """What a container really gets.

    Attributes:
        cpus: processors; `memory` in bytes, swap included.
        notes: where this is less than asked for, or will not be enforced; for people.
        unlimited: what this engine cannot limit, and may refuse to be asked for: see `unenforced`.
    """

    cpus: float
    memory: int
    pids: int
    notes: tuple[str, ...] = ()
    unlimited: frozenset[str] = frozenset()


def effective(config: DockerConfig, info: Mapping[str, Any]) -> Limits:
    """The limits of a configuration on an engine, by the engine's own record of itself."""
    notes = []
    cpus, memory = config.cpus, config.memory_mb << 20
    has_cpus, has_memory = info.get("NCPU") or cpus, info.get("MemTotal") or memory
    if cpus > has_cpus:
        notes.append(f"cpus: {cpus:g} wanted, {has_cpus} here")
        cpus = float(has_cpus)
    if memory > has_memory:
        notes.append(f"memory: {memory >> 20} MiB wanted, {has_memory >> 20} MiB here")
        memory = int(has_memory)
    if config.storage_mb is not None and not may_limit_storage(info):
        notes.append(f"storage: {config.storage_mb} MiB wanted, watched, and enforced by killing what writes")
    lacking = unenforced(info)
    who = "rootless engine" if rootless(info) else "kernel"
    said = (f"{name}: not enforced by this {who}" for name in lacking)
    return Limits(cpus, memory, config.pids, (*notes, *said), frozenset(lacking))


def unenforced(info: Mapping[str, Any]) -> tuple[str, ...]:
    """Limits that the engine says it cannot set: of ``memory``, ``swap``, ``pids``, ``cpus``."""
    offered = {
        "memory": info.get("MemoryLimit", True),
        "swap": info.get("SwapLimit", True),
        "pids": info.get("PidsLimit", True),
        "cpus": info.get("CpuCfsQuota", info.get("CPUCfsQuota", True)),
    }
    return tuple(name for name, has in offered.items() if not has)


def rootless(info: Mapping[str, Any]) -> bool:
    """Whether the engine runs as an ordinary user."""
    return bool(info.get("Rootless")) or "name=rootless" in (info.get("SecurityOptions") or ())


def may_limit_storage(info: Mapping[str, Any]) -> bool:
    """Whether the storage driver can bound a container's changed files (xfs needs ``pquota`` too)."""
    driver = info.get("Driver")
    backing = {str(pair[0]): str(pair[1]) for pair in info.get("DriverStatus") or () if len(pair) == 2}
    return driver in ("btrfs", "zfs") or (driver == "overlay2" and backing.get("Backing Filesystem") == "xfs")


def exhausted(stats: Mapping[str, Any]) -> tuple[str, ...]:
    """Limits that a container has used up, by the engine's statistics of it: as incidents are named.

    Memory that the kernel could take back at once (cached files) is not used up.
    """
    memory, pids = stats.get("memory_stats") or {}, stats.get("pids_stats") or {}
    parts = memory.get("stats") or {}
    cached = sum(int(parts.get(f"total_{k}", parts.get(k, 0))) for k in ("inactive_file", "active_file"))
    used, limit = int(memory.get("usage") or 0) - cached, int(memory.get("limit") or 0)
    found = ["out_of_memory"] if limit and used >= _NEARLY_ALL * limit else []
    most = int(pids.get("limit") or 0)
    if most and most - int(pids.get("current") or 0) < _STARTING:
        found.append("pids_limit")
    return tuple(found)


def host_config(config: DockerConfig, limits: Limits, network: str, *, storage: bool) -> dict[str, Any]:
    """The engine's ``HostConfig`` for a container of this configuration.

    Nothing of the host is mounted; rights are cut to `CAPABILITIES`, and no process can gain more
    by a setuid file.

    Args:
        network: name of the network it is made on.
        storage: whether to ask for the storage limit; some drivers refuse the request.
    """
    wanted: dict[str, Any] = {
        "NetworkMode": network,
        **_bounds(limits),
        "ShmSize": config.shm_mb << 20,
        "CapDrop": ["ALL"],
        "CapAdd": list(CAPABILITIES),
        "SecurityOpt": ["no-new-privileges:true"],
        "IpcMode": "private",
        "Ulimits": [
            {"Name": "nofile", "Soft": _OPEN_FILES, "Hard": _OPEN_FILES},
            {"Name": "core", "Soft": 0, "Hard": 0},
        ],
        "LogConfig": {"Type": "json-file", "Config": {"max-size": "1m", "max-file": "1"}},
        "RestartPolicy": {"Name": "no"},
        "Tmpfs": {path: f"size={size}m,exec" for path, size in config.tmpfs},
    }
    if storage and config.storage_mb is not None:
        wanted["StorageOpt"] = {"size": f"{config.storage_mb}m"}
    return wanted


def _bounds(limits: Limits) -> dict[str, int]:
    """The part that cgroups enforce; an engine may refuse a container for a limit that it cannot set."""
    wanted = {
        "cpus": ("NanoCpus", int(limits.cpus * 1e9)),
        "memory": ("Memory", limits.memory),
        "swap": ("MemorySwap", limits.memory),
        "pids": ("PidsLimit", limits.pids),
    }
    return dict(pair for name, pair in wanted.items() if name not in limits.unlimited)
