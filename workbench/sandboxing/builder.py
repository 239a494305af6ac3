"""One image built by the engine: the context streamed, the output kept, time and space watched."""

from __future__ import annotations

import json
import platform
import shutil
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread

from workbench.core.errors import InfrastructureError
from workbench.sandboxing.context import entries, tar
from workbench.sandboxing.engine import Engine, RefusedError

LOW_WATER = 2 << 30
"""Bytes that stay free on the engine's disk."""
_TAIL_LINES = 25


class BuildError(InfrastructureError):
    """An image could not be built. The message ends with the end of the build's output."""

    kind = "infra:build"

    def __init__(self, detail: str) -> None:
        super().__init__(self.kind, detail)


@dataclass(frozen=True)
class Recipe:
    """What the engine is sent.

    Attributes:
        context: folder; `empty` its folders that are sent without contents.
        dockerfile: path inside the context.
        added: files that replace or join those of the context.
    """

    context: Path
    dockerfile: str
    tag: str
    labels: Mapping[str, str]
    added: Mapping[str, bytes]
    empty: tuple[str, ...] = ()


async def build_image(
    engine: Engine, recipe: Recipe, *, timeout: float, log: Path, said: Callable[[str], None]
) -> None:
    """Build and tag one image.

    Args:
        timeout: seconds.
        log: file that gets the whole output.
        said: called with every line of output.

    Raises:
        BuildError: a step failed, or time ran out; with the end of the output.
        EngineGoneError: the engine does not answer.
    """
    tail: list[str] = []
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("w", encoding="utf-8") as file:

        def note(line: str) -> None:
            file.write(line + "\n")
            tail[:] = [*tail[1 - _TAIL_LINES :], line]
            said(line)

        try:
            with anyio.fail_after(timeout):
                await _build(engine, recipe, note)
        except TimeoutError:
            raise BuildError(_message(f"not done after {timeout:g} s", tail, log)) from None
        except RefusedError as error:
            raise BuildError(_message(str(error), tail, log)) from None


def check_space(engine_info: Mapping[str, Any], needed: int) -> None:
    """Refuse to fill the engine's disk; nothing is checked where the disk is not this machine's.

    Raises:
        BuildError: fewer than `needed` bytes above `LOW_WATER` are free.
    """
    free = free_bytes(engine_info)
    if free is not None and free < needed + LOW_WATER:
        raise BuildError(
            f"only {free >> 20} MiB free under {engine_info.get('DockerRootDir')}, "
            f"{(needed + LOW_WATER) >> 20} MiB are needed; "
            "free some with: workbench images prune, docker system prune"
        )


def free_bytes(info: Mapping[str, Any]) -> int | None:
    """Bytes free where the engine keeps its data, ``None`` where that cannot be seen from here.

    Args:
        info: the engine's record of itself. One of another machine or of a virtual one (Docker Desktop) has
            folders of the same names.
    """
    if str(info.get("Name") or platform.node()).partition(".")[0] != platform.node().partition(".")[0]:
        return None
    root = Path(str(info.get("DockerRootDir") or "/nonexistent"))
    for folder in (root, *root.parents[:-1]):
        try:
            return shutil.disk_usage(folder).free
        except OSError:
            continue
    return None


async def _build(engine: Engine, recipe: Recipe, note: Callable[[str], None]) -> None:
    params = {
        "t": recipe.tag,
        "dockerfile": recipe.dockerfile,
        "rm": "1",
        "forcerm": "1",
        "labels": json.dumps(dict(recipe.labels)),
    }
    listed = await anyio.to_thread.run_sync(entries, recipe.context, recipe.empty, recipe.dockerfile)
    body = _in_thread(tar(recipe.context, listed, recipe.added))
    headers = {"Content-Type": "application/x-tar"}
    await engine.post("/build", params, partial(_take, note), content=body, headers=headers)


async def _in_thread(pieces: Iterator[bytes]) -> AsyncIterator[bytes]:
    """Pieces read from disk without holding up the event loop."""
    while piece := await anyio.to_thread.run_sync(next, pieces, b""):
        yield piece


def _take(note: Callable[[str], None], event: Mapping[str, Any]) -> None:
    """One event of a build: lines of output, or of progress."""
    text = event.get("stream") or event.get("status") or ""
    for part in str(text).splitlines():
        if part.strip():
            note(part.rstrip())


def _message(what: str, tail: list[str], log: Path) -> str:
    lines = "".join(f"\n    {line[:300]}" for line in tail)
    return f"{what}\n  output ({log}):{lines}" if tail else what
