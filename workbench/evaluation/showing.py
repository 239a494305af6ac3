"""From skills to what an agent may get to know of them: unique names that give nothing away.

A skill is called what its author calls it. One without a name has its folder's where it lies in the
agent's sandbox, and a number where it is a text alone: there, ids carry the benchmark's name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from workbench.disclosure.presentation import ShownSkill
from workbench.evaluation.layout import Layout
from workbench.evaluation.treatment import SKILL_FILE, Treatment
from workbench.skills.reader import read_skill
from workbench.skills.skill import Skill

_SERIAL = re.compile(r".*[_-]\d+")


def installed_skills(treatments: Sequence[Treatment], layout: Layout) -> tuple[ShownSkill, ...]:
    """What was installed, by the SKILL.md that was proven to be there."""
    shown: list[ShownSkill] = []
    taken: set[str] = set()
    for treatment in treatments:
        data = treatment.tree.files[SKILL_FILE].data
        read = read_skill(data, treatment.folder)
        name = _unique(read.name or treatment.folder, taken)
        place = f"{layout.skills[0]}/{treatment.folder}"
        shown.append(ShownSkill(treatment.id, name, read.description, place, data.decode("utf-8", "replace")))
    return tuple(shown)


def given_skills(skills: Iterable[Skill]) -> tuple[ShownSkill, ...]:
    """Skills of the pool, as texts."""
    taken: set[str] = set()
    return tuple(
        ShownSkill(skill.id, _unique(_own_name(skill, number), taken), skill.description, None, skill.body)
        for number, skill in enumerate(skills, 1)
    )


def _own_name(skill: Skill, number: int) -> str:
    """The author's name; pools name a nameless record after its id, and a serial id is no name."""
    nameless = skill.name == skill.id.rsplit("/", 1)[-1] and _SERIAL.fullmatch(skill.name) is not None
    return f"skill {number}" if nameless or not skill.name else skill.name


def _unique(name: str, taken: set[str]) -> str:
    """`name`, or the first of ``name-2``, ``name-3``, ... that no skill has; it is taken then."""
    chosen, number = name, 1
    while chosen in taken:
        number += 1
        chosen = f"{name}-{number}"
    taken.add(chosen)
    return chosen
