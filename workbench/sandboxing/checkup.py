"""What a machine offers for containers, as rows that say what is there and what to type for the rest."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from workbench.sandboxing.availability import chosen_by, engine_status
from workbench.sandboxing.builder import LOW_WATER, free_bytes
from workbench.sandboxing.debian import DEBIAN_PYTHON, cannot_bootstrap
from workbench.sandboxing.engine import Engine, EngineGoneError, explanation, status_code
from workbench.sandboxing.limits import may_limit_storage, rootless, unenforced
from workbench.sandboxing.podman import NO_ALLOW_LIST

_RESTART = "sudo systemctl restart docker"
State = Literal["ok", "note", "missing"]
_REGISTRY_PROBE = "docker.io/library/debian:stable-slim"
_REGISTRY_SECONDS = 8.0
_ROOTLESS_V1 = "boot with systemd.unified_cgroup_hierarchy=1, or use an engine of root's"
_ROOTLESS_V2 = (
    "sudo systemctl edit user@.service, with: [Service] Delegate=cpu cpuset io memory pids; then log in again"
)


@dataclass(frozen=True)
class Check:
    """One thing looked at.

    Attributes:
        state: ``note`` is a limit to know of, ``missing`` keeps something from working.
        next: what to type, empty when there is nothing to do.
    """

    name: str
    state: State
    detail: str
    next: str = ""


Row = Callable[[Engine, Mapping[str, Any]], Check]


def engine_checks() -> list[Check]:
    """The engine, its limits, its disk, registries and base images. Takes at most some ten seconds."""
    status = engine_status()
    if not status.ok:
        what, _, todo = status.reason.partition("; ")
        return [Check("engine", "missing", what, todo)]
    engine = Engine(status.url, timeout=_REGISTRY_SECONDS)
    try:
        info = engine.blocking(engine.record)
    except Exception as error:
        return [Check("engine", "missing", _failed(error), _RESTART)]
    who = "rootless " if rootless(info) else ""
    by = chosen_by(status.url, os.environ)
    where = f"{who}{status.name}, API {status.api_version}, {status.url}" + (f", by {by}" if by else "")
    rows: tuple[Row, ...] = (
        _machine,
        _limits,
        _storage,
        _disk,
        _builder,
        _networks,
        _registries,
        _base,
    )
    return [Check("engine", "ok", where), *(_looked(row, engine, info) for row in rows)]


def _looked(row: Row, engine: Engine, info: Mapping[str, Any]) -> Check:
    """A row, also where the engine fails while it is asked."""
    try:
        return row(engine, info)
    except Exception as error:
        return Check(row.__name__.strip("_"), "missing", _failed(error), _RESTART)


def _failed(error: Exception) -> str:
    """What an engine that answers, but not as it should, has said; errors of ours are raised on."""
    if isinstance(error, EngineGoneError):
        return error.detail
    if status_code(error) is None:
        raise error
    return f"the engine fails: {explanation(error)}"


def _machine(engine: Engine, info: Mapping[str, Any]) -> Check:
    memory = int(info.get("MemTotal") or 0) >> 20
    cgroup = info.get("CgroupVersion") or "1"
    return Check("machine", "ok", f"{info.get('NCPU')} CPUs, {memory} MiB, cgroup v{cgroup}")


def _limits(engine: Engine, info: Mapping[str, Any]) -> Check:
    lacking = unenforced(info)
    if lacking and rootless(info):
        v2 = str(info.get("CgroupVersion")) == "2"
        lack = "no right to set them was handed on to it" if v2 else "cgroup v1 gives it none to set"
        detail = f"not enforced by this rootless engine: {', '.join(lacking)}; {lack}"
        return Check("limits", "note", detail, _ROOTLESS_V2 if v2 else _ROOTLESS_V1)
    if lacking:
        todo = "boot with: cgroup_enable=memory swapaccount=1"
        return Check("limits", "note", f"not enforced by this kernel: {', '.join(lacking)}", todo)
    return Check("limits", "ok", "memory, swap, pids and cpus are enforced")


def _storage(engine: Engine, info: Mapping[str, Any]) -> Check:
    driver = str(info.get("Driver"))
    if may_limit_storage(info):
        return Check("storage", "ok", f"{driver}; storage_mb is enforced where quotas are on")
    detail = f"{driver}; storage_mb is watched: what writes more is killed within seconds"
    return Check("storage", "note", detail)


def _disk(engine: Engine, info: Mapping[str, Any]) -> Check:
    root = str(info.get("DockerRootDir") or "?")
    free = free_bytes(info)
    if free is None:
        name = info.get("Name") or "another machine"
        return Check("disk", "note", f"{root} of {name} cannot be seen from here; docker system df tells")
    detail = f"{free >> 30} GiB free for images under {root}"
    if free < LOW_WATER:
        return Check("disk", "missing", detail, "workbench images prune; docker system prune")
    return Check("disk", "ok", detail)


def _builder(engine: Engine, info: Mapping[str, Any]) -> Check:
    name = "Podman's builder" if engine.podman else "classic builder"
    return Check("builder", "ok", f"{name}; heredocs and cache mounts are rewritten for it")


def _networks(engine: Engine, info: Mapping[str, Any]) -> Check:
    if engine.podman:
        what, _, todo = NO_ALLOW_LIST.partition("; ")
        return Check("networks", "note", what, todo)
    return Check("networks", "ok", "none, public, or an allow-list of hosts")


def _registries(engine: Engine, info: Mapping[str, Any]) -> Check:
    def ask(api: Any) -> object:
        # Podman cannot say anything of an image that is not here, but it can search.
        return api.search(_REGISTRY_PROBE) if engine.podman else api.inspect_distribution(_REGISTRY_PROBE)

    try:
        engine.blocking(ask, repeatable=False)
    except EngineGoneError:
        reason = f"no answer within {_REGISTRY_SECONDS:g} s"
    except Exception as error:
        if status_code(error) is None:
            raise
        if status_code(error) in (401, 403, 429):
            return Check("registries", "note", f"docker.io answers, but refuses: {explanation(error)}")
        reason = explanation(error)
    else:
        return Check("registries", "ok", "docker.io answers")
    return Check(
        "registries", "note", f"docker.io cannot be reached: {reason}", "workbench images build-base"
    )


def _base(engine: Engine, info: Mapping[str, Any]) -> Check:
    def look(api: Any) -> object:
        return api.inspect_image(DEBIAN_PYTHON)

    try:
        engine.blocking(look)
    except Exception as error:
        if status_code(error) != 404:
            raise
        cannot, _, todo = cannot_bootstrap().partition("; type: ")
        if cannot:
            return Check("base image", "note", f"{DEBIAN_PYTHON} is not built: {cannot}", todo)
        detail = f"{DEBIAN_PYTHON} is not built yet; it is when nothing can be pulled"
        return Check("base image", "ok", detail)
    return Check("base image", "ok", f"{DEBIAN_PYTHON} is there")
