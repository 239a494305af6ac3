"""An LLM that selects: of the first candidates it keeps those that the task needs, up to a number."""

from __future__ import annotations

import re

from pydantic import Field as Option

from workbench.core.types import Ranking
from workbench.routing.asking import Choosing, Listwise
from workbench.routing.methods.judge import chosen_first
from workbench.routing.router import Query
from workbench.routing.stage import RouteContext, Stage

REVISION = 1
NEEDS_CANDIDATES = True
EXAMPLE = {"model": "example/selector", "top": 4, "most": 2}

SYSTEM = (
    "You are an expert at matching tasks to reusable skill definitions. Given a task query and a numbered "
    "list of candidate skills, identify the skills that the task needs: at most {most}, the most important "
    "first, and none that it can do without.\n"
    "Respond with ONLY their numbers, separated by commas (e.g. '3, 1'), or '0' if none of them helps."
)
"""The judge's prompt (SkillRouter, appendix G), asking for several."""

_NUMBERS = re.compile(r"[\s\[(]*\d{1,4}(?:[\s,;]+\d{1,4})*[\s\].)]*")


class Config(Listwise):
    """Options of the stage.

    Attributes:
        most: skills that may be selected.
    """

    most: int = Option(3, ge=1)


class Select(Choosing):
    """Returns the selected skills alone, in the model's order.

    An answer that names none of the candidates, or is no list of numbers, changes nothing and is
    counted; ``0`` is an answer, and selects nothing.
    """

    METHOD = "llm_select"
    OTHERWISE = "the candidates were left as they were"

    def __init__(self, config: Config, context: RouteContext) -> None:
        super().__init__(config, context)
        self._config = config

    def choose(self, query: Query, before: Ranking) -> Ranking:
        """The selected candidates."""
        shown = before[: self._config.top]
        if not shown:
            return before
        places = self._places(self.ask(SYSTEM.format(most=self._config.most), query, shown), len(shown))
        self._speaker.count(usable=places is not None)
        return before if places is None else chosen_first(before, places)[: len(places)]

    def _places(self, text: str, count: int) -> list[int] | None:
        """The places named, each once; empty for ``0``, ``None`` where the answer is no selection."""
        if not _NUMBERS.fullmatch(text):
            return None
        numbers = list(dict.fromkeys(int(number) for number in re.findall(r"\d+", text)))
        if numbers == [0]:
            return []
        places = [number - 1 for number in numbers if 1 <= number <= count]
        return places[: self._config.most] or None


def build(config: Config, context: RouteContext) -> Stage:
    """The stage over the context's pool and language model."""
    return Select(config, context)
