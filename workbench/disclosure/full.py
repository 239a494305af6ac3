"""Full disclosure: every routed body is put into the prompt; files are read on demand."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.core.record import Load
from workbench.disclosure.presentation import Observe, Presentation, ShownSkill, within

BODY_BUDGET_FACTOR = 10
"""Bodies are about ten times as long as descriptions (median 4.5 kB in public pools)."""

_INTRODUCTION = "Skills are folders of instructions and files on particular subjects. These are installed:"


def present(skills: Sequence[ShownSkill], budget: int, observe: Observe) -> Presentation:
    """The whole SKILL.md of each skill, within ten times the catalogue's budget."""
    count, bodies = within(skills, budget * BODY_BUDGET_FACTOR, _content)
    shown, cut = skills[:count], skills[count:]
    for skill in shown:
        observe(Load(id=skill.id, tier="body", via="prompt"))
    text = "\n".join((_INTRODUCTION, *bodies)) if shown else ""
    return Presentation(text, (), tuple(s.id for s in shown), tuple(s.id for s in cut))


def _content(skill: ShownSkill) -> str:
    return f'<skill_content folder="{skill.place}">\n{skill.skill_md}\n</skill_content>'
