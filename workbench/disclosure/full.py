"""Full disclosure: every routed body is put into the prompt; files are read on demand."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.core.record import Load
from workbench.disclosure.presentation import (
    Observe,
    Presentation,
    Showing,
    ShownSkill,
    content,
    cut_off,
    within,
)

BODY_BUDGET_FACTOR = 10
"""Bodies are about ten times as long as descriptions (median 4.5 kB in public pools)."""

_INSTALLED = "Skills are folders of instructions and files on particular subjects. These are installed:"
_GIVEN = "Skills are instructions on particular subjects. These are given:"


def present(skills: Sequence[ShownSkill], showing: Showing, observe: Observe) -> Presentation:
    """The whole text of each skill, within ten times the catalogue's budget."""
    count, bodies = within(skills, showing.budget * BODY_BUDGET_FACTOR, content)
    shown, cut = cut_off(skills, count)
    for skill_id in shown:
        observe(Load(id=skill_id, tier="body", via="prompt"))
    introduction = _GIVEN if any(skill.place is None for skill in skills) else _INSTALLED
    return Presentation("\n".join((introduction, *bodies)) if shown else "", (), shown, cut)
