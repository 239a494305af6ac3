"""The steps by which a container's files are made fit for a verifier; `judging` puts them together.

The engine alone reads and writes until the image's shell and loader are back in their places; only then is a
program of the container run.
"""

from __future__ import annotations

import base64
import json
import posixpath
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import anyio

from workbench.core.errors import InfrastructureError, TrialError
from workbench.sandboxing.container import Container
from workbench.sandboxing.engine import RefusedError, explanation, status_code
from workbench.sandboxing.groups import together
from workbench.sandboxing.kill import KILL_ALL_SIGNAL, KILL_OTHERS
from workbench.sandboxing.sweep import ADDED, Change, Sweep

_FOLDER, _LINK = 1 << 31, 1 << 27
"""Bits of a Go file mode, in which the engine tells what lies at a path."""
_AT_ONCE = 8
_OWN_PROCESSES = 2
"""Process 1 and its sleep."""
_PATIENCE = (0.05, 0.2, 1.0, 3.0)
"""Seconds that killed processes have to be gone."""
_TOO_LONG = "file name too long"
"""What the engine says of paths beyond what the kernel takes; only by steps can one make such."""
_LEADS_OUT = ("invalid symlink", "invalid hardlink")
"""What the engine says of a folder with links out of it, unless it is unpacked at the root."""
_IN_MEMORY = 8 << 20
_LOADERS_FILES = ("/etc/ld.so.preload", "/etc/ld.so.conf")


@asynccontextmanager
async def frozen(container: Container, spared: Sequence[str]) -> AsyncIterator[None]:
    """No process of the container runs within this context.

    An engine without cgroups (a rootless one with cgroup v1) cannot freeze; there the processes are killed
    but for those spared, as `silence` does.
    """
    try:
        await _asked(container, lambda api: api.pause(container.id))
    except InfrastructureError:
        await silence(container, spared)
        yield
        return
    try:
        yield
    finally:
        with anyio.CancelScope(shield=True):
            await _asked(container, lambda api: api.unpause(container.id))


@asynccontextmanager
async def halted(container: Container) -> AsyncIterator[None]:
    """Every process of the container is ended, process 1 too; after this context it is started anew.

    An agent that was root may have changed what process 1 does, and cannot be told from it by any name.
    """
    container.close_channels()
    await _asked(container, lambda api: api.stop(container.id, timeout=0))
    yield
    await _asked(container, lambda api: api.start(container.id))


async def snapshot(container: Container, spared: Sequence[str]) -> tuple[str, list[Change]]:
    """The container's files as an image, and what of them changed since its own image.

    The image carries the container's labels, so that it is swept with the run's containers.

    Raises:
        ContainerLostError: the container is gone.
    """
    async with frozen(container, spared):
        found = await changes(container)  # first, for what cannot be listed need not become an image
        made: Any = await _asked(container, lambda api: api.commit(container.id, pause=False))
    return str(made["Id"]), found


async def changes(container: Container) -> list[Change]:
    """What changed in a container since its image, by the engine."""
    listed: Any = await _asked(container, lambda api: api.diff(container.id))
    return [Change(str(row["Path"]), int(row["Kind"])) for row in listed or ()]


async def written(container: Container) -> int:
    """Bytes of the files that a container has changed or added, holes in them included."""
    filters = {"id": container.id}
    found: Any = await _asked(container, lambda api: api.containers(all=True, size=True, filters=filters))
    return int(found[0].get("SizeRw") or 0) if found else 0


async def silence(container: Container, spared: Sequence[str]) -> None:
    """Kill every process but process 1, and those spared (``pid:start``) with their children.

    Where the engine cannot count what is left (a rootless Docker with cgroup v1), the container is
    started anew, which ends all of it.

    Raises:
        TrialError: ``tamper``, something keeps running.
    """
    container.close_channels()
    if spared:
        command = ["/bin/sh", "-c", KILL_OTHERS, "sh", *spared]
        if (await container.run(command, cwd="/", user="0", timeout=60)).code == 0:
            return
    else:
        for patience in _PATIENCE:
            await _asked(container, lambda api: api.kill(container.id, signal=KILL_ALL_SIGNAL))
            await anyio.sleep(patience)
            try:
                if await _processes(container) <= _OWN_PROCESSES:
                    return
            except InfrastructureError:
                await _asked(container, lambda api: api.restart(container.id, timeout=0))
                return
    raise TrialError("tamper", "processes of the agent could not be killed before verification")


async def _processes(container: Container) -> int:
    """How many processes the container has, by the engine."""
    # With columns of one's own, Podman would run the container's ps, which might lie.
    found: Any = await _asked(container, lambda api: api.top(container.id))
    return len(found.get("Processes") or ())


