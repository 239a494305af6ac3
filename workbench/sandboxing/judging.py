"""Where a verifier judges: a fresh container with the agent's files, or the agent's own without the agent.

    fresh    the agent's container is paused, its files become an image, and a container of that
             image is started once what the agent changed of the image's own tools is as it was
    shared   the agent's processes are killed, and the same is done in its own container

What is undone, and what is taken away, says `sweep`. An image by ``commit`` was chosen over copying the
changed files one by one: it takes a fifth of a second for small changes and seconds for 500 MB, keeps
owners, modes, times and hard links, and does not slow down with the number of files.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import anyio

from workbench.core.errors import TrialError
from workbench.core.types import Network
from workbench.sandboxing.config import DockerConfig
from workbench.sandboxing.container import Container
from workbench.sandboxing.fleet import Fleet, Started
from workbench.sandboxing.network import join
from workbench.sandboxing.orphans import drop_image
from workbench.sandboxing.resolving import resolve_publicly
from workbench.sandboxing.successor import (
    Swept,
    changes,
    clean,
    copy,
    frozen,
    restore,
    silence,
    snapshot,
    written,
)
from workbench.sandboxing.sweep import Rules, Sweep
from workbench.sandboxing.watchdog import DEFAULT_MB

_SPARE = 2 << 30
"""Bytes that may be copied in vain: beyond the limit, what is left is judged, unless it is mostly holes."""


class Judging:
    """Makes a container's files fit for a verifier. One per trial's container.

    Args:
        started: the agent's container.
        config: what it was started from.
    """

    def __init__(self, fleet: Fleet, started: Started, config: DockerConfig) -> None:
        self._fleet = fleet
        self._started = started
        self._config = config
        self._rules = Rules(started.image["Config"])

    @asynccontextmanager
    async def fresh(self, network: Network) -> AsyncIterator[tuple[Started, Swept]]:
        """A new container with the agent's files, swept; no process of the agent's is in it.

        It is gone after the context, as is the image of the agent's files.

        Raises:
            ContainerLostError, EngineGoneError, TrialError
        """
        agent = self._started.container
        self._fleet.unwatch(agent)
        await self._fits(agent)
        image, listed = await snapshot(agent, self._started.services)
        sweep = self._rules.sort(listed)
        changed = {"image": image, "build": None, "network": network, "network_verify": network, "allow": ()}
        started = None
        try:
            async with self._pristine(sweep) as pristine:

                async def before(container: Container) -> None:
                    await copy(agent, container, self._volumes)
                    await restore(container, sweep, pristine)

                started = await self._fleet.start(self._config.model_copy(update=changed), before)
                swept = await clean(started.container, sweep, self._rules, pristine)
            yield started, swept
        finally:
            with anyio.CancelScope(shield=True):
                await self._fleet.remove([started.container] if started else [])
                await drop_image(agent.engine, image)

    async def shared(self, network: Network) -> Swept:
        """The agent's own container without the agent, on the verifier's network.

        Its processes are killed, its files swept; services of the image that ran before the agent, and
        their children, go on.
        """
        container = self._started.container
        self._fleet.unwatch(container)
        await silence(container, self._started.services)
        async with AsyncExitStack() as kept:
            async with frozen(container, self._started.services):
                sweep = self._rules.sort(await changes(container))
                pristine = await kept.enter_async_context(self._pristine(sweep))
                await restore(container, sweep, pristine)
            await silence(container, self._started.services)
            swept = await clean(container, sweep, self._rules, pristine)
        if self._config.allow:
            await self._fleet.free(container)
        if network == "public":
            servers = await self._fleet.name_servers(str(self._started.image["Id"]))
            await resolve_publicly(container, servers)
        await join(container.engine, container.id, network)
        return swept

    async def _fits(self, container: Container) -> None:
        """An image holds a sparse file at its full length, and the host's disk would be filled with zeros.

        Raises:
            TrialError: ``agent_resource``, the changed files are longer than the trial may write.
        """
        limit = (self._config.storage_mb or DEFAULT_MB) << 20
        size = await written(container)
        if size > limit + _SPARE:
            what = f"the agent left files of {size >> 20} MB, of which {limit >> 20} MB are allowed"
            raise TrialError("agent_resource", what)

    @property
    def _volumes(self) -> list[str]:
        """Folders that an image keeps out of its containers' files."""
        return sorted(self._started.image["Config"].get("Volumes") or ())

    @asynccontextmanager
    async def _pristine(self, sweep: Sweep) -> AsyncIterator[Container | None]:
        """A container with the image's own files, where some are to be put back."""
        if not sweep.restore and not sweep.packages:
            yield None
            return
        pristine = await self._fleet.at_rest(self._config, self._started.image)
        try:
            yield pristine
        finally:
            with anyio.CancelScope(shield=True):
                await self._fleet.remove([pristine])
