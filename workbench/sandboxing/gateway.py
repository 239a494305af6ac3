"""The way out for containers that may reach some hosts only: a filter in a container of its own.

A trial with an allow-list sits on a network of its own that leads nowhere: it is internal, its
bridge has no address of the host, and it has no DNS. The one other member of the network is the gateway; the
allowed names are written into the trial's ``/etc/hosts`` with the gateway's address. The gateway
reads the name that a client asks for (TLS server name, HTTP ``Host``), lets allowed ones through
to the address that it resolves itself, and closes all else. No proxy variable takes part, so nothing
is gained by ignoring one. It cannot see inside TLS: who serves an allowed host may relay further.
"""

from __future__ import annotations

import ipaddress
import random
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import anyio

from workbench.core.errors import InfrastructureError
from workbench.sandboxing import doorkeeper, labels
from workbench.sandboxing.container import Container
from workbench.sandboxing.engine import Engine, explanation, status_code

_RANGE = ipaddress.IPv4Network("10.213.0.0/16")
_TRIES = 16
_OPTIONS = {"com.docker.network.bridge.inhibit_ipv4": "true"}
_MEMORY = 128 << 20
_READY_SECONDS = 20.0


@dataclass(frozen=True)
class Enclosure:
    """The network of one trial.

    Attributes:
        id: the network's id.
        gateway: address of the gateway on it.
        names: hosts that may be reached, by their exact names.
    """

    id: str
    gateway: str
    names: tuple[str, ...]

    @property
    def host_config(self) -> dict[str, Any]:
        """What it adds to a container's ``HostConfig``: names without DNS."""
        hosts = [f"{name}:{self.gateway}" for name in self.names]
        quick = ["timeout:1", "attempts:1"]  # nobody answers, so nobody waits
        return {"NetworkMode": self.id, "Dns": ["127.0.0.1"], "DnsOptions": quick, "ExtraHosts": hosts}


def gateway_options(
    image: str, names: tuple[str, ...], network: str, marks: dict[str, str]
) -> dict[str, Any]:
    """What a gateway's container is created from.

    Args:
        image: id of an image with Python 3.11 or newer.
        network: the one that leads outside.
    """
    host = {
        "NetworkMode": network,
        "Memory": _MEMORY,
        "MemorySwap": _MEMORY,
        "PidsLimit": 64,
        "ReadonlyRootfs": True,
        "CapDrop": ["ALL"],
        "CapAdd": ["NET_BIND_SERVICE"],
        "SecurityOpt": ["no-new-privileges:true"],
        "LogConfig": {"Type": "json-file", "Config": {"max-size": "1m", "max-file": "1"}},
        "Init": True,
    }
    program = Path(doorkeeper.__file__).read_text(encoding="utf-8")
    command = ["python3", "-I", "-c", program, *names]
    return {
        "image": image,
        "entrypoint": command,
        "labels": marks,
        "user": "0:0",
        "use_config_proxy": False,
        "stop_timeout": 0,
        "host_config": host,
    }


async def ready(gateway: Container) -> None:
    """Wait until a gateway listens.

    Raises:
        InfrastructureError: ``infra:start``.
    """
    with anyio.move_on_after(_READY_SECONDS):
        while (await gateway.state()).get("Running"):
            said: Any = await gateway.engine.call(lambda api: api.logs(gateway.id))
            if b"ready" in said:
                return
            await anyio.sleep(0.05)
    raise InfrastructureError("infra:start", str(await gateway.lost("the gateway does not listen")))


async def enclose(gateway: Container, names: tuple[str, ...], marks: dict[str, str]) -> Enclosure:
    """A network for one trial, with the gateway on it and nothing else.

    Raises:
        InfrastructureError: ``infra:start``, no network could be made.
    """
    subnets = list(_RANGE.subnets(new_prefix=29))
    said = ""
    for subnet in random.SystemRandom().sample(subnets, _TRIES):
        try:
            made: str = await gateway.engine.call(partial(_make, subnet=str(subnet), marks=marks))
        except Exception as error:
            if status_code(error) is None:
                raise
            said = explanation(error)
            continue
        # The first address is the bridge's, which it is told not to take.
        address = str(subnet[2])
        await gateway.engine.call(partial(_connect, container=gateway.id, network=made, address=address))
        return Enclosure(made, address, names)
    raise InfrastructureError("infra:start", f"no network for an allow-list: {said}")


async def open_up(engine: Engine, network: str) -> None:
    """Take a trial's network away; one that is still used stays for the next sweep."""
    try:
        found: Any = await engine.call(lambda api: api.inspect_network(network))
        for member in found.get("Containers") or ():
            await engine.call(partial(_disconnect, container=member, network=network))
        await engine.call(lambda api: api.remove_network(network))
    except Exception as error:
        if status_code(error) is None:
            raise


def _make(api: Any, *, subnet: str, marks: dict[str, str]) -> str:
    from docker.types import IPAMConfig, IPAMPool

    made = api.create_network(
        f"skill-workbench-trial-{labels.token()}",
        driver="bridge",
        internal=True,
        options=_OPTIONS,
        ipam=IPAMConfig(pool_configs=[IPAMPool(subnet=subnet)]),
        labels=marks,
    )
    return str(made["Id"])


def _connect(api: Any, *, container: str, network: str, address: str) -> None:
    api.connect_container_to_network(container, network, ipv4_address=address)


def _disconnect(api: Any, *, container: str, network: str) -> None:
    api.disconnect_container_from_network(container, network, force=True)
