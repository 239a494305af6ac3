"""Where a base image comes from: this machine, a registry, or in its place Debian packages."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import anyio

from workbench.core.digest import short
from workbench.sandboxing.builder import BuildError
from workbench.sandboxing.debian import DEBIAN_PYTHON, build_debian_python
from workbench.sandboxing.engine import Engine, RefusedError

_SILENCE = 120.0
"""Seconds a registry that has answered may then be silent."""
_PUT_OFF = re.compile(
    r"toomanyrequests|too many requests|\b(?:429|50[0234])\b|time[d-]? ?out|reset by peer|unexpected EOF",
    re.I,
)
"""What a registry says that may do better a little later."""
_MACHINES = {"x86_64": "amd64", "aarch64": "arm64", "armv7l": "arm", "i686": "386"}
"""The kernel's name of a processor -> the name in images."""


class ImageError(BuildError):
    """An image by name cannot be had, or is not the one that was asked for."""

    kind = "infra:image"


class Bases:
    """Images by name, of one run. Every pull and the one substitute are done once; what failed has failed.

    A name stands for one image, of this machine's kind, as long as the run lasts.

    Args:
        said: called with what is going on, for people.
        patience: seconds a registry has for its first answer; one that used them up is not asked again.
        back_off: seconds to wait before each further try of a pull that a registry put off.
    """

    def __init__(
        self,
        engine: Engine,
        said: Callable[[str], None] = lambda line: None,
        *,
        patience: float = 8.0,
        back_off: Sequence[float] = (2.0, 8.0),
    ) -> None:
        self._engine = engine
        self._said = said
        self._patience = patience
        self._back_off = back_off
        self._pinned: dict[str, str] = {}
        self._locks: dict[str, anyio.Lock] = {}
        self._failed: dict[str, str] = {}
        self._dead_registries: dict[str, str] = {}

    async def have(self, name: str) -> str:
        """The id of an image, pulled where it is not here.

        Raises:
            ImageError: it is not here and cannot be pulled, or is another one; says why.
        """
        async with self._locks.setdefault(name, anyio.Lock()):
            found = await self._engine.image(name)
            if found is None:
                await self._pull(name)
                found = await self._engine.image(name)
            if found is None:
                raise ImageError(f"base image {name}: pulled, but not there")
            await self._check(name, found)
            return self._pinned.setdefault(name, str(found["Id"]))

    async def _check(self, name: str, found: Mapping[str, Any]) -> None:
        """Refuse an image that is not what its name says."""
        pinned = self._pinned.get(name)
        if pinned == found["Id"]:
            return
        if pinned is not None:
            was, now = (short(each.removeprefix("sha256:")) for each in (pinned, str(found["Id"])))
            raise ImageError(f"{name} was {was} when this run began and is {now} now; name it by digest")
        digest, known = name.partition("@")[2], found.get("RepoDigests") or ()
        if digest and known and not any(str(each).endswith(f"@{digest}") for each in known):
            raise ImageError(f"{name} is an image of another digest: {known[0]}")
        machine = str((await self._engine.info()).get("Architecture") or "")
        here, there = _MACHINES.get(machine, machine), str(found.get("Architecture") or "")
        if here and there and here != there:
            raise ImageError(
                f"{name} is for {there}, this machine is {here}; pull it with: --platform {here}"
            )

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
                await self._try(name, registry)
                return
            except _SilentError as error:
                known = self._dead_registries[registry] = str(error)
            except RefusedError as error:
                known = self._failed[name] = str(error)
        raise ImageError(f"base image {name} is not on this machine and cannot be pulled: {known}")

    async def _try(self, name: str, registry: str) -> None:
        """Pull, and again after a while where the registry only puts it off."""
        self._said(f"pulling {name}")
        for pause in self._back_off:
            try:
                await _pull(self._engine, name, registry, self._patience)
                return
            except RefusedError as error:
                if not _PUT_OFF.search(str(error)):
                    raise
                self._said(f"pulling {name} again in {pause:g} s: {error}")
            await anyio.sleep(pause)
        await _pull(self._engine, name, registry, self._patience)


class _SilentError(Exception):
    """A registry did not answer in time."""


async def _pull(engine: Engine, name: str, registry: str, patience: float) -> None:
    """Pull one image, giving up early on a registry that says nothing. Raises RefusedError, _SilentError."""
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


def _credentials(api: Any, registry: str) -> dict[str, str]:
    """The user's login for a registry, as the docker CLI sends it: to the engine only."""
    from docker import auth

    header: Any = auth.get_config_header(api, registry)
    return {"X-Registry-Auth": header.decode("ascii")} if header else {}


def _registry(name: str) -> str:
    """The registry that an image name means."""
    first, slash, _ = name.partition("/")
    return first if slash and (set(first) & set(".:") or first == "localhost") else "docker.io"
