"""Processes that belong to a container and not to its agent: what the image's ENTRYPOINT started."""

from __future__ import annotations

from workbench.core.errors import InfrastructureError
from workbench.sandboxing.container import Container, ContainerLostError
from workbench.sandboxing.kill import PROCESSES

_SIGNALLED = 128


async def services(container: Container) -> tuple[str, ...]:
    """What runs now besides process 1, as ``pid:start``; a later process of the same number is another one.

    Raises:
        InfrastructureError: the ENTRYPOINT has ended, and the container with it: ``task:unsupported``, or
            ``infra:start`` where something killed it.
    """
    try:
        if not (await container.state()).get("Running"):
            raise await container.lost("its ENTRYPOINT ended")
        done = await container.run(["/bin/sh", "-c", PROCESSES], cwd="/", user="0", timeout=20)
    except ContainerLostError as lost:
        if not lost.state or lost.state.get("Running") or int(lost.state.get("ExitCode") or 0) > _SIGNALLED:
            raise InfrastructureError("infra:start", str(lost)) from None
        todo = 'an ENTRYPOINT must stay, or end with: exec "$@"'
        raise InfrastructureError("task:unsupported", f"{lost}; {todo}") from None
    return tuple(done.out.data().decode("ascii", "replace").split())
