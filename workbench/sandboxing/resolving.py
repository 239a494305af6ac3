"""How a container finds hosts by name: for a verifier that judges where an agent was root.

``/etc/hosts`` and ``/etc/resolv.conf`` lie on mounts of their own, so no list of changed files shows what an
agent did to them; and a container with an allow-list was given neither DNS nor the hosts' real addresses.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import anyio

from workbench.core.errors import InfrastructureError
from workbench.sandboxing.container import Container

_WRITE = 'PATH=/usr/bin:/bin; cat > "$1"'
_LOOPBACK = ("127.", "::1")
_LOCAL = frozenset(("localhost", "ip6-localhost", "ip6-loopback"))


def own_hosts(text: str, hostname: str) -> str:
    """An ``/etc/hosts`` with what calls this container ``localhost`` only, and its name."""
    lines = [line for line in text.splitlines() if _is_own(line.split())]
    if not any("localhost" in line.split() for line in lines):
        lines.insert(0, "127.0.0.1\tlocalhost")
    return "".join(f"{line}\n" for line in (*lines, f"127.0.1.1\t{hostname}"))


def _is_own(words: list[str]) -> bool:
    return len(words) > 1 and words[0].startswith(_LOOPBACK) and _LOCAL.issuperset(words[1:])


async def resolve_publicly(container: Container, servers: str) -> None:
    """Have a container ask name servers for every name; only its own are answered by ``/etc/hosts``.

    Args:
        servers: text of an ``/etc/resolv.conf``.

    Raises:
        InfrastructureError: ``infra:transfer``.
    """
    hosts = await container.run(["/bin/sh", "-c", "PATH=/usr/bin:/bin; cat /etc/hosts"], cwd="/", user="0")
    record: Any = await container.engine.call(partial(_inspect, id=container.id), repeatable=True)
    text = own_hosts(hosts.out.data().decode("utf-8", "replace"), str(record["Config"]["Hostname"]))
    for path, content in (("/etc/hosts", text), ("/etc/resolv.conf", servers)):
        command = ["/bin/sh", "-c", _WRITE, "sh", path]
        done = await container.run(command, given=content.encode(), cwd="/", user="0", timeout=20)
        if done.code != 0:
            said = done.err.text(200)
            raise InfrastructureError("infra:transfer", f"{path} cannot be written for the verifier: {said}")


async def default_servers(container: Container) -> str:
    """The ``/etc/resolv.conf`` that the engine gave a container of its default network."""
    with anyio.fail_after(20):
        done = await container.run(["/bin/cat", "/etc/resolv.conf"], cwd="/", user="0")
    return done.out.data().decode("utf-8", "replace")


def _inspect(api: Any, *, id: str) -> Any:
    return api.inspect_container(id)
