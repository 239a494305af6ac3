"""Native disclosure: installed and nothing said, for agents that discover skills themselves."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.disclosure.presentation import Observe, Presentation, ShownSkill


def present(skills: Sequence[ShownSkill], budget: int, observe: Observe) -> Presentation:
    """No text and no tool; every skill counts as shown, since the agent finds it in its place."""
    del budget, observe
    return Presentation("", (), tuple(s.id for s in skills), ())
