"""An LLM as listwise judge: it reads the first candidates together and names the best one."""

from __future__ import annotations

import re
from collections.abc import Sequence

from workbench.core.types import RankedSkill, Ranking
from workbench.routing.asking import Choosing, Listwise
from workbench.routing.ranking import above
from workbench.routing.router import Query
from workbench.routing.stage import RouteContext, Stage

REVISION = 1
NEEDS_CANDIDATES = True
EXAMPLE = {"model": "example/judge", "top": 4}

SYSTEM = (
    "You are an expert at matching tasks to reusable skill definitions. Given a task query and a numbered "
    "list of candidate skills, identify the SINGLE most relevant skill that best solves the task.\n"
    "Respond with ONLY the number (e.g. '3') of the best matching skill, nothing else."
)
"""SkillRouter, appendix G."""

_NUMBER = re.compile(r"\W*(\d{1,4})\W*")


class Config(Listwise):
    """Options of the stage."""


class Judge(Choosing):
    """Moves the one that the model names to the first place; the others keep their order.

    An answer that is not the number of a candidate changes nothing, and is counted.
    """

    METHOD = "judge"
    OTHERWISE = "the order was left as it was"

    def __init__(self, config: Config, context: RouteContext) -> None:
        super().__init__(config, context)
        self._config = config

    def choose(self, query: Query, before: Ranking) -> Ranking:
        """The candidates, the chosen one first."""
        shown = before[: self._config.top]
        if len(shown) < 2:
            return before
        found = _NUMBER.fullmatch(self.ask(SYSTEM, query, shown))
        number = int(found[1]) if found else 0
        self._speaker.count(usable=1 <= number <= len(shown))
        return chosen_first(before, [number - 1]) if 1 <= number <= len(shown) else before


def chosen_first(before: Ranking, places: Sequence[int]) -> Ranking:
    """`before` with the entries at `places` moved to the front, in that order; their scores are new."""
    chosen = [before[place].id for place in places]
    if chosen == [entry.id for entry in before[: len(chosen)]]:
        return before
    rest = tuple(entry for entry in before if entry.id not in chosen)
    floor = rest[0].score if rest else 0.0
    head = (RankedSkill(skill, above(floor, len(chosen) - at)) for at, skill in enumerate(chosen))
    return (*head, *rest)


def build(config: Config, context: RouteContext) -> Stage:
    """The stage over the context's pool and language model."""
    return Judge(config, context)
