"""An LLM that selects: of the first candidates it keeps those that the task needs, up to a number."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pydantic import Field as Option

from workbench.core.types import Ranking
from workbench.routing.language import Language, Speaker, system, user
from workbench.routing.methods.judge import chosen_first
from workbench.routing.router import Query
from workbench.routing.stage import RouteContext, Stage
from workbench.routing.text import DocumentText, SkillListing

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


class Config(Language):
    """Options of the stage, besides those of the language model.

    Attributes:
        top: number of candidates shown.
        most: skills that may be selected.
        document: what is shown of each candidate.
    """

    top: int = Option(20, ge=1)
    most: int = Option(3, ge=1)
    document: DocumentText = DocumentText(description_chars=500, body_chars=2000)


class Select(Stage):
    """Returns the selected skills alone, in the model's order.

    An answer that names none of the candidates, or is no list of numbers, changes nothing and is
    counted; ``0`` is an answer, and selects nothing.
    """

    def __init__(self, config: Config, context: RouteContext) -> None:
        self._config = config
        self._pool = context.pool
        self._listing = SkillListing(config.document)
        self._speaker = Speaker("llm_select", config, context.complete)

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
        """How many answers were no selection."""
        return self._speaker.notes("the candidates were left as they were")

    def run(self, queries: Sequence[Query], candidates: Sequence[Ranking] | None, k: int) -> list[Ranking]:
        """The selected candidates."""
        pairs = list(zip(queries, candidates or (), strict=True))
        return [ranking[:k] for ranking in self._speaker.each(lambda pair: self._select(*pair), pairs)]

    def _select(self, query: Query, before: Ranking) -> Ranking:
        shown = before[: self._config.top]
        if not shown:
            return before
        prompt = SYSTEM.format(most=self._config.most)
        skills = [self._pool.get(entry.id) for entry in shown]
        answer = self._speaker.ask(system(prompt), user(f"{query.text}\n\n{self._listing.render(skills)}"))
        places = self._places(answer.text, len(shown))
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
