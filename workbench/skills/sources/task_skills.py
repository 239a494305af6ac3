"""The skills that a benchmark's tasks ship: ``<data>/<task>/environment/skills/<folder>/``.

A skill's id is ``gt/<folder>``. Where several tasks ship different skills under one folder
name, the first in order of task names is ``gt/<folder>``, the next ``gt/<folder>-2``, and so on;
equal trees are one skill.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pydantic import Field, model_validator

from workbench.core.content import Content
from workbench.core.digest import digest_json
from workbench.core.errors import MissingDataError
from workbench.skills.discover import Candidate, read_tree, walk
from workbench.skills.folders import safe_folder
from workbench.skills.refusal import Problem, RefusedError
from workbench.skills.source import Found, SourceContext
from workbench.skills.sources.folder import read_candidate, tree_signature

SKILLS = Path("environment", "skills")
PREFIX = "gt/"


class Options(Content):
    """``task_skills: {suite: NAME}`` or ``task_skills: {path: DIR}``"""

    suite: str | None = Field(default=None, description="suite whose tasks ship the skills")
    path: str | None = Field(default=None, description="folder of task folders, relative to the YAML file")
    prefix: str = Field(default=PREFIX, description="put before every folder name")

    @model_validator(mode="after")
    def _one_place(self) -> Options:
        if (self.suite is None) == (self.path is None):
            raise ValueError("give either suite or path")
        return self


@dataclass(frozen=True, slots=True)
class GoldSkill:
    """A skill that a task ships: its pool id, its folder's name as installed, and where it lies."""

    id: str
    folder: str
    path: Path


def gold_ids(data: Path, prefix: str = PREFIX) -> dict[str, tuple[GoldSkill, ...]]:
    """task name -> the skills it ships, in order of folder names. Reads files only.

    Tasks whose folder of skills is empty have an empty tuple; folders without a SKILL.md are no
    skills, nor are skills inside a skill's folder. A skill that cannot be read has an id too; it
    is then missing in the pool.

    Args:
        data: folder of task folders.
        prefix: put before every folder name; the same as in the pool's `Options`.
    """
    found = {task: _candidates(data / task / SKILLS) for task in _tasks(data)}
    names = _Names({candidate.path for candidates in found.values() for candidate in candidates})
    gold: dict[str, tuple[GoldSkill, ...]] = {}
    for task, candidates in found.items():
        root = data / task / SKILLS
        gold[task] = tuple(
            GoldSkill(
                id=prefix + names.give(candidate.path, _digest(root, candidate) or f"unreadable in {task}"),
                folder=safe_folder(candidate.path),
                path=root / candidate.path,
            )
            for candidate in candidates
        )
    return gold


def describe(options: Options, context: SourceContext) -> str:
    """The suite's name or the folder."""
    return f"skills of the tasks of {options.suite or options.path}"


def signature(options: Options, context: SourceContext) -> str:
    """sha256 over path, size, time of change and mode of every file in the tasks' skill folders."""
    data = _data(options, context)
    return digest_json([[task, tree_signature(data / task / SKILLS)] for task in _tasks(data)])


def read(options: Options, context: SourceContext) -> Iterator[Found]:
    """Each different skill once, in order of tasks; folders that are no skill are rejected."""
    data = _data(options, context)
    seen: set[str] = set()
    for number, (task, skills) in enumerate(gold_ids(data, options.prefix).items(), 1):
        context.progress("reading tasks", number, None)
        root = data / task / SKILLS
        ids = {skill.path.name: skill.id for skill in skills}
        for candidate in (*_candidates(root), *_no_skills(root, set(ids))):
            skill_id = ids.get(candidate.path, f"{options.prefix}{candidate.path}")
            if skill_id in seen:
                continue
            if candidate.path in ids:
                seen.add(skill_id)
            tree, result = read_candidate(root, candidate, context)
            origin = f"{task}/{SKILLS.as_posix()}/{candidate.path}/{candidate.file}"
            yield Found(skill_id, origin, safe_folder(candidate.path), result, tree)


def _data(options: Options, context: SourceContext) -> Path:
    if options.suite is not None:
        data = context.suite_data(options.suite)
    else:
        data = context.base / Path(str(options.path)).expanduser()
    if not _tasks(data):
        raise MissingDataError(
            f"{data}: no task folder with {SKILLS.as_posix()}/ in it; give the folder above them"
        )
    return data


def _tasks(data: Path) -> list[str]:
    """Names of the task folders that have a folder of skills, sorted."""
    return sorted(path.parent.parent.name for path in data.glob(f"*/{SKILLS.as_posix()}") if path.is_dir())


def _candidates(root: Path) -> list[Candidate]:
    """The skills among a task's folders, in order of names."""
    firsts: dict[str, Candidate] = {}
    for candidate in walk(root):
        if candidate.file and "/" not in candidate.path and candidate.path != ".":
            firsts.setdefault(candidate.path, candidate)
    return list(firsts.values())


def _no_skills(root: Path, skills: set[str]) -> Iterator[Candidate]:
    """The folders, and links to folders, that are no skill."""
    missing = Problem("no_skill_file", "a folder among the task's skills without a SKILL.md")
    refused = {candidate.path: candidate.problem for candidate in walk(root) if not candidate.file}
    for path in sorted(root.iterdir()):
        if path.is_dir() and path.name not in skills:
            yield Candidate(path.name, problem=refused.get(path.name) or missing)


def _digest(root: Path, candidate: Candidate) -> str | None:
    if candidate.problem is not None:
        return None
    try:
        return read_tree(root, candidate.path).digest
    except RefusedError:
        return None


class _Names:
    """Names of variants: a folder's own name for the first tree seen, then numbers that are free.

    Args:
        folders: all folder names; no number may make another folder's name.
    """

    def __init__(self, folders: set[str]) -> None:
        self._folders = folders
        self._given: dict[tuple[str, str], str] = {}

    def give(self, folder: str, digest: str) -> str:
        """The name of this tree in a folder of this name."""
        if (folder, digest) not in self._given:
            variants = sum(known == folder for known, _ in self._given)
            name = folder if not variants else self._numbered(folder, variants + 1)
            self._given[folder, digest] = name
        return self._given[folder, digest]

    def _numbered(self, folder: str, number: int) -> str:
        used = self._folders | set(self._given.values())
        while f"{folder}-{number}" in used:
            number += 1
        return f"{folder}-{number}"
