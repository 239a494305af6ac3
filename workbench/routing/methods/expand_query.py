"""Query-side expansion: an LLM writes skills that would do the task, and the query moves toward them."""

from __future__ import annotations

from dataclasses import replace

from pydantic import Field as Option

from workbench.routing.asking import Writing
from workbench.routing.language import Language, user
from workbench.routing.router import Query
from workbench.routing.stage import RouteContext, Stage

REVISION = 1
REWRITES = True
EXAMPLE = {"model": "example/writer"}

PROMPTS = (
    "Below is a task. Write the skill document that an agent would need for it, as one would find it in a "
    "public library of skills: a name, a one-sentence description of the capability, and when to use it. "
    "Write about the method in general, not about this task's own data. At most 120 words, plain text, "
    "nothing else.\n\nTask:\n{task}",
    "Below is a task. Describe step by step what a reusable skill that solves such tasks does: the inputs, "
    "the procedure with the tools, libraries and terms of the field, and the outputs. Write about the method "
    "in general, not about this task's own data. At most 200 words, plain text, nothing else.\n\n"
    "Task:\n{task}",
)
"""One stating the skill, one describing what it would do, as SkillRep, section 3.2, has it; the
paper does not print its prompts, these are ours."""


class Config(Language):
    """Options of the stage, besides those of the language model (SkillRep, sections 3.2 and 4).

    Attributes:
        weight: how far the query's vector moves toward the mean of the hypothetical skills, 0 to 1;
            the paper's w.
        chars: characters of the task that the model reads.
    """

    temperature: float | None = Option(0.3, ge=0, le=2)
    weight: float = Option(0.3, ge=0, le=1)
    chars: int = Option(8000, ge=1)


class ExpandQuery(Writing):
    """Attaches two hypothetical skills to each query; later stages read them, the lexical ones too."""

    METHOD = "expand_query"
    OTHERWISE = "the query went on without them"

    def __init__(self, config: Config, context: RouteContext) -> None:
        super().__init__(config, context)
        self._config = config

    def written(self, query: Query) -> Query:
        """The query with its hypotheses."""
        asked = [user(prompt.format(task=query.text[: self._config.chars])) for prompt in PROMPTS]
        texts = [self._speaker.ask(message).text.strip() for message in asked]
        for text in texts:
            self._speaker.count(usable=bool(text))
        return replace(query, hypotheses=tuple(text for text in texts if text), shift=self._config.weight)


def build(config: Config, context: RouteContext) -> Stage:
    """The stage over the context's language model."""
    return ExpandQuery(config, context)
