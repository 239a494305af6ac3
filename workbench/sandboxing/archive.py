"""Many files at once, by the engine's own archive calls: no program of the container takes part."""

from __future__ import annotations

import io
import posixpath
import tarfile
from collections.abc import Iterator
from typing import Any

from inspect_ai.util import OutputLimitExceededError

from workbench.core.errors import InfrastructureError
from workbench.sandboxing.container import Container
from workbench.sandboxing.context import members
from workbench.sandboxing.engine import RefusedError, explanation, status_code
from workbench.sandboxing.transfer import Tree


async def put(container: Container, files: Tree, owner: tuple[int, int]) -> None:
    """Write files at absolute paths in one transfer.

    The engine makes missing folders, owned by root; for another owner they are made by that
    user first, where the user may.

    Raises:
        ContainerLostError: the container is gone.
        InfrastructureError: ``infra:transfer``, it was refused.
    """
    if owner[0] != 0:
        await _make_folders(container, files, owner)
    data = b"".join(_tar(files, owner))

    def work(api: Any) -> bool:
        return bool(api.put_archive(container.id, "/", data))

    try:
        done = await container.engine.call(work, repeatable=True)
    except Exception as error:
        await _refused(container, error)
        raise
    if not done:
        raise InfrastructureError("infra:transfer", "the engine did not take the files")


async def get(container: Container, path: str, limit: int) -> dict[str, tuple[bytes, bool]]:
    """Regular files at or below an absolute path: relative path -> (bytes, executable).

    What lies in folders kept in memory (tmpfs, ``/dev/shm``) cannot be had this way.

    Raises:
        FileNotFoundError: no such path.
        OutputLimitExceededError: the archive has more than `limit` bytes.
        ContainerLostError: the container is gone.
    """
    try:
        data = await container.engine.fetch(f"/containers/{container.id}/archive", {"path": path}, limit)
    except OverflowError:
        raise OutputLimitExceededError(f"{limit} bytes", None) from None
    except RefusedError as error:
        if error.status == 404 and await container.state():
            raise FileNotFoundError(f"no such path in the sandbox: {path}") from error
        await _refused(container, error)
        raise
    return dict(_regular(data, posixpath.basename(path.rstrip("/"))))


async def owner(container: Container, user: str | None) -> tuple[int, int]:
    """uid and gid of a user, found by running as that user; root without asking.

    Raises:
        InfrastructureError: ``task:unsupported``, the image knows no such user.
    """
    if (user or container.user).split(":")[0] in ("", "0", "root"):
        return 0, 0
    done = await container.run(["/bin/sh", "-c", "id -u; id -g"], cwd="/", user=user)
    found = done.out.data().split()
    if not done.started or len(found) != 2 or not all(word.isdigit() for word in found):
        who = user or container.user
        if not done.started:
            said = f"the image cannot run anything as user '{who}': {done.err.text(300)}"
            raise InfrastructureError(
                "task:unsupported", f"{said}; make the user, or correct USER in the Dockerfile"
            )
        raise InfrastructureError("infra:transfer", f"no uid for user '{who}'")
    return int(found[0]), int(found[1])


def _tar(files: Tree, owner: tuple[int, int]) -> Iterator[bytes]:
    yield from members(((path.lstrip("/"), *file) for path, file in sorted(files.items())), *owner)


async def _make_folders(container: Container, files: Tree, owner: tuple[int, int]) -> None:
    folders = sorted({posixpath.dirname(path) for path in files})
    script = 'for d; do mkdir -p -- "$d" 2> /dev/null; done; true'
    user = f"{owner[0]}:{owner[1]}"
    await container.run(["/bin/sh", "-c", script, "sh", *folders], cwd="/", user=user)


async def _refused(container: Container, error: Exception) -> None:
    """Raise what a refusal means; other errors are left to the caller."""
    if not isinstance(error, RefusedError) and status_code(error) is None:
        return
    if not (await container.state()).get("Running"):
        raise await container.lost("cannot move files") from error
    raise InfrastructureError("infra:transfer", explanation(error)) from error


def _regular(data: bytes, name: str) -> Iterator[tuple[str, tuple[bytes, bool]]]:
    """Regular files of an archive whose members start with `name`; parsed, never extracted."""
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
            for member in archive:
                content = archive.extractfile(member) if member.isreg() else None
                if content is not None:
                    path = posixpath.normpath(member.name)
                    inside = path.removeprefix(name).lstrip("/") or posixpath.basename(path)
                    yield inside, (content.read(), bool(member.mode & 0o100))
    except tarfile.TarError as error:
        raise InfrastructureError("infra:transfer", f"the engine sent no archive: {error}") from error
