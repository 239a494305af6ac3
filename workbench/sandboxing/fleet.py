"""The containers of this process: images made before the first, each started, none left behind."""

from __future__ import annotations

import atexit
import contextlib
import logging
import os
import secrets
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import anyio

from workbench.core.errors import InfrastructureError
from workbench.sandboxing import labels
from workbench.sandboxing.base import Bases
from workbench.sandboxing.builder import BuildError, free_bytes
from workbench.sandboxing.config import BuildPlan, DockerConfig
from workbench.sandboxing.container import Container
from workbench.sandboxing.debian import DEBIAN_PYTHON
from workbench.sandboxing.engine import Engine, EngineGoneError, explanation, status_code
from workbench.sandboxing.gateway import Enclosure, enclose, gateway_options, open_up, ready
from workbench.sandboxing.groups import together
from workbench.sandboxing.images import BuildResult, build
from workbench.sandboxing.interrupts import heed
from workbench.sandboxing.kill import MAIN_PROCESS
from workbench.sandboxing.limits import Limits, effective, host_config, may_limit_storage
from workbench.sandboxing.network import ensure_network, own_network
from workbench.sandboxing.orphans import sweep
from workbench.sandboxing.pause import Pause
from workbench.sandboxing.podman import NO_ALLOW_LIST
from workbench.sandboxing.progress import BuildDisplay
from workbench.sandboxing.refusals import refusal
from workbench.sandboxing.resolving import default_servers
from workbench.sandboxing.services import services
from workbench.sandboxing.watchdog import DEFAULT_MB, Watchdog

logger = logging.getLogger(__name__)
_LOW_WATER = 1 << 30
_BUILD_TRIES = 2
Before = Callable[[Container], Awaitable[None]]


@dataclass(frozen=True)
class Started:
    """A container that was started, and what is known of it.

    Attributes:
        image: the engine's record of its image.
        limits: what it really gets.
        build: how its image came about, ``None`` for an image by name.
        services: what the image's ENTRYPOINT has started, as ``pid:start``.
    """

    container: Container
    image: dict[str, Any]
    limits: Limits
    build: BuildResult | None
    services: tuple[str, ...] = ()


