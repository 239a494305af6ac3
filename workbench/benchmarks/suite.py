"""Suites: ``tasks/<suite>/suite.yaml`` and the tasks it names.

A suite's tasks lie beside its ``suite.yaml``, or in a pinned public source that
``workbench fetch SUITE`` brings into the cache, or in a folder given by hand.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import Annotated, Literal, Protocol, cast

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
    blobs: dict[str, str] = Field(
        default={}, description="file below `path` -> its 40 hex digits in git, which it must have"
    )


class Sample(Content):
    """A few tasks of our own in a suite's format, for trying it before its data are fetched."""

    path: str = Field(description="folder beside the suite.yaml")
    pool: str = Field(description="pool that routers search in place of the suite's")
    router_k: int = Field(ge=1, le=100, description="skills given to the agent in place of the suite's")


AbsolutePath = Annotated[str, Field(pattern=r"^/[^\x00]+$")]


class SuiteSpec(Content):
    """The keys of a ``suite.yaml``."""

    description: str = Field(description="one line for lists")
    format: str = Field(default="harbor", description="a file in workbench/benchmarks/formats/")
    pool: str = Field(description="pool that routers search unless told otherwise")
    gold: str = Field(default="{folder}", description="pool id of a task's gold skill, from its folder name")
    source: Source | None = Field(default=None, description="where the tasks are fetched from")
    network: Network = Field(default="none", description="agent's network where a task states nothing")
    allowed_hosts: tuple[str, ...] = Field(
        default=(),
        description="hosts (exact names) whose ports 80 and 443 agents may reach without a network",
    )
    verifier_network: Network = Field(
        default="none", description="verifier's network unless a task forbids it"
    )
    shared_verifier: tuple[str, ...] = Field(
        default=(),
        description="tasks (patterns) verified in the agent's own container: they need services of the image"
        " with their state; what the agent itself started is killed there as elsewhere",
    )
    kept_changes: dict[str, tuple[AbsolutePath, ...]] = Field(
        default={},
        description="tasks (patterns) -> absolute paths among the image's programs, libraries and packages"
        " that the task has its agent change; all others are as in the image when its verifier runs",
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
    sample: Sample | None = Field(default=None, description="used until the source is fetched")
    code_image: str | None = Field(
        default=None, description="folder in sandboxes/ in which answers that are programs are run"
    )
    license: str = Field(default="", description="licence of the tasks, for the reader")


@dataclass(frozen=True)
class Suite:
    """A suite with its tasks read; `data` is the folder of the task folders."""

    name: str
    spec: SuiteSpec
    data: Path
    tasks: tuple[BenchmarkTask, ...]

    @cached_property
    def _by_id(self) -> dict[str, BenchmarkTask]:
        return {task.id: task for task in self.tasks}

    def task(self, task_id: str) -> BenchmarkTask:
        """The task of an id (UnknownNameError names the nearest)."""
        if task_id not in self._by_id:
            raise UnknownNameError("task", task_id, self._by_id)
        return self._by_id[task_id]

    def subset(self, names: Iterable[str]) -> Suite:
        """The suite with only the tasks whose tag ``subset`` is one of the names.

        Raises:
            UnknownNameError: no task has one of them.
        """
        known = {task.tags["subset"] for task in self.tasks if "subset" in task.tags}
        for name in names:
            if name not in known:
                raise UnknownNameError("subset", name, known)
        return replace(self, tasks=tuple(t for t in self.tasks if t.tags.get("subset") in set(names)))

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


class Format(Protocol):
    """A module in ``formats/``."""

    MISSING: str
    """What a folder lacks that holds no tasks of this format; ends in what to give."""

    def tasks_folder(self, folder: Path) -> Path | None:
        """The folder of the tasks: `folder`, or one in it; ``None`` where there are none."""

    def read_tasks(self, suite: str, folder: Path) -> tuple[BenchmarkTask, ...]:
        """All tasks, sorted by id; raises ContentError."""


def format_of(spec: SuiteSpec) -> Format:
    """The module of a suite's format (UnknownNameError names the nearest)."""
    return cast(Format, load_plugin("workbench.benchmarks.formats", spec.format, "benchmark format"))


@dataclass(frozen=True)
class Home:
    """Where a suite's tasks lie on this machine, and the pool that goes with them.

    Attributes:
        k: skills given to the agent by a router.
        sampled: it is the suite's own sample, for want of the fetched data.
    """

    data: Path
    pool: str
    k: int
    sampled: bool = False


def suite_home(name: str, workspace: Workspace, data: Path | None = None) -> Home:
    """Find a suite's tasks: given by hand, beside its file, fetched, or its sample.

    Args:
        data: a folder given by hand (``-T data=DIR``), or one above it.

    Raises:
        MissingDataError: nothing is there; the message says which command to type.
    """
    file, spec = suite_spec(name, workspace)
    if data is not None:
        folder = data.expanduser().resolve()
        found = format_of(spec).tasks_folder(folder) if folder.is_dir() else None
        if found is None:
            raise MissingDataError(f"{data}: {format_of(spec).MISSING}")
        own = spec.sample is not None and found == (file.parent / spec.sample.path).resolve()
        chosen = spec.sample if spec.sample is not None and own else spec
        return Home(found, chosen.pool, chosen.router_k)
    if spec.source is None:
        return Home(file.parent, spec.pool, spec.router_k)
    if (fetched := fetched_folder(spec.source, workspace)) is not None:
        return Home(fetched, spec.pool, spec.router_k)
    if spec.sample is not None:
        return Home(file.parent / spec.sample.path, spec.sample.pool, spec.sample.router_k, sampled=True)
    raise MissingDataError(
        f"the tasks of '{name}' are not on this machine; type: workbench fetch {name}"
        f" (or give a local copy: -T data=DIR)"
    )


def suite_data(name: str, workspace: Workspace, data: Path | None = None) -> Path:
    """The folder that holds a suite's tasks; see `suite_home`."""
    return suite_home(name, workspace, data).data


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
    tasks = format_of(spec).read_tasks(name, folder)
    if spec.code_image is not None:
        image = workspace.find("sandboxes", spec.code_image).parent
        tasks = tuple(replace(t, environment=image) if _is_program(t) else t for t in tasks)
    return Suite(name, spec, folder, tasks)


def _is_program(task: BenchmarkTask) -> bool:
    return task.question is not None and task.question.in_sandbox
