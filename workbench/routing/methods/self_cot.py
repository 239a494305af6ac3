"""Reasoning at query time: an LLM says what capabilities the task needs, and the encoder reads that too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pydantic import Field as Option

from workbench.routing.language import Language, Speaker, user
from workbench.routing.router import Query
from workbench.routing.stage import QueryStage, RouteContext, Stage
from workbench.routing.words import words

REVISION = 1
REWRITES = True
EXAMPLE = {"model": "example/reasoner"}

PROMPT = (
    "Given a user task, write one concise query-analysis sentence for skill retrieval.\n\n"
    "Requirements:\n"
    "- State only the capabilities required by the user.\n"
    "- Do not provide implementation steps, an extended explanation, or an answer to the task.\n"
    "- Do not mention skill names or skill IDs.\n"
    "- Do not output JSON, markdown, bullets, numbered steps, or labels.\n"
    '- Use exactly this sentence pattern: "The user needs skills for <capability description>."\n'
    "- Keep the sentence under 32 words.\n\n"
    "USER TASK:\n{task}"
)
"""SkillReason, appendix G.3, without the known skill, which nobody has at query time."""


class Config(Language):
    """Options of the stage, besides those of the language model.

    Attributes:
        chars: characters of the task that the model reads.
    """

    max_tokens: int = Option(96, ge=1)
    chars: int = Option(8000, ge=1)


class SelfCot(QueryStage):
    """Attaches a rationale to each query; encoders read it by their template (`text.QueryText`)."""

    def __init__(self, config: Config, context: RouteContext) -> None:
        self._config = config
        self._speaker = Speaker("self_cot", config, context.complete)

    @property
    def identity(self) -> str:
        """The model that is really asked."""
        return self._speaker.identity

    def prepare(self) -> None:
        """See that there is a model to ask."""
        self._speaker.check()

    def notes(self) -> tuple[str, ...]:
        """How many answers were empty."""
        return self._speaker.notes("the query went on without one")

    def rewrite(self, queries: Sequence[Query]) -> list[Query]:
        """The queries with their rationale; one without a word stays as it is."""
        return self._speaker.each(self._reasoned, queries)

    def _reasoned(self, query: Query) -> Query:
        if not words(query.text):
            return query
        answer = self._speaker.ask(user(PROMPT.format(task=query.text[: self._config.chars])))
        analysis = " ".join(answer.text.split())
        self._speaker.count(usable=bool(analysis))
        return replace(query, analysis=analysis)


def build(config: Config, context: RouteContext) -> Stage:
    """The stage over the context's language model."""
    return SelfCot(config, context)
