"""Suites: ``tasks/<suite>/suite.yaml`` and the tasks it names.

A suite's tasks lie beside its ``suite.yaml``, or in a pinned public source that
``workbench fetch SUITE`` brings into the cache, or in a folder given by hand.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal

from pydantic import Field

from workbench.benchmarks.task import BenchmarkTask
from workbench.core.content import Content, load_content
from workbench.core.errors import MissingDataError, UnknownNameError
from workbench.core.plugins import load_plugin
from workbench.core.types import Network
from workbench.core.workspace import Workspace


class Source(Content):
    """A public repository that holds a suite's tasks."""

    github: str = Field(pattern=r"^[\w.-]+/[\w.-]+$", description="owner/name")
    revision: str = Field(description="40 hex digits, or a branch or tag that is resolved once and locked")
    path: str = Field(default="tasks", description="folder of the tasks inside the repository")


class SuiteSpec(Content):
    """The keys of a ``suite.yaml``."""

    description: str = Field(description="one line for lists")
    format: str = Field(default="harbor", description="a file in workbench/benchmarks/formats/")
    pool: str = Field(description="pool that routers search unless told otherwise")
    gold: str = Field(default="{folder}", description="pool id of a task's gold skill, from its folder name")
    source: Source | None = Field(default=None, description="where the tasks are fetched from")
    network: Network = Field(default="none", description="agent's network where a task states nothing")
    verifier_network: Network = Field(
        default="none", description="verifier's network unless a task forbids it"
    )
    shared_verifier: tuple[str, ...] = Field(
        default=(),
        description="tasks (patterns) verified in the agent's own container: they need its state",
    )
    substitute_bases: bool = Field(
        default=False, description="build missing base images from Debian packages (stdlib-only suites)"
    )
    sandbox: Literal["docker", "local-or-docker"] = Field(
        default="docker", description="local-or-docker: may run in Inspect's local sandbox without an engine"
    )
    needs_skills: bool = Field(
        default=False, description="every reference solution must fail without the gold skills"
    )
    router_k: int = Field(default=5, ge=1, le=100, description="skills given to the agent by a router")
    license: str = Field(default="", description="licence of the tasks, for the reader")


@dataclass(frozen=True)
class Suite:
    """A suite with its tasks read; `data` is the folder of the task folders."""

    name: str
    spec: SuiteSpec
    data: Path
    tasks: tuple[BenchmarkTask, ...]

    def task(self, task_id: str) -> BenchmarkTask:
        """The task of an id (UnknownNameError names the nearest)."""
        for task in self.tasks:
            if task.id == task_id:
                return task
        raise UnknownNameError("task", task_id, [t.id for t in self.tasks])

    def select(self, patterns: Iterable[str]) -> Suite:
        """The suite with only the tasks that match one of the patterns (``*`` and ``?`` allowed).

        Raises:
            UnknownNameError: a pattern matches nothing.
        """
        wanted: set[str] = set()
        for pattern in patterns:
            found = [task.id for task in self.tasks if fnmatchcase(task.id, pattern)]
            if not found:
                raise UnknownNameError("task", pattern, [task.id for task in self.tasks])
            wanted.update(found)
        return Suite(self.name, self.spec, self.data, tuple(t for t in self.tasks if t.id in wanted))


def suite_names(workspace: Workspace) -> list[str]:
    """Names of all suites, sorted."""
    return workspace.names("tasks")


def suite_spec(name: str, workspace: Workspace) -> tuple[Path, SuiteSpec]:
    """A suite's file and its keys, without looking at its tasks."""
    file = workspace.find("tasks", name)
    return file, load_content(file, SuiteSpec)


def suite_data(name: str, workspace: Workspace, data: Path | None = None) -> Path:
    """The folder that holds a suite's task folders.

    Args:
        data: a folder given by hand (``-T data=DIR``); its ``tasks/`` is taken where it has one.

    Raises:
        MissingDataError: nothing is there; the message says which command to type.
    """
    file, spec = suite_spec(name, workspace)
    if data is not None:
        folder = data.expanduser().resolve()
        inner = folder / "tasks"
        folder = inner if inner.is_dir() and not _task_folders(folder) else folder
        if not folder.is_dir() or not _task_folders(folder):
            raise MissingDataError(
                f"{data}: holds no task folders (each with a task.toml); give the folder above them"
            )
        return folder
    if spec.source is None:
        return file.parent
    locked = fetched_folder(spec.source, workspace)
    if locked is None:
        raise MissingDataError(
            f"the tasks of '{name}' are not on this machine; type: workbench fetch {name}"
            f" (or give a local copy: -T data=DIR)"
        )
    return locked


def fetched_folder(source: Source, workspace: Workspace) -> Path | None:
    """Where `workbench fetch` has put the tasks of a source, or ``None``."""
    root = fetch_root(source, workspace)
    commit = commit_of(source, root)
    if commit is None or not lock_path(root, commit, source).is_file():
        return None
    folder = root / commit / source.path
    return folder if folder.is_dir() else None


def fetch_root(source: Source, workspace: Workspace) -> Path:
    """The cache folder of a repository; `workbench.benchmarks.fetch` draws what is in it."""
    return workspace.cache / "data" / source.github.replace("/", "+")


def lock_path(root: Path, commit: str, source: Source) -> Path:
    """The file that says what was fetched of a commit."""
    return root / f"{commit}-{source.path.replace('/', '+')}.lock.json"


def is_commit(revision: str) -> bool:
    """Whether a revision is a full commit id, which cannot move."""
    return re.fullmatch(r"[0-9a-f]{40}", revision) is not None


def commit_of(source: Source, root: Path) -> str | None:
    """The commit that a source means here: itself, or what its branch or tag was resolved to."""
    return source.revision if is_commit(source.revision) else refs(root).get(source.revision)


def refs(root: Path) -> dict[str, str]:
    """Branches and tags that were resolved, by name."""
    try:
        found = json.loads((root / "refs.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {str(k): str(v) for k, v in found.items()} if isinstance(found, dict) else {}


def load_suite(name: str, workspace: Workspace, data: Path | None = None) -> Suite:
    """Read a suite and all its tasks, sorted by id.

    Raises:
        UnknownNameError: no such suite or format.
        MissingDataError: its tasks are not on this machine.
        ContentError: a task folder cannot be read.
    """
    _, spec = suite_spec(name, workspace)
    folder = suite_data(name, workspace, data)
    reader = load_plugin("workbench.benchmarks.formats", spec.format, "benchmark format")
    tasks: tuple[BenchmarkTask, ...] = reader.read_tasks(name, folder)
    return Suite(name, spec, folder, tasks)


def _task_folders(folder: Path) -> bool:
    return any(folder.glob("*/task.toml"))
