"""Images of tasks: planned from their folders, named by their content, built at most once."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import anyio
import anyio.to_thread
from filelock import FileLock

from workbench.core.digest import digest_json, short
from workbench.core.errors import MissingDataError, UsageError
from workbench.core.workspace import cache_root
from workbench.sandboxing import labels
from workbench.sandboxing.base import Bases
from workbench.sandboxing.builder import BuildError, Recipe, build_image, check_space
from workbench.sandboxing.classic import translate
from workbench.sandboxing.config import BuildPlan
from workbench.sandboxing.context import digest, entries
from workbench.sandboxing.debian import DEBIAN_PYTHON
from workbench.sandboxing.dockerfile import Dockerfile, parse
from workbench.sandboxing.engine import Engine
from workbench.sandboxing.groups import together
from workbench.sandboxing.landing import image, members, places
from workbench.sandboxing.usage import note

_FORMAT = 1
"""Part of every digest; raised when the same files would make another image."""


@dataclass(frozen=True)
class BuildResult:
    """What became of a plan.

    Attributes:
        tag: the plan's.
        image_id: ``sha256:...`` of the image, ``None`` when there is none.
        built: false when the image was there already.
        bases: base image as written -> id of what was used.
        substitutes: base image as written -> what was used in its place.
        error: why there is no image, with the end of the build's output; empty when there is one.
        cause: what that means, a key of `errors.POLICY`.
        log: the whole output, where it was built now.
    """

    tag: str
    title: str
    image_id: str | None
    built: bool = False
    seconds: float = 0.0
    size_bytes: int = 0
    bases: Mapping[str, str] = field(default_factory=dict)
    substitutes: Mapping[str, str] = field(default_factory=dict)
    error: str = ""
    cause: str = BuildError.kind
    log: Path | None = None

    @property
    def ok(self) -> bool:
        """Whether there is an image."""
        return self.image_id is not None


class BuildWatcher(Protocol):
    """Told of builds as they go on. Called in the event loop's thread; must be quick."""

    def started(self, plan: BuildPlan) -> None:
        """A build begins."""

    def said(self, plan: BuildPlan, line: str) -> None:
        """A line of output, untrusted."""

    def ended(self, result: BuildResult) -> None:
        """A plan has its image, or an error."""


def plan(
    environment_dir: Path,
    *,
    dockerfile: str = "Dockerfile",
    empty: Iterable[str] = ("skills",),
    title: str | None = None,
    timeout: float = 600.0,
    substitute_bases: bool = False,
) -> BuildPlan:
    """Plan the image of a folder; needs no engine.

    Args:
        empty: folders sent without their contents, so that one image serves all conditions. They
            themselves are sent, so that COPY finds them.
        timeout: seconds the build may take.
        substitute_bases: a base that is neither here nor can be pulled is replaced by a plain
            Debian one with Python, and the result says so.

    Raises:
        MissingDataError: no such folder or Dockerfile.
        ContentError: the Dockerfile cannot be read.
    """
    context = environment_dir.resolve()
    parsed = _read(context, dockerfile)
    emptied = _emptied(parsed, tuple(empty))
    listed = entries(context, emptied, dockerfile)
    translated = translate(parsed)
    choices = {
        "format": _FORMAT,
        "context": digest(context, listed),
        "dockerfile": parsed.text,
        "substitute_bases": substitute_bases,
    }
    name = digest_json(choices)
    view = image(parsed)
    return BuildPlan(
        tag=f"{labels.REPOSITORY}/task:{name[:24]}",
        digest=name,
        title=title or _title(context),
        context=str(context),
        dockerfile=dockerfile,
        empty=emptied,
        context_bytes=sum(entry.size for entry in listed),
        base_images=parsed.base_images,
        substitute_bases=substitute_bases,
        places=tuple(sorted({place for folder in empty for place in places(parsed, folder)})),
        workdir=view.workdir,
        user=view.user,
        refusals=tuple(translated.refusals),
        notes=tuple(translated.notes),
        timeout=timeout,
    )


async def build(
    plans: Iterable[BuildPlan],
    *,
    engine: Engine | None = None,
    watcher: BuildWatcher | None = None,
    parallel: int | None = None,
) -> dict[str, BuildResult]:
    """Have the images of plans, building those that are not there.

    Args:
        parallel: builds at once; between 2 and the number of processors where not given.

    Returns:
        tag -> result. A plan that cannot be built has a result with an error; nothing is raised
        for it.

    Raises:
        MachineError: there is no engine to build with.
        EngineGoneError: the engine went away while it built.
    """
    wanted = {plan.tag: plan for plan in plans}
    work = _Work(engine or Engine(), watcher or _Nobody())
    work.info = await work.engine.info()
    limit = anyio.CapacityLimiter(parallel or max(2, min(8, os.cpu_count() or 2)))
    results: dict[str, BuildResult] = {}

    async def one(plan: BuildPlan) -> None:
        async with limit:
            results[plan.tag] = await work.have(plan)

    async with together() as tasks:
        for each in wanted.values():
            tasks.start_soon(one, each)
    return {tag: results[tag] for tag in wanted}


