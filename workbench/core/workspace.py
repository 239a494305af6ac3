"""Every path the workbench uses, in one place; nobody else joins paths to content or results.

CONTENT ROOT                  (the workspace first, then what ships with the package)
  pools/<name>.yaml           and pools/<name>/ beside it
  routers/<name>.yaml
  tasks/<suite>/suite.yaml    and task folders beside it
  sandboxes/<image>/Dockerfile
WORKSPACE
  results/<run>/              logs and reports of one run
CACHE                         $SKILL_WORKBENCH_CACHE, else the user's cache folder
  pools/<name>-<key>.pool     built pools, with .rejects.jsonl and .lock beside them
  downloads/<sha256>/         fetched files of pools
  indexes/<fingerprint>/      built indexes and encoded vectors
  data/<suite>/<commit>/      fetched benchmarks
  images/                     output of image builds
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from workbench.core.errors import UnknownNameError

_SHAPES = {
    "pools": "{name}.yaml",
    "routers": "{name}.yaml",
    "tasks": "{name}/suite.yaml",
    "sandboxes": "{name}/Dockerfile",
}
_NOUNS = {"pools": "pool", "routers": "router", "tasks": "suite", "sandboxes": "image"}


@dataclass(frozen=True)
class Workspace:
    """Where content is read from and where results go.

    Attributes:
        roots: content roots, the nearest first; a name in an earlier root hides later ones.
        base: the folder that holds ``results/``.
        cache: folder for everything that can be built or fetched again.
    """

    roots: tuple[Path, ...]
    base: Path
    cache: Path

    def names(self, kind: str) -> list[str]:
        """Names of all content of a kind (``pools``, ``routers``, ``tasks``, ``sandboxes``), sorted."""
        pattern = _SHAPES[kind].format(name="*")
        found: set[str] = set()
        for root in self.roots:
            for path in filter(Path.is_file, (root / kind).glob(pattern)):
                found.add(path.stem if pattern.endswith(".yaml") and "/" not in pattern else path.parent.name)
        return sorted(found)

    def find(self, kind: str, name: str, hint: str = "") -> Path:
        """The content file of a name.

        Raises:
            UnknownNameError: no root has it; names the nearest match.
        """
        if name and not set(name) & set("/\\") and name not in {".", ".."}:
            for root in self.roots:
                path = root / kind / _SHAPES[kind].format(name=name)
                if path.is_file():
                    return path
        raise UnknownNameError(_NOUNS[kind], name, self.names(kind), hint)

    @property
    def results(self) -> Path:
        """Folder of runs and logs."""
        return self.base / "results"


def packaged_root() -> Path:
    """The content that ships with the package: inside the wheel, or the checkout's own folders."""
    package = Path(__file__).resolve().parent.parent
    inside = package / "_content"
    return inside if inside.is_dir() else package.parent


def cache_root(environ: dict[str, str] | None = None) -> Path:
    """``$SKILL_WORKBENCH_CACHE``, else ``$XDG_CACHE_HOME/skill-workbench``, else ``~/.cache/...``."""
    env = dict(os.environ) if environ is None else environ
    if env.get("SKILL_WORKBENCH_CACHE"):
        return Path(env["SKILL_WORKBENCH_CACHE"]).expanduser()
    base = Path(env["XDG_CACHE_HOME"]) if env.get("XDG_CACHE_HOME") else Path.home() / ".cache"
    return base / "skill-workbench"


def find_workspace(start: Path | None = None, environ: dict[str, str] | None = None) -> Workspace:
    """The workspace that holds `start` (default: the current directory), over the packaged content.

    A workspace is the nearest folder, from `start` upward, with content of its own: a
    ``routers/*.yaml``, ``pools/*.yaml`` or ``tasks/*/suite.yaml``.
    """
    here = (start or Path.cwd()).resolve()
    packaged = packaged_root()
    own = next((folder for folder in (here, *here.parents) if _has_content(folder)), None)
    roots = (packaged,) if own is None or own == packaged else (own, packaged)
    return Workspace(roots=roots, base=own or here, cache=cache_root(environ))


def _has_content(folder: Path) -> bool:
    shapes = ("routers/*.yaml", "pools/*.yaml", "tasks/*/suite.yaml")
    try:
        return any(next(folder.glob(shape), None) is not None for shape in shapes)
    except OSError:
        return False
