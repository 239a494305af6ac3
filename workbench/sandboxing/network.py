"""The network of containers that may reach the outside; they cannot reach each other.

Docker has one for all of them. Podman does not keep containers of one network apart, but networks,
so there each container has its own.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from functools import partial
from typing import Any

from workbench.core.errors import InfrastructureError
from workbench.core.types import Network
from workbench.sandboxing import labels, podman
from workbench.sandboxing.engine import Engine, explanation, status_code

_NAME = "skill-workbench-"
_FILTERS = {"name": _NAME, "label": f"{labels.RUN}=shared"}
_DONE = (
    "already exists",
    "is not connected",
    "is already connected",  # Podman
    "invalid network mode",  # Podman, of a container that was never on a network
)
_OPTIONS = {"com.docker.network.bridge.enable_icc": "false"}


async def own_network(engine: Engine, marks: Mapping[str, str]) -> str:
    """The id of a new network for one container, which both have these labels; for Podman."""
    name = f"{_NAME}{labels.token()}"
    return await engine.call(partial(podman.create_network, name=name, labels=marks))


async def ensure_network(engine: Engine) -> str:
    """The id of our network, made where it is not there. One for all runs, so that pools never run dry.

    Two processes may make one at the same time, so names are random (engines stumble over two of
    one name); all agree on the oldest, and who made another takes it away.

    Raises:
        InfrastructureError: ``infra:start``, the engine has no addresses left, or makes none.
    """
    found = await _find(engine)
    if found is not None:
        return found

    def make(api: Any) -> str:
        name = f"{_NAME}{labels.token()}"
        marks = {labels.RUN: "shared"}
        return str(api.create_network(name, driver="bridge", options=_OPTIONS, labels=marks)["Id"])

    try:
        made = await engine.call(make)
    except Exception as error:
        if status_code(error) is None:
            raise
        said = f"no network can be made: {explanation(error)}; free some with: docker network prune"
        raise InfrastructureError("infra:start", said) from None
    oldest = await _find(engine) or made
    if oldest != made:
        with contextlib.suppress(Exception):
            await engine.call(lambda api: api.remove_network(made))
    return oldest


async def join(engine: Engine, container: str, network: Network) -> None:
    """Connect a running container to the outside, or cut it off; nothing happens when it is so already."""
    if engine.podman:
        found = await _find_own(engine, container)
    else:
        found = await _find(engine) if network == "none" else await ensure_network(engine)
    if found is None:
        if network == "public":
            raise InfrastructureError("infra:start", "the container has no network that it could join")
        return
    try:
        if network == "public":
            await engine.call(lambda api: api.connect_container_to_network(container, found))
        else:
            await engine.call(lambda api: api.disconnect_container_from_network(container, found))
    except Exception as error:
        if status_code(error) is None:
            raise
        if not _already(error):
            raise InfrastructureError("infra:start", f"network '{network}': {explanation(error)}") from None


async def remove_unused(engine: Engine) -> None:
    """Take away our networks that no container is on; a run that needs one makes it again."""
    found: Any = await engine.call(lambda api: api.networks(filters=_FILTERS), repeatable=True)
    for record in found:
        try:
            await engine.call(partial(_remove, id=str(record["Id"])))
        except Exception as error:
            if status_code(error) is None:
                raise


def _remove(api: Any, *, id: str) -> None:
    api.remove_network(id)


async def _find(engine: Engine) -> str | None:
    found: Any = await engine.call(lambda api: api.networks(filters=_FILTERS), repeatable=True)
    ours = sorted((str(record["Created"]), str(record["Id"])) for record in found)
    return ours[0][1] if ours else None


async def _find_own(engine: Engine, container: str) -> str | None:
    """The network made for a container."""
    record: Any = await engine.call(lambda api: api.inspect_container(container), repeatable=True)
    trial = (record["Config"].get("Labels") or {}).get(labels.TRIAL)
    filters = {"label": f"{labels.TRIAL}={trial}"}
    found: Any = await engine.call(lambda api: api.networks(filters=filters), repeatable=True)
    return str(found[0]["Id"]) if found else None


def _already(error: Exception) -> bool:
    """Whether the engine only says that nothing is left to do."""
    return status_code(error) in (403, 404, 500) and any(words in str(error) for words in _DONE)
