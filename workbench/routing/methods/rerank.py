"""Reranking: a cross-encoder reads the query with each of the first candidates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Self

from pydantic import Field as Option
from pydantic import model_validator

from workbench.core.types import Ranking, ranked
from workbench.routing.cache import Once
from workbench.routing.encoder import placement
from workbench.routing.ranking import below
from workbench.routing.reranker import Classifier, CrossEncoder, Reranker
from workbench.routing.router import Query
from workbench.routing.stage import RouteContext, Stage
from workbench.routing.text import DocumentText, QueryText
from workbench.routing.weights import ModelChoice, Weights, find_weights

REVISION = 2
NEEDS_CANDIDATES = True
EXAMPLE = {"model": "example/reranker", "instruction": "Judge whether the skill helps", "top": 4}


class Config(ModelChoice):
    """Options of the stage, besides those of the model.

    Attributes:
        kind: ``yes_no`` is a causal language model of Qwen3-Reranker's kind; ``classifier`` has a
            head for sequences (BERT-like cross-encoders).
        top: number of candidates read; the rest keep their order below them.
        instruction: what a ``yes_no`` model is told to judge.
        separator: between instruction, query and document; a line break in Qwen3-Reranker's card and in
            SkillRouter's paper (appendix G), a blank line in SkillRouter's released code.
        query: what it reads of a task.
        document: what it reads of a skill.
        batch: candidates per forward pass.
    """

    top: int = Option(20, ge=1)
    kind: Literal["yes_no", "classifier"] = "yes_no"
    instruction: str = ""
    separator: Literal["\n", "\n\n"] = "\n"
    query: QueryText = QueryText()
    document: DocumentText = DocumentText(description_chars=500, body_chars=2000)
    batch: int = Option(20, ge=1)
    max_tokens: int = Option(4096, ge=16)

    @model_validator(mode="after")
    def _told_what_to_judge(self) -> Self:
        if (self.kind == "yes_no") != bool(self.instruction):
            raise ValueError("`instruction` is for kind yes_no, which needs one")
        return self


class Rerank(Stage):
    """Orders the first `top` candidates anew, by the cross-encoder's score.

    `top` does not depend on how many results are asked for, so that neither do the results.
    """

    def __init__(self, config: Config, context: RouteContext) -> None:
        self._config = config
        self._context = context
        self._weights = Once(self._find)
        self._reranker = Once(self._load)

    @property
    def identity(self) -> str:
        """Digest or commit of the weights, and the precision they run in."""
        dtype, _ = placement(self._config)
        return f"{self._weights().identity} {dtype}"

    def prepare(self) -> None:
        """Load the weights."""
        self._reranker()

    def depth(self, k: int) -> int:
        """At least `top`."""
        return max(k, self._config.top)

    def run(self, queries: Sequence[Query], candidates: Sequence[Ranking] | None, k: int) -> list[Ranking]:
        """The candidates, the first of them in the model's order."""
        rankings = []
        for at, (query, before) in enumerate(zip(queries, candidates or (), strict=True), start=1):
            rankings.append(self._reorder(query, before)[:k])
            self._context.progress("rerank", at, len(queries))
        return rankings

    def _reorder(self, query: Query, before: Ranking) -> Ranking:
        first, rest = before[: self._config.top], before[self._config.top :]
        if not first:
            return ()
        document = self._config.document
        texts = [document.render(self._context.pool.get(entry.id)) for entry in first]
        reranker, asked = self._reranker(), self._config.query
        task = reranker.cut(asked.render(query.text), asked.tokens)
        scores = reranker.score(task, texts, self._config.batch)
        head = ranked((entry.id, score) for entry, score in zip(first, scores, strict=True))
        return head + below(rest, floor=head[-1].score - 1.0)

    def _find(self) -> Weights:
        return find_weights(self._config, self._context.cache)

    def _load(self) -> CrossEncoder:
        if self._config.kind == "classifier":
            return Classifier(self._weights(), self._config)
        return Reranker(self._weights(), self._config, self._config.instruction, self._config.separator)


def build(config: Config, context: RouteContext) -> Stage:
    """The stage over the context's pool; the weights wait until they are needed."""
    return Rerank(config, context)
