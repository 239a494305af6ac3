"""The steps by which a container's files are made fit for a verifier; `judging` puts them together.

The engine alone reads and writes until the image's shell and loader are back in their places; only then is a
program of the container run.
"""

from __future__ import annotations

import base64
import json
import posixpath
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import anyio

from workbench.core.errors import InfrastructureError, TrialError
from workbench.sandboxing.container import Container
from workbench.sandboxing.engine import RefusedError, explanation, status_code
from workbench.sandboxing.groups import together
from workbench.sandboxing.kill import KILL_ALL_SIGNAL, KILL_OTHERS
from workbench.sandboxing.orders import QUIET, searched_after
from workbench.sandboxing.sweep import Change, Rules, Sweep

_FOLDER, _LINK = 1 << 31, 1 << 27
"""Bits of a Go file mode, in which the engine tells what lies at a path."""
_AT_ONCE = 8
_OWN_PROCESSES = 2
"""Process 1 and its sleep."""
_PATIENCE = (0.05, 0.2, 1.0, 3.0)
"""Seconds that killed processes have to be gone."""
_BATCH = 200
_TOO_LONG = "file name too long"
"""What the engine says of paths beyond what the kernel takes; only by steps can one make such."""
_SAID = frozenset(("python", "pytest", "program"))
"""Reasons that the scripts below give."""
"""Paths given to one command."""
_PIN = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin; export PATH\n"
_REMOVE = _PIN + 'exec rm -rf -- "$@"'
_SUSPECT = (
    _PIN
    + r"""
orders() { # imports something, by whatever Python takes for the start of a line, or leads to a plug-in
  grep -aq 'import[[:space:]]' -- "$1" && return
  tr '\r\v\f' '\n\n\n' < "$1" | while IFS= read -r line || [ "$line" ]; do
    case $line in /*) ;; *) line=${1%/*}/$line;; esac
    grep -aqs pytest11 -- "$line"/*-info/entry_points.txt && exit 3
  done
  [ $? = 3 ]
}
for f; do
  case $f in
    *.pth) orders "$f" && rm -f -- "$f" && echo "python $f";;
    *) grep -q 'pytest11' -- "$f" 2> /dev/null && rm -rf -- "${f%/*}" && echo "pytest $f";;
  esac
done
:
"""
)
_HIDING = (
    _PIN
    + r"""
folders=$1; shift
for f; do
  IFS=:; name=${f##*/}
  for d in $folders; do
    for hidden in "$d/${name%%.*}" "$d/${name%%.*}".*; do
      [ -e "$hidden" ] && rm -rf -- "$f" && echo "python $f" && break 2
    done
  done
done
:
"""
)
_SHADOWS = (
    _PIN
    + r"""
folders=$1; shift
for f; do
  IFS=:; after=
  for d in $folders; do
    [ "$d/${f##*/}" -ef "$f" ] && after=1 && continue
    [ "$after" ] && [ -e "$d/${f##*/}" ] && rm -f -- "$f" && echo "program $f" && break
  done
done
:
"""
)


@dataclass(frozen=True)
class Swept:
    """What was undone or taken away.

    Attributes:
        reasons: kind of place -> paths; empty where the agent left the verifier's tools alone.
    """

    reasons: Mapping[str, tuple[str, ...]]

    @property
    def incidents(self) -> list[str]:
        """``swept:<kind>`` for each kind of place that honest work leaves alone."""
        return sorted(f"swept:{reason}" for reason in self.reasons if reason not in QUIET)


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


async def snapshot(container: Container, spared: Sequence[str]) -> tuple[str, list[Change]]:
    """The container's files as an image, and what of them changed since its own image.

    The image carries the container's labels, so that it is swept with the run's containers.

    Raises:
        ContainerLostError: the container is gone.
    """
    found: list[Change] = []
    async with frozen(container, spared), together() as tasks:

        async def look() -> None:
            found.extend(await changes(container))

        tasks.start_soon(look)
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


async def restore(container: Container, sweep: Sweep, pristine: Container | None) -> None:
    """Put the image's own files back, by the engine alone; the container need not run.

    Raises:
        TrialError: ``tamper``, a folder of the system is no folder any more.
    """
    await _check_anchors(container, sweep.anchors)
    empty = [path for path in sweep.remove if path.startswith("/etc/ld.so.")]
    for path in empty:  # until it can be taken away
        await _put(container, posixpath.dirname(path), _empty_file(posixpath.basename(path)))
    if pristine is not None:
        await copy(pristine, container, sweep.restore)


async def clean(container: Container, sweep: Sweep, rules: Rules, pristine: Container | None) -> Swept:
    """Take away what may not stand; the container runs, and its own tools are the image's."""
    reasons: dict[str, list[str]] = {reason: list(paths) for reason, paths in sweep.reasons.items()}
    await _each(container, _REMOVE, [*sweep.remove, *sweep.packages])
    if pristine is not None:
        await copy(pristine, container, sweep.packages)
    said = await _each(container, _SUSPECT, sweep.suspect)
    said += await _each(container, _SHADOWS, sweep.programs, ":".join(rules.folders))
    for folder, modules in sweep.hiding.items():
        said += await _each(container, _HIDING, modules, ":".join(searched_after(folder)))
    for line in said:
        reason, _, path = line.partition(" ")
        if reason in _SAID:  # else the rest of a name with a line break in it
            reasons.setdefault(reason, []).append(path)
    return Swept({reason: tuple(paths) for reason, paths in reasons.items()})


async def copy(source: Container, target: Container, paths: Iterable[str]) -> None:
    """Copy paths as they are from one container to the same places of another; absent ones are left out."""
    limiter = anyio.CapacityLimiter(_AT_ONCE)

    async def one(path: str) -> None:
        async with limiter:
            await _copy(source, target, path)

    async with together() as tasks:
        for path in paths:
            tasks.start_soon(one, path)


async def _each(container: Container, script: str, paths: Sequence[str], *first: str) -> list[str]:
    """Run a script as root over paths; its lines."""
    lines: list[str] = []
    for at in range(0, len(paths), _BATCH):
        command = ["/bin/sh", "-c", script, "sh", *first, *paths[at : at + _BATCH]]
        done = await container.run(command, cwd="/", user="0", timeout=120)
        if not done.started or done.code != 0:
            said = done.err.text(300)
            raise InfrastructureError("infra:transfer", f"the agent's changes cannot be swept: {said}")
        lines += done.out.data().decode("utf-8", "replace").splitlines()
    return lines


async def _check_anchors(container: Container, anchors: Sequence[str]) -> None:
    async def check(path: str) -> None:
        mode, link = await _stat(container, path)
        merged = mode & _LINK and link.lstrip("/") == f"usr{path}"
        if not (mode & _FOLDER or merged):
            raise TrialError("tamper", f"{path} was a folder of the image and is none any more")

    async with together() as tasks:
        for path in anchors:
            tasks.start_soon(check, path)


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
        if error.status != 404:
            raise InfrastructureError("infra:transfer", f"{path}: {error}") from error


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