async def restore(container: Container, sweep: Sweep, pristine: Container | None) -> list[Change]:
    """Put the image's own files back, by the engine alone; the container need not run.

    Returns:
        What should be a folder and was something else; added ones are still to be taken away.
    """
    swapped = await _swapped(container, sweep.anchors)
    empty = [path for path in sweep.remove if path in _LOADERS_FILES]
    for path in empty:  # until it can be taken away
        await _put(container, posixpath.dirname(path), _empty_file(posixpath.basename(path)))
    if pristine is not None:
        for change in swapped:  # upper ones first
            if change.kind != ADDED:
                await _copy(pristine, container, change.path)
        await copy(pristine, container, sweep.restore)
    return swapped


async def copy(source: Container, target: Container, paths: Iterable[str]) -> None:
    """Copy paths as they are from one container to the same places of another; absent ones are left out."""
    limiter = anyio.CapacityLimiter(_AT_ONCE)

    async def one(path: str) -> None:
        async with limiter:
            await _copy(source, target, path)

    async with together() as tasks:
        for path in paths:
            tasks.start_soon(one, path)


async def _swapped(container: Container, anchors: Sequence[Change]) -> list[Change]:
    """Those that are no folder in a container, in order."""
    found: list[Change] = []

    async def check(change: Change) -> None:
        mode, link = await _stat(container, change.path)
        merged = mode & _LINK and link.lstrip("/") == f"usr{change.path}"
        if not (mode & _FOLDER or merged):
            found.append(change)

    async with together() as tasks:
        for change in anchors:
            tasks.start_soon(check, change)
    return sorted(found)


async def _stat(container: Container, path: str) -> tuple[int, str]:
    """(Go file mode, link target) of what lies at a path; (0, "") where nothing does."""

    def work(api: Any) -> tuple[int, str]:
        url = f"{api.base_url}/v{api.api_version}/containers/{container.id}/archive"
        answer = api.head(url, params={"path": path}, timeout=api.timeout)
        head = answer.headers.get("X-Docker-Container-Path-Stat")
        found = json.loads(base64.b64decode(head)) if head else {}
        return int(found.get("mode") or 0), str(found.get("linkTarget") or "")

    found: tuple[int, str] = await _asked(container, work)
    return found


async def _copy(source: Container, target: Container, path: str) -> None:
    taken, given = (f"/containers/{each.id}/archive" for each in (source, target))
    try:
        await source.engine.pass_on(taken, {"path": path}, given, {"path": posixpath.dirname(path)})
    except RefusedError as error:
        if any(words in str(error) for words in _LEADS_OUT):
            work = partial(_copy_from_root, source=source.id, target=target.id, path=path)
            await _asked(target, work)
        elif error.status != 404:
            raise InfrastructureError("infra:transfer", f"{path}: {error}") from error


def _copy_from_root(api: Any, *, source: str, target: str, path: str) -> None:
    """Copy a folder as part of the root, where no link leads out of what is unpacked."""
    import tarfile
    from tempfile import SpooledTemporaryFile

    folder = posixpath.dirname(path).lstrip("/")
    with SpooledTemporaryFile(_IN_MEMORY) as given, SpooledTemporaryFile(_IN_MEMORY) as taken:
        for piece in api.get_archive(source, path)[0]:
            taken.write(piece)
        taken.seek(0)
        with tarfile.open(fileobj=taken) as old, tarfile.open(fileobj=given, mode="w") as new:
            for member in old:
                member.name = posixpath.join(folder, member.name)
                member.linkname = (
                    posixpath.join(folder, member.linkname) if member.islnk() else member.linkname
                )
                new.addfile(member, old.extractfile(member) if member.isreg() else None)
        given.seek(0)
        api.put_archive(target, "/", given)


async def _put(container: Container, folder: str, data: bytes) -> None:
    await _asked(container, partial(_put_archive, container=container.id, folder=folder, data=data))


def _put_archive(api: Any, *, container: str, folder: str, data: bytes) -> None:
    api.put_archive(container, folder, data)


def _empty_file(name: str) -> bytes:
    from workbench.sandboxing.context import members

    return b"".join(members([(name, b"", False)]))


async def _asked(container: Container, work: Any) -> Any:
    """A call about a container; one that is gone or stopped is lost.

    Raises:
        TrialError: ``agent_resource``, the agent's files are beyond what the engine can read.
    """
    try:
        return await container.engine.call(work)
    except Exception as error:
        if status_code(error) in (404, 409):
            raise await container.lost("cannot be made ready for verification") from error
        if status_code(error) is None:
            raise
        said = explanation(error)
        if _TOO_LONG in said:
            raise TrialError("agent_resource", "the agent left paths that are too long to be read") from error
        raise InfrastructureError("infra:transfer", said) from error
