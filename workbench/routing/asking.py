"""What the stages share that ask a language model about queries or candidates."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import ClassVar

from pydantic import Field as Option

from workbench.core.errors import MachineError
from workbench.core.types import Ranking
from workbench.routing.language import Language, Speaker, system, user
from workbench.routing.router import Query
from workbench.routing.stage import QueryStage, RouteContext, Stage
from workbench.routing.text import DocumentText, SkillListing
from workbench.routing.words import words


class Asking(Stage):
    """A stage that asks a language model.

    Attributes:
        METHOD: its name, for messages.
        OTHERWISE: what it does where an answer cannot be used, for the reader of its notes.
    """

    METHOD: ClassVar[str]
    OTHERWISE: ClassVar[str]

    def __init__(self, config: Language, context: RouteContext) -> None:
        self._speaker = Speaker(self.METHOD, config, context.complete)

    @property
    def identity(self) -> str:
        """The model that is really asked."""
        return self._speaker.identity

    def prepare(self) -> None:
        """See that there is a model to ask."""
        self._speaker.check()

    def notes(self) -> tuple[str, ...]:
        """How many answers could not be used."""
        return self._speaker.notes(self.OTHERWISE)


@contextmanager
def about(what: str, id: str) -> Iterator[None]:
    """Name the task or skill in an error about a model that did not answer."""
    try:
        yield
    except MachineError as error:
        raise MachineError(f"{what} '{id}': {error}") from error


class Writing(Asking, QueryStage):
    """Attaches to each query what a model writes about it; a query without a word stays as it is."""

    def rewrite(self, queries: Sequence[Query]) -> list[Query]:
        """The queries with what was written, in order."""
        return self._speaker.each(self._rewritten, queries)

    def _rewritten(self, query: Query) -> Query:
        with about("task", query.id):
            return self.written(query) if words(query.text) else query

    @abstractmethod
    def written(self, query: Query) -> Query:
        """One query with what the model wrote about it."""


class Listwise(Language):
    """Options of a stage that shows candidates, besides those of the language model.

    Attributes:
        top: number of candidates shown; SkillRouter's 20 (appendix G).
        document: what is shown of each; caps as in that paper.
        chars: characters of the task that the model reads; the paper has no limit, models do.
    """

    top: int = Option(20, ge=1)
    chars: int = Option(16_000, ge=1)
    document: DocumentText = DocumentText(description_chars=500, body_chars=2000)


class Choosing(Asking):
    """Shows a numbered list of candidates and goes by the numbers that come back."""

    def __init__(self, config: Listwise, context: RouteContext) -> None:
        super().__init__(config, context)
        self._top = config.top
        self._chars = config.chars
        self._pool = context.pool
        self._listing = SkillListing(config.document)

    def depth(self, k: int) -> int:
        """At least `top`."""
        return max(k, self._top)

    def run(self, queries: Sequence[Query], candidates: Sequence[Ranking] | None, k: int) -> list[Ranking]:
        """The candidates as chosen."""
        pairs = list(zip(queries, candidates or (), strict=True))
        return [ranking[:k] for ranking in self._speaker.each(self._chosen, pairs)]

    def _chosen(self, pair: tuple[Query, Ranking]) -> Ranking:
        with about("task", pair[0].id):
            return self.choose(*pair)

    @abstractmethod
    def choose(self, query: Query, before: Ranking) -> Ranking:
        """What becomes of one query's candidates."""

    def ask(self, prompt: str, query: Query, shown: Ranking) -> str:
        """The model's answer about the candidates shown."""
        skills = [self._pool.get(entry.id) for entry in shown]
        message = f"{query.text[: self._chars]}\n\n{self._listing.render(skills)}"
        return self._speaker.ask(system(prompt), user(message)).text
