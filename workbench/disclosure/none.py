"""No disclosure: installed, but the agent is told nothing and given no tool."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.disclosure.presentation import Observe, Presentation, ShownSkill


def present(skills: Sequence[ShownSkill], budget: int, observe: Observe) -> Presentation:
    """Nothing is shown."""
    del budget, observe
    return Presentation("", (), (), tuple(s.id for s in skills))
