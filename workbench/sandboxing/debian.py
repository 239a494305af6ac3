"""A base image made from Debian packages alone, then finished by ``sandboxes/debian-python``.

For machines that reach a package mirror but no image registry. mmdebstrap is taken where it is
installed (three times as fast, and it can do without root), else debootstrap.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence

import anyio
import anyio.abc
from anyio.streams.text import TextReceiveStream

from workbench.core.digest import digest_parts
from workbench.core.workspace import cache_root, find_workspace
from workbench.sandboxing import labels
from workbench.sandboxing.builder import BuildError, Recipe, build_image
from workbench.sandboxing.engine import Engine, RefusedError
from workbench.sandboxing.groups import together

SUITE = "bookworm"
PACKAGES = ("python3", "ca-certificates", "procps")
ROOTFS = f"{labels.REPOSITORY}/debian:{SUITE}"
DEBIAN_PYTHON = f"{labels.REPOSITORY}/debian-python:{SUITE}"
_SECONDS = 900.0
_LEFT_OUT = (
    "./etc/resolv.conf",
    "./etc/hostname",
    "./var/cache/apt/*",
    "./var/lib/apt/lists/*",
    "./var/log/*",
)
"""What debootstrap copies from this machine, and what only fills the image."""
_FORGET = '--customize-hook=rm -f "$1/etc/resolv.conf" "$1/etc/hostname"'
_HOW_TO = "sudo apt-get install mmdebstrap && sudo workbench images build-base"
_Said = Callable[[str], None]


async def build_debian_python(engine: Engine, *, force: bool = False, said: _Said = lambda line: None) -> str:
    """The id of the base image; built where it is not here, which takes a minute or two.

    Args:
        force: build it again from fresh packages.

    Raises:
        BuildError: no debootstrap, not root, or no package mirror; says what to type.
    """
    folder = find_workspace().find("sandboxes", "debian-python").parent
    rootfs = digest_parts([SUITE, *PACKAGES, _FORGET, *_LEFT_OUT])
    plan = digest_parts([rootfs, (folder / "Dockerfile").read_bytes()])
    made = None if force else await _current(engine, DEBIAN_PYTHON, plan)
    if made is not None:
        return made
    if force or await _current(engine, ROOTFS, rootfs) is None:
        await _make_rootfs(engine, rootfs, said)
    said(f"building {DEBIAN_PYTHON}")
    recipe = Recipe(folder, "Dockerfile", DEBIAN_PYTHON, {labels.IMAGE: "base", labels.PLAN: plan}, {})
    log = cache_root() / "images" / "debian-python.log"
    await build_image(engine, recipe, timeout=_SECONDS, log=log, said=said)
    made = await _current(engine, DEBIAN_PYTHON, plan)
    if made is None:
        raise BuildError(f"{DEBIAN_PYTHON} was built but is not there")
    return made


def cannot_bootstrap() -> str:
    """Why no root file system can be made here, and what to type; empty when it can."""
    if _which("mmdebstrap"):
        return ""
    if not _which("debootstrap"):
        return f"mmdebstrap, which makes a base image from Debian packages, is not installed; type: {_HOW_TO}"
    if os.geteuid() != 0:
        return "debootstrap works for root only; type: sudo workbench images build-base"
    return ""


async def _current(engine: Engine, name: str, plan: str) -> str | None:
    """The id of an image of ours, ``None`` where it is absent or was made otherwise."""
    found = await engine.image(name)
    marks = (found or {}).get("Config", {}).get("Labels") or {}
    return str(found["Id"]) if found and marks.get(labels.PLAN) == plan else None


async def _make_rootfs(engine: Engine, plan: str, said: _Said) -> None:
    missing = cannot_bootstrap()
    if missing:
        raise BuildError(missing)
    said(f"making {ROOTFS} from Debian packages")
    include = f"--include={','.join(PACKAGES)}"
    with anyio.move_on_after(_SECONDS) as scope:
        if _which("mmdebstrap"):
            options = ["--variant=minbase", include, "--format=tar", "--dpkgopt=force-unsafe-io", _FORGET]
            await _import(engine, ["mmdebstrap", *options, SUITE, "-"], plan, said)
        else:
            with tempfile.TemporaryDirectory(prefix="workbench-", ignore_cleanup_errors=True) as folder:
                await _run(["debootstrap", "--variant=minbase", include, SUITE, folder], said)
                leave_out = [f"--exclude={path}" for path in _LEFT_OUT]
                tar = ["tar", "-C", folder, "--numeric-owner", "--sort=name", *leave_out, "-c", "."]
                await _import(engine, tar, plan, said)
    if scope.cancelled_caught:
        raise BuildError(f"{ROOTFS} was not done after {_SECONDS:g} s")


async def _run(command: Sequence[str], said: _Said) -> None:
    """Run a program to its end; its messages are handed on, and end the error when it fails."""
    async with await anyio.open_process(command, stderr=subprocess.STDOUT, env=_environment()) as process:
        tail = await _listen(process.stdout, said)
    _check(command, process.returncode, tail)


async def _import(engine: Engine, command: Sequence[str], plan: str, said: _Said) -> None:
    """The tar that a program writes, as an image, streamed."""
    repository, _, tag = ROOTFS.rpartition(":")
    changes = [f"LABEL {labels.IMAGE}=base", f"LABEL {labels.PLAN}={plan}"]
    params = {"fromSrc": "-", "repo": repository, "tag": tag, "changes": changes}
    headers = {"Content-Type": "application/x-tar"}
    tail: list[str] = []
    refused = ""
    process = await anyio.open_process(command, env=_environment())
    async with process, together() as tasks:

        async def listen() -> None:
            tail[:] = await _listen(process.stderr, said)

        tasks.start_soon(listen)
        try:
            await engine.post(
                "/images/create", params, lambda event: None, content=process.stdout, headers=headers
            )
        except RefusedError as error:
            refused = str(error)
            process.terminate()
    _check(command, process.returncode, [*tail, refused] if refused else tail)


async def _listen(stream: anyio.abc.ByteReceiveStream | None, said: _Said) -> list[str]:
    """Hand on a program's lines; returns the last ten."""
    tail: list[str] = []
    if stream is not None:
        async for text in TextReceiveStream(stream, errors="replace"):
            for line in text.splitlines():
                tail = [*tail[-9:], line]
                said(line)
    return tail


def _check(command: Sequence[str], code: int | None, tail: Sequence[str]) -> None:
    if code != 0:
        lines = "".join(f"\n    {line}" for line in tail)
        raise BuildError(f"{command[0]} failed (is a Debian mirror reachable?):{lines}")


def _which(program: str) -> str | None:
    return shutil.which(program, path=_environment()["PATH"])


def _environment() -> dict[str, str]:
    path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
    return {**os.environ, "PATH": path, "DEBIAN_FRONTEND": "noninteractive"}
