"""A folder tree of skills, at any depth. The id is the skill's path under the folder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from pydantic import Field

from workbench.core.content import Content
from workbench.core.digest import digest_parts
from workbench.core.errors import MissingDataError
from workbench.skills.discover import SKILL_FILE, VERSION_CONTROL, Candidate, read_tree, walk
from workbench.skills.folders import safe_folder
from workbench.skills.reader import ReadResult, read_skill, rejected, with_repair
from workbench.skills.refusal import RefusedError
from workbench.skills.skill import SkillTree
from workbench.skills.source import Found, SourceContext


class Options(Content):
    """``folder: {path: ..., prefix: ...}``"""

    path: str = Field(min_length=1, description="folder, relative to the YAML file")
    prefix: str = Field(default="", description="put before every id as it is, e.g. 'community/'")


def describe(options: Options, context: SourceContext) -> str:
    """The folder's path."""
    return f"folder {options.path}"


def signature(options: Options, context: SourceContext) -> str:
    """sha256 over path, size, time of change and mode of every file in the tree."""
    return tree_signature(_root(options, context))


def read(options: Options, context: SourceContext) -> Iterator[Found]:
    """Every skill in the tree, in sorted order."""
    root = _root(options, context)
    for number, candidate in enumerate(walk(root, context.record), 1):
        context.progress("reading skills", number, None)
        tree, result = read_candidate(root, candidate, context)
        own = root.resolve().name if candidate.path == "." else candidate.path
        origin = str(Path(options.path, candidate.path, candidate.file))
        folder = safe_folder(own.rsplit("/", 1)[-1])
        yield Found(f"{options.prefix}{own}", origin, folder, result, tree, candidate.outer is not None)


def read_candidate(
    root: Path, candidate: Candidate, context: SourceContext
) -> tuple[SkillTree | None, ReadResult]:
    """The files and the texts of something that `walk` found."""
    if candidate.problem is not None:
        return None, rejected(candidate.problem)
    try:
        tree = read_tree(root, candidate.path, context.record)
    except RefusedError as refusal:
        return None, rejected(refusal.problem)
    folder = root.resolve().name if candidate.path == "." else candidate.path.rsplit("/", 1)[-1]
    result = read_skill(tree.files[SKILL_FILE].data, folder)
    if candidate.file != SKILL_FILE:
        result = with_repair(result, "file_name")
    return (None if result.problem else tree), result


def tree_signature(root: Path) -> str:
    """sha256 over (path, size, time of change in ns, mode, link target) of every file under a root."""
    return digest_parts(_states(str(root)))


def _states(root: str) -> Iterator[str]:
    waiting = [(root, "")]
    while waiting:
        folder, prefix = waiting.pop()
        try:
            with os.scandir(folder) as scan:
                entries = sorted((e for e in scan if e.name not in VERSION_CONTROL), key=lambda e: e.name)
        except OSError as error:
            yield f"{prefix}\0{error.errno}"
            continue
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                waiting.append((entry.path, f"{prefix}{entry.name}/"))
                continue
            status = entry.stat(follow_symlinks=False)
            target = Path(entry.path).readlink() if entry.is_symlink() else ""
            yield f"{prefix}{entry.name}\0{status.st_size}\0{status.st_mtime_ns}\0{status.st_mode}\0{target}"


def _root(options: Options, context: SourceContext) -> Path:
    root = context.base / Path(options.path).expanduser()
    try:
        os.scandir(root).close()
    except FileNotFoundError:
        raise MissingDataError(f"{root}: no such folder; give the folder that holds the skills") from None
    except OSError as error:
        raise MissingDataError(f"{root}: cannot be read: {error.strerror}") from None
    return root
