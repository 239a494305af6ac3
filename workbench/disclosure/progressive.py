"""Progressive disclosure: names and descriptions first, a body when the agent asks for it.

The three tiers are those of the Agent Skills specification (https://agentskills.io): catalogue,
SKILL.md, files. The tool's argument is an enumeration of the names shown, so a model cannot ask
for a skill that is not there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from inspect_ai.tool import ToolDef
from inspect_ai.tool._tool_params import ToolParams
from inspect_ai.util import JSONSchema

from workbench.core.record import Load
from workbench.disclosure.presentation import (
    Nudge,
    Observe,
    Presentation,
    Showing,
    ShownSkill,
    content,
    cut_off,
    entry,
    within,
)

_INSTALLED = (
    "Skills are folders of instructions and files on particular subjects. These are installed;"
    " load_skill returns the instructions of one and the folder with its files."
)
_GIVEN = (
    "Skills are instructions on particular subjects. These can be had; load_skill returns the text of one."
)
_NUDGES: Mapping[Nudge, str] = {
    "neutral": "",
    "encouraged": "Load the skills that fit the task before you start on it.",
    "required": "You must load every skill that might help before you do anything else.",
}


def present(skills: Sequence[ShownSkill], showing: Showing, observe: Observe) -> Presentation:
    """A catalogue of names and descriptions, and a ``load_skill`` tool."""
    count, entries = within(skills, showing.budget, entry)
    shown, cut = cut_off(skills, count)
    if not shown:
        return Presentation("", (), (), cut)
    introduction = _GIVEN if any(skill.place is None for skill in skills) else _INSTALLED
    lines = (introduction, "<available_skills>", *entries, "</available_skills>", _NUDGES[showing.nudge])
    return Presentation("\n".join(filter(None, lines)), (_load_skill(skills[:count], observe),), shown, cut)


def _load_skill(skills: Sequence[ShownSkill], observe: Observe) -> ToolDef:
    by_name = {escape(skill.name, quote=False): skill for skill in skills}
    by_name |= {skill.name: skill for skill in skills}
    names = [skill.name for skill in skills]

    async def load_skill(skill: str) -> str:
        found = by_name.get(skill)
        if found is None:
            return f"No skill is called '{skill}'. There are: {', '.join(names)}"
        observe(Load(id=found.id, tier="body", via="tool", evidence=skill))
        return content(found)

    folder = " and the folder that holds its files" if skills[0].place is not None else ""
    argument = JSONSchema(type="string", description="Name of the skill", enum=list[Any](names))
    return ToolDef(
        load_skill,
        name="load_skill",
        description=f"Load a skill: returns its instructions{folder}.",
        parameters=ToolParams(properties={"skill": argument}, required=["skill"]),
    )
