"""The loader's cache made anew for libraries that an agent added, without those that hide the image's."""

from __future__ import annotations

import re

from workbench.core.errors import InfrastructureError
from workbench.sandboxing.container import Container

_LIST = "PATH=/usr/sbin:/sbin:/usr/bin:/bin; command -v ldconfig > /dev/null || exit 0; exec ldconfig -p"
_RENEW = "PATH=/usr/sbin:/sbin:/usr/bin:/bin; command -v ldconfig > /dev/null || exit 0; exec ldconfig"
_REMOVE = 'PATH=/usr/bin:/bin; exec rm -f -- "$@"'
_ENTRY = re.compile(r"\t(?P<name>\S+) \((?P<kind>[^)]*)\) => (?P<path>/.*)")
_ROUNDS = 5


async def renew(container: Container) -> list[str]:
    """Libraries that were taken away; the loader's cache then holds the image's and what was added to them.

    The cache is the image's when this begins. Where the image has no ``ldconfig`` nothing happens.

    Raises:
        InfrastructureError: ``infra:transfer``, the image's own ``ldconfig`` fails.
    """
    own = _entries(await _run(container, _LIST))
    gone: list[str] = []
    for _ in range(_ROUNDS):
        await _run(container, _RENEW)
        hides = sorted(
            path
            for name, paths in _entries(await _run(container, _LIST)).items()
            if name in own
            for path in paths - own[name]
        )
        if not own or not hides:
            break
        await _run(container, _REMOVE, *hides)
        gone += hides
    return gone


def _entries(text: str) -> dict[str, set[str]]:
    """Name of a library -> where the loader finds it."""
    found: dict[str, set[str]] = {}
    for match in map(_ENTRY.fullmatch, text.splitlines()):
        if match:
            found.setdefault(match["name"], set()).add(match["path"])
    return found


async def _run(container: Container, script: str, *words: str) -> str:
    done = await container.run(["/bin/sh", "-c", script, "sh", *words], cwd="/", user="0", timeout=120)
    if done.code != 0:
        raise InfrastructureError(
            "infra:transfer", f"the loader's cache cannot be renewed: {done.err.text(200)}"
        )
    return done.out.data().decode("utf-8", "replace")
