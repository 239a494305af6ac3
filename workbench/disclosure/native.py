"""Native disclosure: installed and nothing said, for agents that discover skills themselves."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.disclosure.presentation import Observe, Presentation, Showing, ShownSkill


def present(skills: Sequence[ShownSkill], showing: Showing, observe: Observe) -> Presentation:
    """No text and no tool; every skill counts as shown, since the agent finds it in its place."""
    del showing, observe
    return Presentation("", (), tuple(s.id for s in skills), ())
