"""Processes that belong to a container and not to its agent: what the image's ENTRYPOINT started."""

from __future__ import annotations

from workbench.core.errors import InfrastructureError
from workbench.sandboxing.container import Container
from workbench.sandboxing.kill import PROCESSES


async def services(container: Container) -> tuple[str, ...]:
    """What runs now besides process 1, as ``pid:start``; a later process of the same number is another one.

    Raises:
        InfrastructureError: ``infra:start``, the ENTRYPOINT has ended, and the container with it.
    """
    if not (await container.state()).get("Running"):
        raise InfrastructureError("infra:start", str(await container.lost("its ENTRYPOINT ended")))
    done = await container.run(["/bin/sh", "-c", PROCESSES], cwd="/", user="0", timeout=20)
    return tuple(done.out.data().decode("ascii", "replace").split())
