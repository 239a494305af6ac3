"""Reasoning at query time: an LLM says what capabilities the task needs, and the encoder reads that too."""

from __future__ import annotations

from dataclasses import replace

from pydantic import Field as Option

from workbench.routing.asking import Writing
from workbench.routing.language import Language, user
from workbench.routing.router import Query
from workbench.routing.stage import RouteContext, Stage

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


class SelfCot(Writing):
    """Attaches a rationale to each query; encoders read it by their template (`text.QueryText`)."""

    METHOD = "self_cot"
    OTHERWISE = "the query went on without one"

    def __init__(self, config: Config, context: RouteContext) -> None:
        super().__init__(config, context)
        self._config = config

    def written(self, query: Query) -> Query:
        """The query with its rationale."""
        answer = self._speaker.ask(user(PROMPT.format(task=query.text[: self._config.chars])))
        analysis = " ".join(answer.text.split())
        self._speaker.count(usable=bool(analysis))
        return replace(query, analysis=analysis)


def build(config: Config, context: RouteContext) -> Stage:
    """The stage over the context's language model."""
    return SelfCot(config, context)