class Fleet:
    """All containers of one process on one engine.

    Args:
        pause: how long trials wait for an engine or for disk space.
    """

    def __init__(self, engine: Engine | None = None, pause: Pause | None = None) -> None:
        self.engine = engine or Engine()
        self._pause = pause or Pause()
        self.run = labels.token()
        self.results: dict[str, BuildResult] = {}
        self.running: dict[str, Container] = {}
        self._wanted: dict[str, BuildPlan] = {}
        self._failed: dict[str, int] = {}
        self._bases = Bases(self.engine)
        self._info: dict[str, Any] = {}
        self._storage_refused = False
        self._lock = anyio.Lock()
        self._watchdog = Watchdog(self.engine, self.run)
        self._gateways: dict[tuple[str, ...], Container] = {}
        self._networks: dict[str, str] = {}
        self._servers: str | None = None

    def expect(self, config: DockerConfig) -> None:
        """Note that an image will be needed, to be built with the others by the next `prepare`.

        A build that failed before is tried once more, in case it was the network's fault; then its
        failure stands, so that a set that is tried again and again does not build in vain.
        """
        if config.build is None:
            return
        tag = config.build.tag
        before = self.results.get(tag)
        if before is not None and not before.ok and self._failed.get(tag, 0) < _BUILD_TRIES:
            self.results.pop(tag)
        self._wanted[tag] = config.build

    async def prepare(self, config: DockerConfig) -> None:
        """Check the engine, sweep what dead runs left, and build this image and all expected ones.

        A build that fails is not an error here, and is not tried again before it is expected anew.

        Raises:
            EngineGoneError, MachineError: no engine to work with.
        """
        heed()
        async with self._lock:
            if not self._info:
                self._info = await self.engine.info()
                await sweep(self.engine)
                atexit.register(self._remove_at_exit, os.getpid())
            if config.build is not None:
                self._wanted[config.build.tag] = config.build
            wanted, self._wanted = self._wanted, {}
            missing = [plan for tag, plan in wanted.items() if tag not in self.results]
            if missing:
                with BuildDisplay() as display:
                    built = await build(missing, engine=self.engine, watcher=display)
                self.results |= built
                for tag in (tag for tag, result in built.items() if not result.ok):
                    self._failed[tag] = self._failed.get(tag, 0) + 1

    async def start(self, config: DockerConfig, before: Before | None = None) -> Started:
        """A running container of a configuration.

        While the engine is away or its disk is nearly full, starts wait; see `Pause`.

        Args:
            before: done to the container that exists and does not yet run.

        Raises:
            InfrastructureError: ``infra:image`` or ``infra:build`` no image, ``infra:start`` it does not
                come up, ``infra:engine`` no engine, ``task:unsupported`` what no sandbox of ours can be.
        """
        if config.gpus:
            raise InfrastructureError("task:unsupported", f"{config.gpus} GPU wanted; this sandbox has none")
        await self.prepare(config)
        await self._pause.wait(self._obstacle)
        try:
            return await self._start(config, before)
        except EngineGoneError:
            await self._pause.wait(self._obstacle)
            return await self._start(config, before)

    async def _start(self, config: DockerConfig, before: Before | None) -> Started:
        image = await self._image(config)
        limits = effective(config, self._info)
        container = await self._create(config, image, limits)
        try:
            if before is not None:
                await before(container)
            await self.engine.call(lambda api: api.start(container.id))
            own = await services(container) if image["Config"].get("Entrypoint") else ()
        except BaseException as error:
            with anyio.CancelScope(shield=True):
                await self.remove([container])
            if status_code(error) is not None:
                raise refusal(error, image) from None
            raise
        if self._storage_refused or not may_limit_storage(self._info) or config.storage_mb is None:
            self._watchdog.watch(container, (config.storage_mb or DEFAULT_MB) << 20)
        return Started(container, image, limits, self.results.get(config.reference), own)

    async def at_rest(self, config: DockerConfig, image: dict[str, Any]) -> Container:
        """A container that never runs, to copy the files of an image from; remove it after use."""
        return await self._create(config, image, effective(config, self._info))

    def unwatch(self, container: Container) -> None:
        """Hold a container to its disk limit no longer: a kill would wake one that is paused."""
        self._watchdog.forget(container)

    async def remove(self, containers: Iterable[Container]) -> None:
        """Remove containers side by side; one that resists stays on the books and is logged."""
        async with together() as tasks:
            for container in containers:
                tasks.start_soon(self._remove, container)

    async def close(self, *, cleanup: bool) -> None:
        """Remove every container that still runs; without `cleanup` say how to."""
        left = list(self.running.values())
        self._gateways.clear()
        if cleanup:
            await self.remove(left)
        elif left:
            self.running.clear()
            ids = " ".join(container.id[:12] for container in left)
            logger.warning(
                "containers left running: %s; remove one with: inspect sandbox cleanup docker-sdk ID", ids
            )

    async def _image(self, config: DockerConfig) -> dict[str, Any]:
        """The record of the image to start, by its content id."""
        result = None if config.build is None else self.results[config.build.tag]
        if result is not None and not result.ok:
            raise InfrastructureError(result.cause, f"{config.reference}: {result.error}")
        try:
            name = (result and result.image_id) or await self._bases.have(config.reference)
        except BuildError as error:
            raise InfrastructureError(error.cause, error.detail) from None
        found = await self.engine.image(name)
        if found is None:
            self.results.pop(config.reference, None)
            raise InfrastructureError("infra:start", f"image {config.reference} was removed while this ran")
        return found

    async def _create(self, config: DockerConfig, image: dict[str, Any], limits: Limits) -> Container:
        """A container that is not yet running; joined to our network only if it may use it now."""
        reach = "public" in (config.network, config.network_verify) and not config.allow
        marks = self._marks()
        own = await own_network(self.engine, marks) if reach and self.engine.podman else None
        network = own or (await ensure_network(self.engine) if reach else "none")
        enclosure = await self._enclosed(config.allow) if config.allow and config.network == "none" else None
        own = own if enclosure is None else enclosure.id
        options: dict[str, Any] = {
            "image": image["Id"],
            "command": list(MAIN_PROCESS),
            "hostname": secrets.token_hex(6),
            "user": _main_user(config, image),
            "working_dir": config.workdir,
            "environment": [f"{key}={value}" for key, value in config.env],
            "labels": marks,
            "use_config_proxy": False,
            "stop_timeout": 0,
        }
        user = config.user or image["Config"].get("User") or ""

        def make(api: Any) -> Container:
            host = host_config(config, limits, network, storage=not self._storage_refused)
            host |= {} if enclosure is None else enclosure.host_config
            made = Container(self.engine, str(api.create_container(**options, host_config=host)["Id"]), user)
            made.channels = not image["Config"].get("Entrypoint")
            # On the books before anything can be cancelled.
            self.running[made.id] = made
            return made

        try:
            container = await self._created(make, image)
        except BaseException:
            if own is not None:
                with anyio.CancelScope(shield=True):
                    await open_up(self.engine, own)
            raise
        if own is not None:
            self._networks[container.id] = own
        if reach and config.network == "none":
            await self.engine.call(lambda api: api.disconnect_container_from_network(container.id, network))
        return container

    def _marks(self) -> dict[str, str]:
        """The labels of one trial's container or network."""
        owner = str(labels.Owner.current())
        return {labels.RUN: self.run, labels.TRIAL: labels.token(), labels.OWNER: owner}

    async def _enclosed(self, names: tuple[str, ...]) -> Enclosure:
        """A network that leads to these hosts only; trials of one list share its gateway."""
        if self.engine.podman:
            raise InfrastructureError("task:unsupported", NO_ALLOW_LIST)
        async with self._lock:
            if names not in self._gateways:
                network = await ensure_network(self.engine)
                image = await self._python()
                gateway = await self._helper(gateway_options(image, names, network, self._marks()))
                await ready(gateway)
                self._gateways[names] = gateway
        return await enclose(self._gateways[names], names, self._marks())

    async def name_servers(self, image: str) -> str:
        """The ``/etc/resolv.conf`` that the engine gives to a container which may ask for any name."""
        async with self._lock:
            if self._servers is None:
                main = {"image": image, "entrypoint": list(MAIN_PROCESS), "user": "0:0"}
                helper = await self._helper({**main, "labels": self._marks(), "use_config_proxy": False})
                try:
                    self._servers = await default_servers(helper)
                finally:
                    with anyio.CancelScope(shield=True):
                        await self.remove([helper])
            return self._servers

    async def _helper(self, options: dict[str, Any]) -> Container:
        """A container beside those of trials, started."""

        def make(api: Any) -> Container:
            made = Container(self.engine, str(api.create_container(**options)["Id"]))
            self.running[made.id] = made
            return made

        helper = await self._created(make, {})
        await self.engine.call(lambda api: api.start(helper.id))
        return helper

    async def _python(self) -> str:
        """The id of an image with Python: the one from Debian packages, or one that can be pulled."""
        found = await self.engine.image(DEBIAN_PYTHON)
        if found is not None:
            return str(found["Id"])
        try:
            return await self._bases.have("python:3.12-slim")
        except BuildError:
            return await self._bases.substitute()

    async def _created(self, make: Callable[[Any], Container], image: dict[str, Any]) -> Container:
        """Create; a driver that refuses the storage limit is asked without it from then on."""
        try:
            try:
                return await self.engine.call(make)
            except Exception as error:
                if "storage-opt" not in explanation(error) and "storage driver" not in explanation(error):
                    raise
                self._storage_refused = True
                return await self.engine.call(make)
        except Exception as error:
            if status_code(error) is None:
                raise
            raise refusal(error, image) from None

    async def _remove(self, container: Container) -> None:
        self._watchdog.forget(container)
        try:
            with anyio.fail_after(120):
                await container.remove()
            self.running.pop(container.id, None)
            await self.free(container)
        except Exception as error:
            logger.warning("container %s could not be removed: %s", container.id[:12], explanation(error))

    async def free(self, container: Container) -> None:
        """Take away the network that a container has for itself, where it has one."""
        network = self._networks.pop(container.id, None)
        if network is not None:
            await open_up(self.engine, network)

    async def _obstacle(self) -> InfrastructureError | None:
        """What keeps trials from being started now."""
        free = free_bytes(self._info)
        if free is not None and free < _LOW_WATER:
            return InfrastructureError("infra:start", f"only {free >> 20} MiB are free on the engine's disk")
        try:
            await self.engine.call(lambda api: api.ping())
        except EngineGoneError as gone:
            return gone
        return None

    def _remove_at_exit(self, pid: int) -> None:
        """The last resort when the event loop was torn down before its containers were removed."""
        for id in list(self.running) if os.getpid() == pid else ():
            with contextlib.suppress(Exception):
                self.engine.blocking(partial(_force_remove, id=id))


def _main_user(config: DockerConfig, image: dict[str, Any]) -> str | None:
    """Whom process 1 runs as: root, whoever commands run as.

    So the user's ``kill -9 -1`` cannot reach it, and commands run as root have root's rights, which
    no-new-privileges keeps them from gaining in a container of another user. An ENTRYPOINT of the
    image keeps the image's user.
    """
    return config.user if image["Config"].get("Entrypoint") else "0:0"


def _force_remove(api: Any, *, id: str) -> None:
    api.remove_container(id, v=True, force=True)


@cache
def shared_fleet(url: str) -> Fleet:
    """The fleet of this process on the engine at an address."""
    return Fleet(Engine(url))
