"""An LLM as listwise judge: it reads the first candidates together and names the best one."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pydantic import Field as Option

from workbench.core.types import RankedSkill, Ranking
from workbench.routing.language import Language, Speaker, system, user
from workbench.routing.ranking import above
from workbench.routing.router import Query
from workbench.routing.stage import RouteContext, Stage
from workbench.routing.text import DocumentText, SkillListing

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


class Config(Language):
    """Options of the stage, besides those of the language model.

    Attributes:
        top: number of candidates shown; the paper's 20.
        document: what is shown of each; caps as the paper's.
    """

    top: int = Option(20, ge=1)
    document: DocumentText = DocumentText(description_chars=500, body_chars=2000)


class Judge(Stage):
    """Moves the one that the model names to the first place; the others keep their order.

    An answer that is not the number of a candidate changes nothing, and is counted.
    """

    def __init__(self, config: Config, context: RouteContext) -> None:
        self._config = config
        self._pool = context.pool
        self._listing = SkillListing(config.document)
        self._speaker = Speaker("judge", config, context.complete)

    @property
    def identity(self) -> str:
        """The model that is really asked."""
        return self._speaker.identity

    def prepare(self) -> None:
        """See that there is a model to ask."""
        self._speaker.check()

    def depth(self, k: int) -> int:
        """At least `top`."""
        return max(k, self._config.top)

    def notes(self) -> tuple[str, ...]:
        """How many answers named no candidate."""
        return self._speaker.notes("the order was left as it was")

    def run(self, queries: Sequence[Query], candidates: Sequence[Ranking] | None, k: int) -> list[Ranking]:
        """The candidates, the chosen one first."""
        pairs = list(zip(queries, candidates or (), strict=True))
        return [ranking[:k] for ranking in self._speaker.each(lambda pair: self._judge(*pair), pairs)]

    def _judge(self, query: Query, before: Ranking) -> Ranking:
        shown = before[: self._config.top]
        if len(shown) < 2:
            return before
        skills = [self._pool.get(entry.id) for entry in shown]
        answer = self._speaker.ask(system(SYSTEM), user(f"{query.text}\n\n{self._listing.render(skills)}"))
        found = _NUMBER.fullmatch(answer.text)
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
