"""Whole trees into any Inspect sandbox, and proof of what a sandbox holds.

Works on every provider through `exec` alone (a POSIX shell with ``tar``, ``find`` and
``sha256sum``, busybox's will do); a provider that can copy faster offers `BulkCopy`.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol, runtime_checkable

from inspect_ai.util import SandboxEnvironment

from workbench.core.errors import InfrastructureError
from workbench.sandboxing.context import members

Tree = Mapping[str, tuple[bytes, bool]]
"""Relative POSIX path -> (bytes, executable)."""
_PIN = "PATH=/usr/sbin:/usr/bin:/sbin:/bin:$PATH; export PATH\n"
_SECONDS = 120

_UNPACK = _PIN + 'cd -- "$1" && exec tar -xof -'
_DIGEST = (
    _PIN
    + r"""
sum=sha256sum
command -v sha256sum > /dev/null || sum='shasum -a 256'
for d; do [ -d "$d" ] && set -- "$@" "$d"; shift; done
[ $# -gt 0 ] || exit 0
find -H "$@" -type f -perm -100 -exec $sum {} + && echo - &&
find -H "$@" -type f ! -perm -100 -exec $sum {} + && echo - &&
find -H "$@" ! -type f ! -type d -print
"""
)
_FIND = (
    _PIN
    + r"""
name=$1 root=$2 pattern=$3
if command -v find > /dev/null; then
  find "$root" \( -path /proc -o -path /sys \) -prune -o -iname "$name" -print 2> /dev/null
  exit 0
fi
walk() {
  for entry in "$1"/* "$1"/.[!.]* "$1"/..?*; do
    [ -e "$entry" ] || [ -L "$entry" ] || continue
    case $entry in /proc|/sys|//proc|//sys) continue;; esac
    case ${entry##*/} in $pattern) echo "$entry";; esac
    if [ -d "$entry" ] && ! [ -L "$entry" ]; then walk "$entry"; fi
  done
}
walk "${root%/}"
"""
)


@runtime_checkable
class BulkCopy(Protocol):
    """A provider that copies many files in one transfer."""

    async def put_files(self, tree: Tree, *, user: str | None = None) -> None:
        """Write files at absolute paths, owned by `user` (default: the sandbox's user)."""


async def put_tree(
    sandbox: SandboxEnvironment, tree: Tree, dest: str | Sequence[str], *, user: str | None = None
) -> None:
    """Write a tree of files below one or several folders, in one transfer where the provider can.

    Args:
        dest: absolute, or relative to the sandbox's working directory; made where missing. What
            is there already and not in the tree stays.
        user: owner; the sandbox's own user where not given.

    Raises:
        ValueError: a path of the tree is absolute or leaves it.
        InfrastructureError: ``infra:transfer``, the files did not arrive.
    """
    places = [dest] if isinstance(dest, str) else list(dest)
    files = {posixpath.join(place, _inside(path)): file for place in places for path, file in tree.items()}
    if not files:
        return
    try:
        fast = sandbox.as_type(BulkCopy)  # type: ignore[type-var,type-abstract]
    except TypeError:
        fast = None
    if fast is not None and all(path.startswith("/") for path in files):
        await fast.put_files(files, user=user)
        return
    for root, some in _by_root(files).items():
        await unpack(sandbox, root, some, user)


async def unpack(sandbox: SandboxEnvironment, root: str, files: Tree, user: str | None) -> None:
    """Write files below a folder by the sandbox's own ``tar``, or one by one where it has none.

    Raises:
        InfrastructureError: ``infra:transfer``.
    """
    archive = b"".join(members((path, *file) for path, file in sorted(files.items())))
    done = await sandbox.exec(
        ["/bin/sh", "-c", _UNPACK, "sh", root],
        input=archive,
        user=user,
        timeout=_SECONDS,
        timeout_retry=False,
    )
    if done.success:
        return
    if done.returncode != 127:
        raise InfrastructureError("infra:transfer", f"cannot unpack files: {done.stderr.strip()[:300]}")
    for path, (data, executable) in files.items():
        target = posixpath.join(root, path)
        await sandbox.write_file(target, data)
        await sandbox.exec(["chmod", "755" if executable else "644", target], user=user)


async def tree_digest(sandbox: SandboxEnvironment, path: str) -> dict[str, tuple[bool, str]]:
    """What a folder of the sandbox holds: relative path -> (executable by its owner, sha256).

    Links, devices and the like are listed with the digest ``special``, so that they never pass
    for files. A folder that is absent holds nothing.

    Raises:
        InfrastructureError: ``infra:transfer``, the sandbox cannot tell.
    """
    return (await tree_digests(sandbox, [path]))[path]


async def tree_digests(
    sandbox: SandboxEnvironment, paths: Sequence[str]
) -> dict[str, dict[str, tuple[bool, str]]]:
    """`tree_digest` of several folders by one command."""
    if not paths:
        return {}
    done = await sandbox.exec(["/bin/sh", "-c", _DIGEST, "sh", *paths], timeout=_SECONDS, timeout_retry=False)
    if not done.success:
        raise InfrastructureError("infra:transfer", f"cannot list {paths[0]}: {done.stderr.strip()[:300]}")
    return _by_folder(paths, _entries(done.stdout))


async def find_files(sandbox: SandboxEnvironment, name: str, root: str = "/") -> list[str]:
    """Paths below `root` whose last part is `name` in any case, sorted; ``/proc`` and ``/sys`` are left out.

    Raises:
        InfrastructureError: ``infra:transfer``, the sandbox cannot tell.
    """
    pattern = "".join(f"[{c.lower()}{c.upper()}]" if c.isalpha() else c for c in name)
    command = ["/bin/sh", "-c", _FIND, "sh", name, root, pattern]
    done = await sandbox.exec(command, timeout=_SECONDS, timeout_retry=False)
    if not done.success:
        raise InfrastructureError("infra:transfer", f"cannot search {root}: {done.stderr.strip()[:300]}")
    return sorted(line for line in done.stdout.splitlines() if line)


def _inside(path: str) -> str:
    """A path of the tree, checked."""
    if path.startswith("/") or not path or ".." in path.split("/") or "\0" in path:
        raise ValueError(f"'{path}' is not a path inside a tree")
    return posixpath.normpath(path)


def _by_root(files: Tree) -> dict[str, dict[str, tuple[bytes, bool]]]:
    """Absolute and relative paths apart, each relative to where it is unpacked."""
    roots: dict[str, dict[str, tuple[bytes, bool]]] = {}
    for path, file in files.items():
        roots.setdefault("/" if path.startswith("/") else ".", {})[path.lstrip("/")] = file
    return roots


def _entries(output: str) -> Iterator[tuple[str, tuple[bool, str]]]:
    """The lines of the digest script: executables, other files, and what is neither."""
    part = 0
    for line in output.splitlines():
        if line == "-":
            part += 1
        elif part == 2:
            yield line, (False, "special")
        else:
            path, digest = _sum_line(line)
            yield path, (part == 0, digest)


def _by_folder(
    folders: Sequence[str], entries: Iterator[tuple[str, tuple[bool, str]]]
) -> dict[str, dict[str, tuple[bool, str]]]:
    """Entries by the folder that was asked for, relative to it; one inside another is listed in both."""
    found: dict[str, dict[str, tuple[bool, str]]] = {folder: {} for folder in folders}
    for path, entry in entries:
        for folder in folders:
            prefix = folder.rstrip("/") + "/"
            if path.startswith(prefix):
                found[folder][path.removeprefix(prefix).lstrip("/")] = entry
    return found


def _sum_line(line: str) -> tuple[str, str]:
    r"""A line of ``sha256sum``; a leading ``\`` says that the name is escaped."""
    escaped = line.startswith("\\")
    digest, _, name = line.removeprefix("\\").partition("  ")
    if escaped:
        name = name.replace("\\\\", "\0").replace("\\n", "\n").replace("\0", "\\")
    return name, digest
