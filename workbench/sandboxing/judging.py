"""Where a verifier judges: a fresh container with the agent's files, or the agent's own without the agent.

    fresh    the agent's container is paused, its files become an image, and a container of that
             image is started once what the agent changed of the image's own tools is as it was
    shared   the agent's processes are killed, and the same is done in its own container

What is undone, and what is taken away, says `sweep`. An image by ``commit`` was chosen over copying the
changed files one by one: it takes a fifth of a second for small changes and seconds for 500 MB, keeps
owners, modes, times and hard links, and does not slow down with the number of files.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

import anyio
import anyio.to_thread

from workbench.core.errors import TrialError
from workbench.core.types import Network
from workbench.sandboxing.cleaning import Swept, clean
from workbench.sandboxing.config import DockerConfig
from workbench.sandboxing.container import Container
from workbench.sandboxing.fleet import Fleet, Started
from workbench.sandboxing.network import join
from workbench.sandboxing.orphans import drop_image
from workbench.sandboxing.resolving import resolve_publicly
from workbench.sandboxing.successor import (
    changes,
    copy,
    frozen,
    halted,
    restore,
    silence,
    snapshot,
    written,
)
from workbench.sandboxing.sweep import ADDED, Change, Rules, Sweep
from workbench.sandboxing.watchdog import DEFAULT_MB

_BLAMED = frozenset(("infra:start", "infra:transfer", "task:unsupported"))
"""Causes that what an agent left may have as well as the machine."""
_FULL = "no space left"
_TRIES = 2
_SPARE = 2 << 30
"""Bytes that may be copied in vain: beyond the limit, what is left is judged, unless it is mostly holes."""


class Judging:
    """Makes a container's files fit for a verifier. One per trial's container.

    Args:
        started: the agent's container.
        config: what it was started from.
        keep: paths of the image that the agent was to change.
    """

    def __init__(
        self, fleet: Fleet, started: Started, config: DockerConfig, keep: Sequence[str] = ()
    ) -> None:
        self._fleet = fleet
        self._started = started
        self._config = config
        self._rules = Rules(started.image["Config"], keep)

    @asynccontextmanager
    async def fresh(self, network: Network) -> AsyncIterator[tuple[Started, Swept]]:
        """A new container with the agent's files, swept; no process of the agent's is in it.

        It is gone after the context, as is the image of the agent's files.

        Raises:
            ContainerLostError, EngineGoneError, TrialError
        """
        self._fleet.unwatch(self._started.container)
        await self._fits(self._started.container)
        async with AsyncExitStack() as kept:
            for left in reversed(range(_TRIES)):
                try:
                    place = await kept.enter_async_context(self._successor(network))
                    break
                except TrialError as error:
                    blamed = await self._blamed(error)
                    if not left or blamed is error:
                        raise blamed from error
            yield place

    @asynccontextmanager
    async def _successor(self, network: Network) -> AsyncIterator[tuple[Started, Swept]]:
        agent = self._started.container
        image, listed = await snapshot(agent, self._started.services)
        sweep = await anyio.to_thread.run_sync(self._rules.sort, listed)
        changed = {"image": image, "build": None, "network": network, "network_verify": network, "allow": ()}
        started = None
        try:
            async with self._pristine(sweep) as pristine:
                swapped: list[Change] = []

                async def before(container: Container) -> None:
                    await copy(agent, container, self._volumes)
                    swapped.extend(await restore(container, sweep, pristine))

                started = await self._fleet.start(self._config.model_copy(update=changed), before)
                swept = await clean(started.container, sweep, self._rules, pristine, swapped)
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
        try:
            swept = await self._emptied(container)
        except TrialError as error:
            raise await self._blamed(error) from error
        if self._config.allow:
            await self._fleet.free(container)
        if network == "public":
            servers = await self._fleet.name_servers(str(self._started.image["Id"]))
            await resolve_publicly(container, servers)
        await join(container.engine, container.id, network)
        return swept

    async def _emptied(self, container: Container) -> Swept:
        """A container without its agent; where it has no services to keep, process 1 is a new one too."""
        async with AsyncExitStack() as kept:
            async with self._at_rest(container):
                sweep = await anyio.to_thread.run_sync(self._rules.sort, await changes(container))
                pristine = await kept.enter_async_context(self._pristine(sweep))
                swapped = await restore(container, sweep, pristine)
            return await clean(container, sweep, self._rules, pristine, swapped)

    @asynccontextmanager
    async def _at_rest(self, container: Container) -> AsyncIterator[None]:
        """Nothing of a container runs within this context, and nothing of its agent's after it."""
        if not self._started.services and not self._config.tmpfs:  # which would be emptied
            async with halted(container):
                yield
            return
        await silence(container, self._started.services)
        async with frozen(container, self._started.services):
            yield
        await silence(container, self._started.services)

    async def _blamed(self, error: TrialError) -> TrialError:
        """The error that says whose doing it is that no container can be made fit for a verifier.

        It is the agent's where a container of the image comes up at the same time.
        """
        if error.cause not in _BLAMED or _FULL in error.detail:
            return error
        try:
            control = await self._fleet.start(
                self._config.model_copy(update={"network": "none", "allow": ()})
            )
        except TrialError:
            return error
        with anyio.CancelScope(shield=True):
            await self._fleet.remove([control.container])
        what = "what the agent left cannot be made ready for a verifier, though its image can"
        return TrialError("agent_damage", f"{what}: {error.detail}")

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
        if not (sweep.restore or sweep.packages or any(each.kind != ADDED for each in sweep.anchors)):
            yield None
            return
        pristine = await self._fleet.at_rest(self._config, self._started.image)
        try:
            yield pristine
        finally:
            with anyio.CancelScope(shield=True):
                await self._fleet.remove([pristine])
