"""The loader's cache made anew for libraries that an agent added, without those that hide the image's."""

from __future__ import annotations

import re
from typing import NamedTuple

from workbench.core.errors import InfrastructureError
from workbench.sandboxing.container import Container

_PIN = "PATH=/usr/sbin:/sbin:/usr/bin:/bin; command -v ldconfig > /dev/null || exit 0\n"
_LIST = (
    _PIN
    + r"""
ldconfig -p | while IFS= read -r line; do
  case $line in *' => '*) printf '%s => %s\n' "$line" "$(readlink -f -- "${line##* => }")";; esac
done
"""
)
_RENEW = _PIN + "exec ldconfig"
_REMOVE = 'PATH=/usr/bin:/bin; exec rm -f -- "$@"'
_ENTRY = re.compile(r"\t(?P<name>\S+) \([^)]*\) => (?P<path>/.*) => (?P<file>/.*)")
_ROUNDS = 5


class _Library(NamedTuple):
    """Where the loader finds a library, and the file that it finds there."""

    path: str
    file: str


async def renew(container: Container) -> list[str]:
    """Libraries that were taken away; the loader's cache then holds the image's and what was added to them.

    The cache is the image's when this begins. ``ldconfig`` goes by the name that a library has within, so it
    is asked what it would make of those that were added. Where the image has none nothing happens.

    Raises:
        InfrastructureError: ``infra:transfer``, the image's own ``ldconfig`` fails.
    """
    own = _entries(await _run(container, _LIST))
    files = {library.file for libraries in own.values() for library in libraries}
    gone: list[str] = []
    for _ in range(_ROUNDS if own else 0):
        await _run(container, _RENEW)
        found = _entries(await _run(container, _LIST))
        hides = {library for name in own.keys() & found.keys() for library in found[name] - own[name]}
        paths = {path for library in hides for path in library} - files
        paths -= {library.path for libraries in own.values() for library in libraries}
        if not paths:
            break
        await _run(container, _REMOVE, *sorted(paths))
        gone += sorted(paths)
    return gone


def _entries(text: str) -> dict[str, set[_Library]]:
    """Libraries by the name under which programs ask for them."""
    found: dict[str, set[_Library]] = {}
    for match in map(_ENTRY.fullmatch, text.splitlines()):
        if match:
            found.setdefault(match["name"], set()).add(_Library(match["path"], match["file"]))
    return found


async def _run(container: Container, script: str, *words: str) -> str:
    done = await container.run(["/bin/sh", "-c", script, "sh", *words], cwd="/", user="0", timeout=120)
    if done.code != 0:
        raise InfrastructureError(
            "infra:transfer", f"the loader's cache cannot be renewed: {done.err.text(200)}"
        )
    return done.out.data().decode("utf-8", "replace")
