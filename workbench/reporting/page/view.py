"""A block as the page shows it: its place, its name among others, and how its arms look everywhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from workbench.reporting.page.markup import Html, el
from workbench.reporting.page.table import wrapping
from workbench.reporting.schema import ArmSummary, Block, Summary
from workbench.reporting.wording import arm_name

Shape = Literal["circle", "diamond", "triangle", "square", "fallen", "hexagon"]
_SHAPES: tuple[Shape, ...] = ("diamond", "triangle", "square", "fallen", "hexagon")
_TONES = ("routed", "routed-2", "routed-3", "routed-4", "routed-5", "routed-6")
_PLACES = ("suite", "model", "agent")
_NO_MODEL = "none/none"
"""What Inspect calls the absence of a model."""


@dataclass(frozen=True)
class Look:
    """How an arm is drawn, so that it is known again without its name: a CSS class and a shape."""

    tone: str
    shape: Shape = "circle"


@dataclass(frozen=True)
class View:
    """A block on the page.

    Attributes:
        name: what tells it from the other blocks; empty where there is one.
        looks: arm label -> look, the same in every block.
    """

    block: Block
    number: int
    name: str
    looks: Mapping[str, Look]

    def caption(self, text: str) -> str:
        """A caption that no other block has."""
        return f"{text}: {self.name}" if self.name else text

    def key(self, kind: str) -> str:
        """An id that no other block has."""
        return f"{kind}-{self.number}"

    def look(self, arm: ArmSummary) -> Look:
        """How an arm is drawn."""
        return self.looks[arm.arm]

    def named(self, arm: ArmSummary) -> Html:
        """An arm's name behind its colour and shape."""
        return named(arm.arm, self.looks[arm.arm])


def views(summary: Summary) -> tuple[View, ...]:
    """Every block of a summary, in order."""
    drawn = looks(summary)
    varying = differing(summary)
    return tuple(
        View(block, number, " · ".join(place(block, name) for name in varying), drawn)
        for number, block in enumerate(summary.blocks)
    )


def differing(summary: Summary) -> list[str]:
    """Which of suite, model and agent are not the same in all blocks."""
    return [name for name in _PLACES if len({getattr(b, name) for b in summary.blocks}) > 1]


def place(block: Block, name: str) -> str:
    """The suite, model or agent of a block, in words."""
    value: str = getattr(block, name)
    return "no model" if name == "model" and value == _NO_MODEL else value


def looks(summary: Summary) -> dict[str, Look]:
    """Arm label -> look: baselines are circles, routed arms differ by colour and by shape."""
    arms = [arm for block in summary.blocks for arm in block.arms]
    routed = dict.fromkeys(arm.arm for arm in arms if arm.condition == "routed")
    found = {arm.arm: Look(f"tone-{arm.condition}") for arm in arms}
    for n, label in enumerate(routed):
        found[label] = Look(f"tone-{_TONES[n % len(_TONES)]}", _SHAPES[n % len(_SHAPES)])
    return found


def named(label: str, look: Look) -> Html:
    """An arm's name behind its colour and shape."""
    return Html(el("i", "", class_=f"swatch {look.shape} {look.tone}") + wrapping(arm_name(label)))
