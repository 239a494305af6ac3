"""No disclosure: installed, but the agent is told nothing and given no tool."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.disclosure.presentation import Observe, Presentation, Showing, ShownSkill


def present(skills: Sequence[ShownSkill], showing: Showing, observe: Observe) -> Presentation:
    """Nothing is shown."""
    del showing, observe
    return Presentation("", (), (), tuple(s.id for s in skills))
