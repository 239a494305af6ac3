"""What a stage asks of a language model. Who answers comes from outside, by `stage.RouteContext`.

Routing knows no provider: the callable that the command line hands over asks through LiteLLM and
keeps every answer on disk; tests hand over one that answers by rule.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Lock
from typing import Literal, Protocol, TypeVar

from pydantic import Field as Option

from workbench.core.content import Content
from workbench.core.errors import MachineError, UsageError

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True)
class Call:
    """A tool call of the model: `arguments` is JSON as the model wrote it, so it may be broken."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True)
class Message:
    """One message. `calls` are the assistant's; `call_id` says which of them a tool message answers."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str
    calls: tuple[Call, ...] = ()
    call_id: str = ""


@dataclass(frozen=True)
class Tool:
    """A tool that the model may call; `parameters` is a JSON schema as text."""

    name: str
    description: str
    parameters: str


@dataclass(frozen=True)
class Ask:
    """One question.

    Attributes:
        model: as LiteLLM names it, ``<provider>/<model>``.
        temperature: sampling temperature; ``None`` leaves the model's own.
        max_tokens: most tokens of the answer.
    """

    model: str
    messages: tuple[Message, ...]
    temperature: float | None
    max_tokens: int
    tools: tuple[Tool, ...] = ()


class Answer(Protocol):
    """What came back."""

    @property
    def text(self) -> str:
        """The answer's text; may be empty."""

    @property
    def calls(self) -> Sequence[tuple[str, str, str]]:
        """Tool calls in order: (id, name, arguments)."""


class Complete(Protocol):
    """Answers questions. Safe to call from several threads; the same question gets the same answer.

    Raises:
        WorkbenchError: the model cannot be asked, or did not answer; says what to do.
    """

    def __call__(self, ask: Ask, /) -> Answer: ...

    def prepare(self) -> None:
        """Do now what the first question would wait for. Cheap when done before."""

    def name(self, model: str, /) -> str:
        """What is really asked where a recipe names `model`; it decides a router's fingerprint."""


class Language(Content):
    """The options of every stage that asks a language model.

    Attributes:
        model: as LiteLLM names it, ``<provider>/<model>``.
        temperature: of the sampling; the model's own if null.
        max_tokens: most tokens of one answer, its reasoning included.
        parallel: questions asked at the same time.
    """

    model: str = Option(pattern=r"^[\w.-]+(/[\w.:@-]+)+$")
    temperature: float | None = Option(0.0, ge=0, le=2)
    max_tokens: int = Option(1024, ge=1)
    parallel: int = Option(8, ge=1, le=64)


class Speaker:
    """A stage's own way to the model: its options, and a count of what went wrong.

    Args:
        method: the stage's name, for messages.
        complete: from the context.
    """

    def __init__(self, method: str, config: Language, complete: Complete | None) -> None:
        self._method = method
        self._config = config
        self._complete = complete
        self._lock = Lock()
        self._asked = 0
        self._unusable = 0

    @property
    def identity(self) -> str:
        """The model that is really asked."""
        model = self._config.model
        return self._complete.name(model) if self._complete else model

    def check(self) -> Complete:
        """Whoever answers, ready to be asked.

        Raises:
            UsageError: nobody was handed over.
        """
        complete = self._answering()
        complete.prepare()
        return complete

    def _answering(self) -> Complete:
        if self._complete is None:
            raise UsageError(
                f"{self._method}: asks the language model '{self._config.model}', and none is at hand here"
            )
        return self._complete

    def ask(self, *messages: Message, tools: tuple[Tool, ...] = ()) -> Answer:
        """Ask once.

        Raises:
            MachineError: no answer; names the stage.
        """
        config = self._config
        question = Ask(config.model, messages, config.temperature, config.max_tokens, tools)
        try:
            return self._answering()(question)
        except MachineError as error:
            raise MachineError(f"{self._method}: {error}") from error

    def each(self, do: Callable[[T], R], items: Sequence[T]) -> list[R]:
        """`do` for every item, some at a time; results in the order of the items."""
        if len(items) < 2:
            return [do(item) for item in items]
        with ThreadPoolExecutor(self._config.parallel) as threads:
            return list(threads.map(do, items))

    def count(self, usable: bool) -> None:
        """Note that an answer could be used, or could not."""
        with self._lock:
            self._asked += 1
            self._unusable += not usable

    def notes(self, otherwise: str) -> tuple[str, ...]:
        """One line about answers that could not be used, if there were any.

        Args:
            otherwise: what was done instead.
        """
        if not self._unusable:
            return ()
        return (f"{self._method}: {self._unusable} of {self._asked} answers could not be used; {otherwise}",)


def system(text: str) -> Message:
    """A system message."""
    return Message("system", text)


def user(text: str) -> Message:
    """A user message; lone surrogates, which no wire format takes, become ``?``."""
    return Message("user", text.encode("utf-8", "replace").decode("utf-8"))
