"""Selection first: the model sees the catalogue once, names what it wants, and starts with those bodies.

As SR-Agents' "LLM selection" does: numbered entries, a reply of numbers, and the first entry where
three replies name none. The question is asked in a conversation of its own, so the catalogue is not
in the agent's context afterwards.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from workbench.disclosure import full
from workbench.disclosure.presentation import (
    Choice,
    Observe,
    Presentation,
    Showing,
    ShownSkill,
    cut_off,
    entry,
    within,
)


def present(skills: Sequence[ShownSkill], showing: Showing, observe: Observe) -> Presentation:
    """A catalogue to choose from; the bodies come with the choice."""
    numbered = {skill.id: f"{number} {entry(skill)}" for number, skill in enumerate(skills, 1)}
    count, entries = within(skills, showing.budget, lambda skill: numbered[skill.id])
    shown, cut = cut_off(skills, count)
    if not shown:
        return Presentation("", (), (), cut)
    text = "\n".join((_question(showing.picks), "<available_skills>", *entries, "</available_skills>"))

    def chosen(numbers: Sequence[int]) -> Presentation:
        bodies = full.present([skills[n - 1] for n in numbers], showing, observe)
        return replace(bodies, shown=shown, not_shown=cut)

    def pick(reply: str) -> Presentation | None:
        numbers = _numbers(reply, count)[: showing.picks]
        return chosen(numbers) if numbers else None

    return Presentation(text, (), shown, cut, Choice(text, pick, lambda: chosen([1])))


def _question(picks: int) -> str:
    wanted = (
        "the number of the skill that fits best" if picks == 1 else f"the numbers of up to {picks} skills"
    )
    return f"These skills can be had for the task above. Reply with {wanted}, and nothing else."


def _numbers(reply: str, most: int) -> list[int]:
    """The numbers from 1 to `most` in a reply, in order, each once."""
    found = (int(digits) for digits in re.findall(r"(?<!\d)\d{1,4}(?!\d)", reply))
    return list(dict.fromkeys(number for number in found if 1 <= number <= most))
