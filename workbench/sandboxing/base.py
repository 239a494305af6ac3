"""Where a base image comes from: this machine, a registry, or in its place Debian packages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anyio

from workbench.sandboxing.builder import BuildError
from workbench.sandboxing.debian import DEBIAN_PYTHON, build_debian_python
from workbench.sandboxing.engine import Engine, RefusedError

_SILENCE = 120.0
"""Seconds a registry that has answered may then be silent."""


class Bases:
    """Base images of one run. Every pull and the one substitute are tried once.

    Args:
        said: called with what is going on, for people.
        patience: seconds a registry has for its first answer; one that used them up is not asked again.
    """

    def __init__(
        self, engine: Engine, said: Callable[[str], None] = lambda line: None, *, patience: float = 8.0
    ) -> None:
        self._engine = engine
        self._said = said
        self._patience = patience
        self._locks: dict[str, anyio.Lock] = {}
        self._failed: dict[str, str] = {}
        self._dead_registries: dict[str, str] = {}

    async def have(self, name: str) -> str:
        """The id of an image, pulled where it is not here.

        Raises:
            BuildError: it is not here and cannot be pulled; says why.
        """
        async with self._locks.setdefault(name, anyio.Lock()):
            found = await self._engine.image(name)
            if found is None:
                await self._pull(name)
                found = await self._engine.image(name)
            if found is None:
                raise BuildError(f"base image {name}: pulled, but not there")
            return str(found["Id"])

    async def substitute(self) -> str:
        """The id of the base from Debian packages, built where it is not here.

        Raises:
            BuildError: it cannot be built; says what to type.
        """
        async with self._locks.setdefault(DEBIAN_PYTHON, anyio.Lock()):
            if DEBIAN_PYTHON in self._failed:
                raise BuildError(self._failed[DEBIAN_PYTHON])
            try:
                return await build_debian_python(self._engine, said=self._said)
            except BuildError as error:
                self._failed[DEBIAN_PYTHON] = error.detail
                raise

    async def _pull(self, name: str) -> None:
        registry = _registry(name)
        known = self._failed.get(name) or self._dead_registries.get(registry)
        if known is None:
            try:
                self._said(f"pulling {name}")
                await _pull(self._engine, name, registry, self._patience)
                return
            except _SilentError as error:
                known = self._dead_registries[registry] = str(error)
            except BuildError as error:
                known = self._failed[name] = error.detail
        raise BuildError(f"base image {name} is not on this machine and cannot be pulled: {known}")


class _SilentError(Exception):
    """A registry did not answer in time."""


async def _pull(engine: Engine, name: str, registry: str, patience: float) -> None:
    """Pull one image, giving up early on a registry that says nothing."""
    at, _, digest = name.partition("@")
    image, colon, tag = at.rpartition(":")
    if not colon or "/" in tag:
        image, tag = at, "latest"
    headers = await engine.call(lambda api: _credentials(api, registry))
    try:
        with anyio.fail_after(patience) as scope:

            def alive(event: object) -> None:
                scope.deadline = anyio.current_time() + _SILENCE

            params = {"fromImage": image, "tag": digest or tag}
            await engine.post("/images/create", params, alive, headers=headers)
    except TimeoutError:
        raise _SilentError(f"{registry} does not answer") from None
    except RefusedError as error:
        raise BuildError(str(error)) from None


def _credentials(api: Any, registry: str) -> dict[str, str]:
    """The user's login for a registry, as the docker CLI sends it: to the engine only."""
    from docker import auth

    header: Any = auth.get_config_header(api, registry)
    return {"X-Registry-Auth": header.decode("ascii")} if header else {}


def _registry(name: str) -> str:
    """The registry that an image name means."""
    first, slash, _ = name.partition("/")
    return first if slash and (set(first) & set(".:") or first == "localhost") else "docker.io"
