"""From a pool's name or path to an open pool, built into the cache when needed."""

from __future__ import annotations

import logging
import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from workbench.core.atomic import reason, unwritable
from workbench.core.digest import digest_json, short
from workbench.core.errors import MachineError, MissingDataError, UsageError
from workbench.core.locks import OTHER_CACHE, exclusive
from workbench.core.types import Progress, silent
from workbench.core.workspace import Workspace
from workbench.skills.build import Account, build_pool, rejects_file, within_budget
from workbench.skills.definition import load_definition
from workbench.skills.folders import safe_folder
from workbench.skills.pool import Pool
from workbench.skills.reader import READER_VERSION
from workbench.skills.schema import SCHEMA_VERSION, BuildCounts, PoolHeader
from workbench.skills.source import Found, SourceContext, SuiteData, load_source

_log = logging.getLogger(__name__)
POOL_SUFFIX = ".pool"
_FILES = (".jsonl", ".gz", ".parquet", ".yaml")
_ANY_NUMBER = 1 << 60


@dataclass(frozen=True)
class Recipe:
    """How a pool is made: its sources with their options, and what must hold of the result.

    Attributes:
        identity: file or folder that defines it; relative paths start from `base`.
        budget: finds that may be rejected.
    """

    name: str
    identity: Path
    base: Path
    steps: tuple[tuple[str, Any], ...]
    budget: int = _ANY_NUMBER
    count: int | None = None


class PoolOpener:
    """Opens and builds pools of one workspace.

    Args:
        suite_data: folder of a suite's tasks, for pools that take their skills from them.
        progress: told how a build goes on.
    """

    def __init__(
        self, workspace: Workspace, suite_data: SuiteData | None = None, progress: Progress = silent
    ) -> None:
        self._workspace = workspace
        self._suite_data = suite_data or _no_suite_data
        self._progress = progress
        self._opening: list[str] = []

    def open(self, name_or_path: str) -> Pool:
        """See `open_pool`."""
        if name_or_path.endswith(POOL_SUFFIX):
            return Pool(Path(name_or_path).expanduser())
        if name_or_path in self._opening:
            raise UsageError(f"pool {' > '.join([*self._opening, name_or_path])}: includes itself")
        self._opening.append(name_or_path)
        try:
            return self._open(self.recipe(name_or_path))
        finally:
            self._opening.pop()

    def recipe(self, name_or_path: str) -> Recipe:
        """How a pool is made.

        Raises:
            UnknownNameError: neither a pool's name nor a path.
            ContentError: its YAML file is wrong.
        """
        path = Path(name_or_path).expanduser()
        is_path = path.suffix in _FILES or "/" in name_or_path or os.sep in name_or_path
        if not is_path and (name_or_path in self._workspace.names("pools") or not path.exists()):
            hint = "Or give a folder, a .jsonl, .jsonl.gz, .parquet, .yaml or .pool file"
            return _defined(self._workspace.find("pools", name_or_path, hint))
        if not path.exists():
            raise MissingDataError(f"{path}: no such file or folder")
        if path.suffix == ".yaml":
            return _defined(path)
        return _at_path(path)

    def cached(self, recipe: Recipe) -> Path:
        """Where the build of a recipe lies in the cache."""
        where = digest_json([str(recipe.identity.resolve()), SCHEMA_VERSION, READER_VERSION])
        return self._workspace.cache / "pools" / f"{safe_folder(recipe.name)}-{short(where)}{POOL_SUFFIX}"

    def build(
        self,
        recipe: Recipe,
        out: Path,
        *,
        budget: int | None = None,
        report: Callable[[BuildCounts], None] = lambda counts: None,
    ) -> PoolHeader:
        """Build a pool file, whatever is there already.

        Args:
            budget: finds that may be rejected, in place of the recipe's.
            report: shown the counts, before they are held against the budget.

        Raises:
            GateError: more are rejected, or the count is not the expected one; nothing is published.
        """
        allowed = recipe.budget if budget is None else budget

        def check(counts: BuildCounts) -> None:
            report(counts)
            within_budget(recipe.name, counts, rejects_file(out), allowed, recipe.count)

        sources = tuple(load_source(k).describe(o, self._context(recipe)) for k, o in recipe.steps)
        finds = partial(self._finds, recipe)
        signature = self._signature(recipe)
        return build_pool(out, recipe.name, finds, sources=sources, signature=signature, check=check)

    def _open(self, recipe: Recipe) -> Pool:
        """The cached build if its sources have not changed; else a new one, kept if there is room for it."""
        out = self.cached(recipe)
        signature = self._signature(recipe)
        if (pool := _current(out, signature)) is not None:
            return pool
        try:
            return self._built(recipe, out, signature)
        except (OSError, MachineError) as error:
            if not unwritable(error):
                raise
            _log.warning("cannot write to %s (%s); the pool is not kept", out.parent, reason(error))
        return self._unkept(recipe, out, signature)

    def _unkept(self, recipe: Recipe, out: Path, signature: str) -> Pool:
        """A build in a temporary folder, which goes with the pool."""
        with ExitStack() as undo:
            try:
                folder = Path(tempfile.mkdtemp(prefix="workbench-pools-"))
                undo.callback(shutil.rmtree, folder, ignore_errors=True)
                pool = self._built(recipe, folder / out.name, signature)
            except (OSError, MachineError) as error:
                if not unwritable(error):
                    raise
                raise MachineError(
                    f"no place to write a pool: neither {out.parent} nor {tempfile.gettempdir()} "
                    f"({reason(error)}); free some space or {OTHER_CACHE}"
                ) from error
            weakref.finalize(pool, undo.pop_all().close)
        return pool

    def _built(self, recipe: Recipe, out: Path, signature: str) -> Pool:
        """A new build. Two processes build once."""
        waiting = partial(self._progress, f"waiting for another process to build {recipe.name}", 0, None)
        with exclusive(out.with_suffix(".lock"), waiting):
            if (pool := _current(out, signature)) is None:
                self.build(recipe, out)
                pool = Pool(out)
            return pool

    def _signature(self, recipe: Recipe) -> str:
        context = self._context(recipe)
        states = [(kind, str(o), load_source(kind).signature(o, context)) for kind, o in recipe.steps]
        return digest_json([states, recipe.count, recipe.budget])

    def _finds(self, recipe: Recipe, account: Account) -> Iterator[Found]:
        context = self._context(recipe, account)
        for kind, options in recipe.steps:
            yield from load_source(kind).read(options, context)

    def _context(self, recipe: Recipe, account: Account | None = None) -> SourceContext:
        record = account.link if account else _ignore
        downloads = self._workspace.cache / "downloads"
        return SourceContext(recipe.base, downloads, self._suite_data, self.open, self._progress, record)


