"""Language models for the tests of routing that answer by rule: no network, the same every time."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from workbench.routing.language import Ask


@dataclass(frozen=True)
class Said:
    """An answer."""

    text: str
    calls: tuple[tuple[str, str, str], ...] = ()


@dataclass
class Scripted:
    """Answers by a function of what is asked, and keeps every question."""

    rule: Callable[[Ask], Said]
    asked: list[Ask] = field(default_factory=list)

    def __call__(self, ask: Ask) -> Said:
        self.asked.append(ask)
        return self.rule(ask)

    def prepare(self) -> None:
        """Nothing to do."""

    def name(self, model: str) -> str:
        return model


def saying(text: str) -> Scripted:
    """Always the same text."""
    return Scripted(lambda ask: Said(text))


def calling(*turns: Sequence[tuple[str, object]]) -> Scripted:
    """One turn of tool calls after another, (name, arguments) each; after the last, plain words."""

    def rule(ask: Ask) -> Said:
        turn = sum(message.role == "assistant" for message in ask.messages)
        if turn >= len(turns):
            return Said("done")
        written = [
            (name, given if isinstance(given, str) else json.dumps(given)) for name, given in turns[turn]
        ]
        return Said("", tuple((f"c{turn}-{at}", *call) for at, call in enumerate(written)))

    return Scripted(rule)


class ByRule(Scripted):
    """Plausible for every stage: searches for the task, submits what it found, names a number, or echoes."""

    def __init__(self) -> None:
        super().__init__(_plausible)


def _plausible(ask: Ask) -> Said:
    text = ask.messages[-1].content
    if not ask.tools:
        return Said("2" if "[1]" in text else " ".join(text.split()[-40:]))
    if ask.messages[-1].role == "user":
        return Said("", (("c1", "search", json.dumps({"query": text[:500]})),))
    found = [line.split(": ")[0] for line in text.splitlines() if ": " in line]
    return Said("", (("c2", "submit", json.dumps({"ids": found[::-1]})),))
