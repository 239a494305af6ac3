"""Which pool ids are a task's gold skills.

A gold skill is a folder that ships with the task. Its pool id is the suite's pattern over the
folder's name (``gt/{folder}``). Where tasks ship different trees under one folder name, a pool
made of the tasks' own skills holds each under an id of its own (``gt/xlsx``, ``gt/xlsx-2``); the
task's own version counts, and where a pool has only the plain id (as the SkillRouter benchmark
does, which resolves gold by folder name), that one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from workbench.benchmarks.suite import Suite
from workbench.skills.discover import read_tree
from workbench.skills.pool import Pool
from workbench.skills.sources.task_skills import GoldSkill, gold_ids


@dataclass(frozen=True)
class Gold:
    """A task's gold skills by pool id, and where each lies in the task's folder.

    Attributes:
        ids: all gold ids, sorted.
        in_pool: the ids that the pool holds.
        folders: pool id -> folder of the task's own copy, where it ships one.
    """

    ids: tuple[str, ...]
    in_pool: frozenset[str]
    folders: Mapping[str, Path] = field(default_factory=dict)


def gold_of(suite: Suite, pool: Pool) -> dict[str, Gold]:
    """Task id -> its gold skills in `pool`."""
    if all(task.question is not None for task in suite.tasks):
        held = frozenset(pool.ids())
        questions = ((task.id, task.question.gold) for task in suite.tasks if task.question is not None)
        return {task: Gold(ids, held.intersection(ids)) for task, ids in questions}
    variants = {(task, g.folder): g for task, found in gold_ids(suite.data).items() for g in found}
    return {task.id: _resolve(suite, task.id, pool, variants) for task in suite.tasks}


def _resolve(suite: Suite, task_id: str, pool: Pool, variants: Mapping[tuple[str, str], GoldSkill]) -> Gold:
    folders: dict[str, Path] = {}
    for skill in suite.task(task_id).gold:
        plain = suite.spec.gold.format(folder=skill.folder)
        variant = variants.get((task_id, skill.folder))
        suffix = "" if variant is None else variant.id.removeprefix(f"gt/{skill.folder}")
        folders[_choose(plain, suffix, skill.path, pool)] = skill.path
    return Gold(tuple(sorted(folders)), frozenset(i for i in folders if i in pool), folders)


def _choose(plain: str, suffix: str, path: Path, pool: Pool) -> str:
    """The numbered id where the pool means the same skill by it, else the plain one where there is one.

    Another pool may number its skills otherwise, so a numbered id must be proven by its digest.
    """
    numbered = plain + suffix
    if suffix and numbered in pool and pool.get(numbered).digest == read_tree(path.parent, path.name).digest:
        return numbered
    return plain if plain in pool else numbered