def open_pool(
    name_or_path: str,
    workspace: Workspace,
    *,
    suite_data: SuiteData | None = None,
    progress: Progress = silent,
) -> Pool:
    """Open a pool, building it into the cache when its sources have changed or it is not there.

    Whether they have changed is told from names, sizes and times of change (of the tree, of the
    files), from pinned digests (downloads) and fingerprints (included pools), never by reading
    contents; ``workbench pool build`` always reads. Two processes at once build once. Where the
    cache cannot be written, the pool lives in a temporary folder as long as it is used.

    Args:
        name_or_path: a name in ``pools/``; else a folder of skills or of shards, a ``.jsonl``,
            ``.jsonl.gz``, ``.parquet`` or ``.yaml`` file, or a built ``.pool`` file. A folder
            beside a pool of the same name is meant by ``./NAME``.
        suite_data: folder of a suite's tasks; needed by pools of ``task_skills``.
        progress: told how a build goes on; see `workbench.skills.progress`.

    Raises:
        UnknownNameError: neither a name nor a path; names the nearest.
        ContentError: a YAML file is wrong.
        MissingDataError: sources are not at hand, or nothing is found in them.
        GateError: more finds are rejected than a named pool allows, or its count is wrong.
        MachineError: neither the cache nor a temporary folder can be written.
    """
    return PoolOpener(workspace, suite_data, progress).open(name_or_path)


def _defined(path: Path) -> Recipe:
    definition = load_definition(path)
    steps = tuple((source.kind, source.options) for source in definition.sources)
    return Recipe(path.stem, path, path.parent, steps, definition.rejects_allowed, definition.count)


def _at_path(path: Path) -> Recipe:
    """The recipe of a bare path. A folder that holds shards and no folders is read as records."""
    kind = _kind(path)
    options = load_source(kind).Options(path=str(path.resolve()))
    name = path.resolve().name.removesuffix(".gz").removesuffix(".jsonl").removesuffix(".parquet")
    return Recipe(name, path, path.parent, ((kind, options),))


def _kind(path: Path) -> str:
    inside = list(path.iterdir()) if path.is_dir() else [path]
    if path.is_dir() and any(entry.is_dir() for entry in inside):
        return "folder"
    for kind, suffixes in (("jsonl", (".jsonl", ".jsonl.gz")), ("parquet", (".parquet",))):
        if any(entry.name.endswith(suffixes) for entry in inside):
            return kind
    if path.is_dir():
        return "folder"
    raise UsageError(f"{path}: is no pool; give a folder, a .jsonl, .jsonl.gz, .parquet, .yaml or .pool file")


def _current(out: Path, signature: str) -> Pool | None:
    """The built pool, if it is whole and its sources are as they were."""
    if not out.is_file():
        return None
    try:
        pool = Pool(out)
    except MissingDataError:
        return None
    if pool.header.signature == signature:
        return pool
    pool.close()
    return None


def _no_suite_data(suite: str) -> Path:
    raise MissingDataError(f"the tasks of '{suite}' are not at hand; type: workbench fetch {suite}")


def _ignore(link: str) -> None:
    pass