class _Nobody:
    """Watches without a word."""

    def started(self, plan: BuildPlan) -> None: ...

    def said(self, plan: BuildPlan, line: str) -> None: ...

    def ended(self, result: BuildResult) -> None: ...


class _Work:
    """One call of `build`."""

    def __init__(self, engine: Engine, watcher: BuildWatcher) -> None:
        self.engine = engine
        self.watcher = watcher
        self.bases = Bases(engine)
        self.info: dict[str, Any] = {}

    async def have(self, plan: BuildPlan) -> BuildResult:
        """The image of a plan, found or built."""
        began = time.monotonic()
        try:
            result = await self._have(plan, began)
            await anyio.to_thread.run_sync(note, plan)
        except (BuildError, UsageError) as error:
            failure = error if isinstance(error, BuildError) else BuildError(str(error))
            seconds = time.monotonic() - began
            result = BuildResult(
                plan.tag, plan.title, None, seconds=seconds, error=failure.detail, cause=failure.cause
            )
        self.watcher.ended(result)
        return result

    async def _have(self, plan: BuildPlan, began: float) -> BuildResult:
        if plan.refusals:
            raise BuildError("the engine's classic builder cannot build this: " + "; ".join(plan.refusals))
        bases, substitutes = await self._base_images(plan)
        marks = {
            labels.IMAGE: "task",
            labels.PLAN: plan.digest,
            labels.BASES: digest_json(bases),
            labels.SUBSTITUTES: json.dumps(substitutes, sort_keys=True),
        }
        lock = FileLock(_logs() / f"{short(plan.digest)}.lock", thread_local=False)
        await _locked(lock)
        try:
            found = await self._current(plan.tag, marks)
            log = None
            if found is None:
                log = await self._build(plan, marks, substitutes)
                found = await self._current(plan.tag, marks)
        finally:
            lock.release()
        if found is None:
            raise BuildError(f"{plan.tag} was built but is not there")
        return BuildResult(
            plan.tag,
            plan.title,
            str(found["Id"]),
            built=log is not None,
            seconds=time.monotonic() - began,
            size_bytes=int(found.get("Size") or 0),
            bases=bases,
            substitutes=substitutes,
            log=log,
        )

    async def _base_images(self, plan: BuildPlan) -> tuple[dict[str, str], dict[str, str]]:
        """(base as written -> id used, base as written -> substitute)."""
        bases: dict[str, str] = {}
        substitutes: dict[str, str] = {}
        for name in plan.base_images:
            try:
                bases[name] = await self.bases.have(name)
            except BuildError as error:
                if not plan.substitute_bases:
                    raise
                bases[name] = await self._substitute(error)
                substitutes[name] = DEBIAN_PYTHON
        return bases, substitutes

    async def _substitute(self, missing: BuildError) -> str:
        try:
            return await self.bases.substitute()
        except BuildError as error:
            raise BuildError(f"{missing.detail}; {error.detail}") from None

    async def _current(self, tag: str, marks: Mapping[str, str]) -> dict[str, Any] | None:
        """The image of a tag, unless it was made from other content or other bases."""
        found = await self.engine.image(tag)
        has = (found or {}).get("Config", {}).get("Labels") or {}
        return found if found and all(has.get(key) == value for key, value in marks.items()) else None

    async def _build(self, plan: BuildPlan, marks: Mapping[str, str], substitutes: Mapping[str, str]) -> Path:
        check_space(self.info, 2 * plan.context_bytes)
        context = Path(plan.context)
        parsed = _read(context, plan.dockerfile)
        made = translate(parsed, dict.fromkeys(substitutes, DEBIAN_PYTHON))
        added = dict(made.files)
        if made.text != parsed.text:
            added[plan.dockerfile] = made.text.encode("utf-8", "surrogateescape")
        recipe = Recipe(context, plan.dockerfile, plan.tag, marks, added, plan.empty)
        log = _logs() / f"{short(plan.digest)}.log"
        self.watcher.started(plan)

        def said(line: str) -> None:
            self.watcher.said(plan, line)

        await build_image(self.engine, recipe, timeout=plan.timeout, log=log, said=said)
        return log


def _read(context: Path, dockerfile: str) -> Dockerfile:
    path = context / dockerfile
    try:
        return parse(path.read_text(encoding="utf-8-sig", errors="surrogateescape"), path)
    except OSError as error:
        raise MissingDataError(f"{path}: cannot be read: {error.strerror}") from error


def _emptied(parsed: Dockerfile, empty: tuple[str, ...]) -> tuple[str, ...]:
    """The folders to empty, with the folders in them that COPY names (they must exist, empty)."""
    named = [f"{folder}/{entry.source}" for folder in empty for entry in members(parsed, folder)]
    return tuple(dict.fromkeys([*empty, *named]))


def _title(context: Path) -> str:
    return context.parent.name if context.name == "environment" else context.name


def _logs() -> Path:
    folder = cache_root() / "images"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


async def _locked(lock: FileLock) -> None:
    """Wait for a lock of another process without holding up the loop or a thread."""
    from filelock import Timeout

    while True:
        try:
            lock.acquire(timeout=0)
            return
        except Timeout:
            await anyio.sleep(0.2)
