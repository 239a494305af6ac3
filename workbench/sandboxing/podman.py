"""What Podman does otherwise than Docker behind the same API, and how it is met.

Podman forgets the process of a command that has ended, stops a container gently even when it is
removed by force, names what the kernel offers rather than what a user's own service may use, and
drops the network options that keep containers apart.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_API = "v4.0.0"
"""Of libpod, Podman's own API; every later Podman speaks it."""
_CONTROLLERS = {"MemoryLimit": "memory", "SwapLimit": "memory", "PidsLimit": "pids", "CpuCfsQuota": "cpu"}
_UNSTARTABLE = (125, 126, 127)
NO_ALLOW_LIST = (
    "allowed_hosts needs Docker: Podman gives this machine an address on every network, so a list could be "
    "walked around; point DOCKER_HOST at a Docker engine, or allow no network"
)
NOT_RUNNING = "container state improper"
"""Its words where Docker answers 409."""
NOISE = " Error: read unixpacket"
"""Where Podman's words on a command that it cannot start turn to its own inner life."""


def is_podman(version: Mapping[str, Any]) -> bool:
    """Whether the engine with this record of its version is Podman."""
    parts = version.get("Components") or ()
    return any(str(part.get("Name", "")).startswith("Podman") for part in parts)


def started(code: int | None, said: bytes) -> bool:
    """Whether a command that has ended was started at all, by its exit code and all that it printed.

    Podman's record does not tell. A command that prints Podman's words, nothing else, and exits as
    Podman would passes for one that was not started.
    """
    lines = said.splitlines()
    return code not in _UNSTARTABLE or not (
        0 < len(lines) < 3
        and lines[0].startswith(b"Error: ")
        and b": OCI " in lines[0]
        and all(line.startswith(NOISE.strip().encode()) for line in lines[1:])
    )


def corrected(info: Mapping[str, Any], host: Mapping[str, Any]) -> dict[str, Any]:
    """The engine's record of itself with the limits that it can really set.

    Args:
        host: of libpod's own record.
    """
    if not info.get("Rootless"):
        return dict(info)
    v1 = str(info.get("CgroupVersion")) != "2"
    offered = () if v1 else host.get("cgroupControllers") or ()
    return {**info, **{flag: name in offered for flag, name in _CONTROLLERS.items()}}


def host_record(api: Any) -> dict[str, Any]:
    """libpod's record of its host."""
    return dict(_json(api.get(f"{api.base_url}/{_API}/libpod/info", timeout=api.timeout)).get("host") or {})


def create_network(api: Any, name: str, labels: Mapping[str, str]) -> str:
    """Make a network whose containers cannot reach those of other such networks; returns its id."""
    body = {"name": name, "driver": "bridge", "options": {"isolate": "true"}, "labels": dict(labels)}
    answer = api.post(f"{api.base_url}/{_API}/libpod/networks/create", json=body, timeout=api.timeout)
    return str(_json(answer)["id"])


def _json(answer: Any) -> dict[str, Any]:
    """An answer's body. Raises APIError where it is a refusal."""
    import requests.exceptions
    from docker.errors import create_api_error_from_http_exception

    try:
        answer.raise_for_status()
    except requests.exceptions.HTTPError as error:
        create_api_error_from_http_exception(error)
    return dict(answer.json())
