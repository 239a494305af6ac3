"""Progressive disclosure: names and descriptions first, a body when the agent asks for it.

The three tiers are those of the Agent Skills specification (https://agentskills.io): catalogue,
SKILL.md, files. The tool's argument is an enumeration of the names shown, so a model cannot ask
for a skill that is not there. The wording is neutral: it says what there is, not what to do.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from inspect_ai.tool import ToolDef
from inspect_ai.tool._tool_params import ToolParams
from inspect_ai.util import JSONSchema

from workbench.core.record import Load
from workbench.disclosure.presentation import Observe, Presentation, ShownSkill, entry, within

_INTRODUCTION = (
    "Skills are folders of instructions and files on particular subjects. These are installed;"
    " load_skill returns the instructions of one and the folder with its files."
)


def present(skills: Sequence[ShownSkill], budget: int, observe: Observe) -> Presentation:
    """A catalogue of names and descriptions, and a ``load_skill`` tool."""
    count, entries = within(skills, budget, entry)
    shown, cut = skills[:count], skills[count:]
    if not shown:
        return Presentation("", (), (), tuple(s.id for s in cut))
    text = "\n".join((_INTRODUCTION, "<available_skills>", *entries, "</available_skills>"))
    return Presentation(
        text=text,
        tools=(_load_skill(shown, observe),),
        shown=tuple(s.id for s in shown),
        not_shown=tuple(s.id for s in cut),
    )


def _load_skill(skills: Sequence[ShownSkill], observe: Observe) -> ToolDef:
    by_name = {escape(skill.name, quote=False): skill for skill in skills}
    by_name |= {skill.name: skill for skill in skills}
    names = [skill.name for skill in skills]

    async def load_skill(skill: str) -> str:
        found = by_name.get(skill)
        if found is None:
            return f"No skill is called '{skill}'. There are: {', '.join(names)}"
        observe(Load(id=found.id, tier="body", via="tool", evidence=skill))
        return f'<skill_content folder="{found.place}">\n{found.skill_md}\n</skill_content>'

    argument = JSONSchema(type="string", description="Name of the skill", enum=list[Any](names))
    return ToolDef(
        load_skill,
        name="load_skill",
        description="Load a skill: returns its instructions and the folder that holds its files.",
        parameters=ToolParams(properties={"skill": argument}, required=["skill"]),
    )
