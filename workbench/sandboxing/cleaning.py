"""What may not stand before a verifier is taken away, by the image's own shell and tools.

What `sweep` cannot decide by path alone is looked at here: files that may lead to code, modules that may
hide the image's, libraries.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from workbench.core.errors import InfrastructureError
from workbench.sandboxing.container import Container
from workbench.sandboxing.libraries import renew
from workbench.sandboxing.orders import QUIET
from workbench.sandboxing.successor import copy
from workbench.sandboxing.sweep import ADDED, Change, Rules, Sweep

_BATCH = 200
"""Words given to one command; even, for some come in pairs."""
_PATH_FILE_LIMIT = 65536
_SAID = frozenset(("python", "pytest", "program", "installs"))
"""Reasons that the scripts below give."""
_PIN = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin; export PATH\n"
_REMOVE = _PIN + 'exec rm -rf -- "$@"'
_REMOVE_LIKE = _PIN + "LC_ALL=C; export LC_ALL; IFS=; rm -rf -- $1"
_READ = _PIN + '[ -f "$1" ] && [ ! -L "$1" ] && head -c 65536 -- "$1"'
_PLUGINS = (
    _PIN
    + r"""
for f; do [ -L "$f" ] || grep -qs pytest11 -- "$f"/* && rm -rf -- "$f" && echo "pytest $f"; done
:
"""
)
_FOLDERS = (
    _PIN
    + r"""
for f; do
  [ -d "$f" ] || exit 3
  for record in "$f"/*[.-][iI][nN][fF][oO] "$f"/*[eE][gG][gG]*; do
    [ -L "$record" ] || grep -qs pytest11 -- "$record"/* && exit 3
  done
done
:
"""
)
_HIDING = (
    _PIN
    + r"""
folders=$1; shift; IFS=:
while [ $# -gt 1 ]; do
  for folder in $folders; do
    for hidden in "$folder/$2" "$folder/$2".*; do
      [ -e "$hidden" ] && ! [ "$hidden" -ef "$1" ] && rm -rf -- "$1" && echo "python $1" && break 2
    done
  done
  shift 2
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


async def clean(
    container: Container, sweep: Sweep, rules: Rules, pristine: Container | None, swapped: Sequence[Change]
) -> Swept:
    """Take away what may not stand; the container runs, and its own tools are the image's.

    Args:
        swapped: what `restore` gave.
    """
    reasons: dict[str, list[str]] = {reason: list(paths) for reason, paths in sweep.reasons.items()}
    if swapped:
        reasons["system"] = [change.path for change in swapped]
    links = [change.path for change in swapped if change.kind == ADDED]
    await _each(container, _REMOVE, [*sweep.remove, *sweep.packages, *links])
    for path in sweep.remove_like:
        await _each(container, _REMOVE_LIKE, [_like(path)])
    if pristine is not None:
        await copy(pristine, container, sweep.packages)
    said = await _each(container, _PLUGINS, sweep.records)
    said += [f"python {path}" for path in sweep.path_files if not await _only_names_folders(container, path)]
    said += await _each(container, _SHADOWS, sweep.programs, ":".join(rules.folders))
    for folders, modules in sweep.hiding.items():
        said += await _each(
            container, _HIDING, [word for each in modules for word in each], ":".join(folders)
        )
    for line in said:
        reason, _, path = line.partition(" ")
        if reason in _SAID:  # else the rest of a name with a line break in it
            reasons.setdefault(reason, []).append(path)
    if sweep.loader:
        hidden = await renew(container)
        reasons |= {"loader": [*reasons.get("loader", []), *hidden]} if hidden else {}
    return Swept({reason: tuple(paths) for reason, paths in reasons.items()})


async def _only_names_folders(container: Container, path: str) -> bool:
    """Whether a ``.pth`` file only names folders without plug-ins of pytest; any other is taken away.

    Its lines are told apart as the most generous of Pythons does (3.13, ``site.addpackage``).
    """
    done = await container.run(["/bin/sh", "-c", _READ, "sh", path], cwd="/", user="0", timeout=20)
    folders = _named_folders(done.out.data(), posixpath.dirname(path)) if done.code == 0 else None
    if folders is not None:
        command = ["/bin/sh", "-c", _FOLDERS, "sh", *folders]
        if (await container.run(command, cwd="/", user="0", timeout=60)).code == 0:
            return True
    await _each(container, _REMOVE, [path])
    return False


def _named_folders(data: bytes, home: str) -> list[str] | None:
    """Folders that the text of a ``.pth`` file names, ``None`` where it does anything else."""
    try:
        lines = data.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError:
        return None
    named = [line.rstrip() for line in lines if line.strip() and not line.startswith("#")]
    if len(data) >= _PATH_FILE_LIMIT or len(named) > _BATCH or any("\0" in line for line in named):
        return None
    if any(line.startswith(("import ", "import\t")) for line in named):
        return None
    return [posixpath.normpath(posixpath.join(home, line)) for line in named]


def _like(path: str) -> str:
    """A shell's pattern for a name of which some bytes cannot be told: each is any that is not ASCII."""
    quoted = "".join(f"\\{letter}" if letter in "\\*?[]" else letter for letter in path)
    return quoted.replace("\ufffd", "[! -~]")


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
