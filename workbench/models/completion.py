"""Language-model answers for routing: asked through LiteLLM, kept on disk, counted.

An answer is kept under the digest of everything that was asked and of the endpoint asked, so that
the same question is never paid for twice and a router that has run once runs again without a
network. An answer without a word is not kept: the next run asks again. ::

    <cache>/completions/<first two digits>/<sha256 of the question>.json
"""

from __future__ import annotations

import json
import logging
import os
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Protocol

from pydantic import BaseModel, ConfigDict, ValidationError

from workbench.core.atomic import write_text
from workbench.core.digest import digest_json, short
from workbench.core.errors import MachineError, TrialError, UsageError

if TYPE_CHECKING:
    from inspect_ai.model import ModelOutput

SCHEMA_VERSION = 1
_log = logging.getLogger(__name__)


class _Call(Protocol):
    @property
    def id(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def arguments(self) -> str: ...


class _Message(Protocol):
    @property
    def role(self) -> str: ...
    @property
    def content(self) -> str: ...
    @property
    def calls(self) -> Sequence[_Call]: ...
    @property
    def call_id(self) -> str: ...


class _Tool(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def description(self) -> str: ...
    @property
    def parameters(self) -> str: ...


class Question(Protocol):
    """What may be asked; `parameters` of a tool is a JSON schema as text."""

    @property
    def model(self) -> str: ...
    @property
    def messages(self) -> Sequence[_Message]: ...
    @property
    def temperature(self) -> float | None: ...
    @property
    def max_tokens(self) -> int: ...
    @property
    def tools(self) -> Sequence[_Tool]: ...


class Completion(BaseModel):
    """An answer, as it is kept.

    Attributes:
        calls: tool calls: (id, name, arguments as the model wrote them).
        input_tokens, output_tokens: ``None`` where the provider did not say.
        cost_usd: ``None`` where no price is known.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_version: int = SCHEMA_VERSION
    text: str
    calls: tuple[tuple[str, str, str], ...] = ()
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None

    @property
    def empty(self) -> bool:
        """Whether there is neither a word in it nor a call of a tool."""
        return not self.text.strip() and not self.calls


@dataclass
class Spending:
    """What was asked so far.

    Attributes:
        asked: answers that a model gave; `kept` those that were on disk.
        uncounted: answers whose tokens the provider did not say; `unpriced` those without a price.
    """

    asked: int = 0
    kept: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    uncounted: int = 0
    cost_usd: float = 0.0
    unpriced: int = 0

    def add(self, answer: Completion, fresh: bool) -> None:
        """Count an answer; `fresh` is one that was not on disk."""
        if not fresh:
            self.kept += 1
            return
        self.asked += 1
        self.input_tokens += answer.input_tokens or 0
        self.output_tokens += answer.output_tokens or 0
        self.uncounted += answer.input_tokens is None or answer.output_tokens is None
        self.cost_usd += answer.cost_usd or 0.0
        self.unpriced += answer.cost_usd is None

    def line(self) -> str:
        """One line for people; empty where nothing was asked."""
        if not self.asked + self.kept:
            return ""
        tokens = f"{self.input_tokens:,} tokens in, {self.output_tokens:,} out"
        if self.uncounted:
            tokens = f"at least {tokens} ({self.uncounted} calls without a count)"
        cost = f"${self.cost_usd:.4f}" if self.asked > self.unpriced or not self.asked else "cost unknown"
        if 0 < self.unpriced < self.asked:
            cost = f"at least {cost} ({self.unpriced} calls without a known price)"
        return f"language model: {self.asked:,} calls, {self.kept:,} answers from the cache, {tokens}, {cost}"


class Completer:
    """Answers questions through LiteLLM. Thread-safe.

    Args:
        cache: folder of the workspace's cache.
        model: asked instead of whatever model a question names; LiteLLM's name.
        base_url: endpoint, in place of the provider's own.
        attempts: how often a call that may yet succeed is made.
        timeout: seconds that one attempt may take, from sending it to the whole answer; a slow model
            on one's own machine writes 1,024 tokens well within the default.
        sleep: waits so many seconds between them.
    """

    def __init__(
        self,
        cache: Path,
        model: str | None = None,
        base_url: str | None = None,
        attempts: int = 5,
        timeout: float = 300.0,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.spending = Spending()
        self._folder = cache / "completions"
        self._model = model
        self._base_url = base_url
        self._attempts = attempts
        self._timeout = timeout
        self._sleep = sleep
        self._lock = Lock()
        self._meter: ContextVar[Spending | None] = ContextVar("meter", default=None)

    @classmethod
    def from_environment(cls, cache: Path, environ: Mapping[str, str] | None = None) -> Completer:
        """One that asks the model and endpoint that ``$SKILL_WORKBENCH_LLM`` and ``..._BASE_URL`` name."""
        env = os.environ if environ is None else environ
        return cls(
            cache, env.get("SKILL_WORKBENCH_LLM") or None, env.get("SKILL_WORKBENCH_LLM_BASE_URL") or None
        )

    def prepare(self) -> None:
        """Import now what takes seconds, rather than within the first question: LiteLLM, and the words
        for its errors."""
        import workbench.models.errors  # noqa: F401
        from workbench.models.library import load_litellm

        load_litellm()

    def name(self, model: str) -> str:
        """The model that is asked where `model` is named."""
        return self._model or model

    def __call__(self, question: Question) -> Completion:
        """The answer: from disk if the same was asked before, else from the model.

        Raises:
            UsageError: the key or the model is wrong; no other question will do better.
            MachineError: no answer after all attempts.
        """
        request = self._request(question)
        endpoint = self._endpoint(request["model"])
        digest = digest_json({**request, "endpoint": endpoint} if endpoint else request)
        path = self._folder / digest[:2] / f"{digest}.json"
        answer = _kept(path)
        fresh = answer is None
        if answer is None:
            answer = self._asked(request)
            if not answer.empty:
                self._keep(path, answer)
        self._note(answer, fresh)
        return answer

    @contextmanager
    def metered(self) -> Iterator[Spending]:
        """Also counts apart what this thread asks in the block; other threads may ask meanwhile."""
        spent = Spending()
        token = self._meter.set(spent)
        try:
            yield spent
        finally:
            self._meter.reset(token)

    def _request(self, question: Question) -> dict[str, Any]:
        """The arguments of LiteLLM's completion; what they hold decides the answer."""
        request: dict[str, Any] = {
            "model": self.name(question.model),
            "messages": [_message(message) for message in question.messages],
            "max_tokens": question.max_tokens,
        }
        if question.temperature is not None:
            request["temperature"] = question.temperature
        if question.tools:
            request["tools"] = [_tool(tool) for tool in question.tools]
        return request

    def _asked(self, request: dict[str, Any]) -> Completion:
        from workbench.models.errors import ConfigurationError, RetryableError, explain, what_was_said
        from workbench.models.library import load_litellm

        litellm = load_litellm()
        options: dict[str, Any] = {"timeout": self._timeout, "num_retries": 0}
        if self._base_url:
            options["api_base"] = self._base_url
        attempt = 1
        while True:
            try:
                return _completion(litellm, litellm.completion(**request, **options))
            except Exception as error:  # whatever LiteLLM and its providers raise
                failed, meant = error, explain(error, request["model"])
            if isinstance(meant, ConfigurationError):
                raise UsageError(_hint(request["model"], what_was_said(failed))) from failed
            if not isinstance(meant, RetryableError):
                raise MachineError(
                    meant.detail if isinstance(meant, TrialError) else _unanswered(request["model"], meant)
                )
            if attempt >= min(self._attempts, meant.limit or self._attempts):
                raise MachineError(f"{meant.detail} (given up after {attempt} attempts)")
            wait = meant.retry_after if meant.retry_after is not None else 2.0 ** (attempt - 1)
            self._sleep(min(wait, 60.0) * random.uniform(1.0, 1.1))
            attempt += 1

    def _endpoint(self, model: str) -> str:
        """Where a model is asked, as far as it is not the provider's own address: as LiteLLM finds it."""
        provider = model.partition("/")[0].upper()
        named = (os.environ.get(f"{provider}_{what}") for what in ("API_BASE", "BASE_URL"))
        return (self._base_url or next(filter(None, named), "")).rstrip("/")

    def _keep(self, path: Path, answer: Completion) -> None:
        try:
            write_text(path, answer.model_dump_json() + "\n")
        except (MachineError, OSError) as error:
            _log.warning("an answer could not be kept: %s", error)

    def _note(self, answer: Completion, fresh: bool) -> None:
        with self._lock:
            self.spending.add(answer, fresh)
            if (metered := self._meter.get()) is not None:
                metered.add(answer, fresh)


def _hint(model: str, said: str) -> str:
    provider = model.partition("/")[0].upper()
    return (
        f"{model}: {said}; give its key as {provider}_API_KEY, its endpoint as --llm-base-url URL "
        f"(SKILL_WORKBENCH_LLM_BASE_URL), or another model as --llm PROVIDER/MODEL (SKILL_WORKBENCH_LLM)"
    )


def _unanswered(model: str, meant: ModelOutput) -> str:
    """Why a model gave no answer to a question that it read, and what to type next."""
    if meant.stop_reason == "model_length":
        return (
            f"{model}: {meant.completion}; the question is longer than it reads: lower `top`, `chars` or "
            "`body_chars` of that stage in the recipe, or name a model that reads more: --llm PROVIDER/MODEL"
        )
    return f"{model}: {meant.completion}; name another model as --llm PROVIDER/MODEL"


def _kept(path: Path) -> Completion | None:
    try:
        found = Completion.model_validate_json(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, ValidationError):
        _log.warning("the kept answer %s is damaged; asking again", short(path.stem))
        return None
    return found if found.schema_version == SCHEMA_VERSION and not found.empty else None


def _message(message: _Message) -> dict[str, Any]:
    sent: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.calls:
        sent["content"] = message.content or None
        sent["tool_calls"] = [
            {"id": c.id, "type": "function", "function": {"name": c.name, "arguments": c.arguments}}
            for c in message.calls
        ]
    if message.call_id:
        sent["tool_call_id"] = message.call_id
    return sent


def _tool(tool: _Tool) -> dict[str, Any]:
    described = {
        "name": tool.name,
        "description": tool.description,
        "parameters": json.loads(tool.parameters),
    }
    return {"type": "function", "function": described}


def _completion(litellm: Any, response: Any) -> Completion:
    """LiteLLM's response as an answer.

    Raises:
        RetryableError: it has no choice.
    """
    from workbench.models.errors import RetryableError

    if not response.choices:
        raise RetryableError(f"{response.model}: unreadable answer: it has no choices", limit=3)
    message = response.choices[0].message
    usage = getattr(response, "usage", None)
    calls = [
        (c.id or "", c.function.name or "", c.function.arguments or "") for c in message.tool_calls or ()
    ]
    return Completion(
        text=message.content or "",
        calls=tuple(calls),
        input_tokens=getattr(usage, "prompt_tokens", None),
        output_tokens=getattr(usage, "completion_tokens", None),
        cost_usd=_cost(litellm, response),
    )


def _cost(litellm: Any, response: Any) -> float | None:
    """USD by LiteLLM's prices; ``None`` where it has none for the model."""
    try:
        cost = float(litellm.completion_cost(response))
    except Exception:  # LiteLLM raises plain Exception for a model that it has no price for
        return None
    return cost if cost > 0 else None
