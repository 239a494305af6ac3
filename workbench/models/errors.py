"""What went wrong with a model call, sorted by what follows from it.

    the model's own doing          an output: context full (`model_length`), refused (`content_filter`)
    the user's configuration       ConfigurationError, stops the run
    will pass                      RetryableError, as often as Inspect says
    an answer that is no reply     RetryableError with a limit of its own (empty, HTML, cut JSON)
    anything else                  TrialError ``api``, not retried

LiteLLM gives every failure some status, its own 500 included, so a status counts as the server's
only where the server's headers came with it, and the chain of causes tells a broken line from
an answer that could not be read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Literal

import httpx
from inspect_ai._util.http import parse_retry_after
from inspect_ai.model import ModelOutput, StopDetails

from workbench.core.errors import TrialError

_CONTEXT_FULL = re.compile(
    r"context[ _-]?(length|window|limit|size)"  # OpenAI, vLLM, Mistral, DeepSeek, llama.cpp, Ollama
    r"|(prompt|input) is too long"  # Anthropic, Bedrock, Fireworks
    r"|(maximum|max) (number of )?(input |prompt )?(tokens allowed|prompt length|input length)"  # Gemini, xAI
    r"|too many (input )?tokens|model token limit|input_too_large"  # Cohere, Moonshot, xAI
    r"|reduce the length of (the|your) (messages|prompt|input)"
    r"|`?inputs`? tokens \+ `?max_new_tokens`?",  # text-generation-inference
    re.IGNORECASE,
)
_REFUSED = re.compile(
    r"content[ _](policy|filter|management)|responsible ai|invalid_prompt|safety_check|flagged", re.IGNORECASE
)
_NO_CREDIT = re.compile(r"insufficient_quota|insufficient credits|credit balance is too low", re.IGNORECASE)
_NO_KEY = re.compile(r"missing (credentials|.{0,40}api key)|api_key client option", re.IGNORECASE)
_NO_MODEL = re.compile(
    r"model_not_found|\bmodel:?\s+\S+\s+(is |was )?(not found|does not exist)|(unknown|invalid|no such) model"
    r"|not a valid model|provider not provided",
    re.IGNORECASE,
)
_WRAPPING = re.compile(r"^(?:(?:litellm\.)?(?:\w+(?:Error|Exception)|Timeout)\b\s*[:-]?\s*)+")
_ADVICE = re.compile(r"\.? Handle with `litellm\.\w+`\.?\s*$")
_SHOWN = 500


class RetryableError(TrialError):
    """A call that another attempt may save; cause ``api``.

    Attributes:
        kind: ``rate_limit`` also tells Inspect to ask less at a time.
        retry_after: seconds the server asked to wait, ``None`` where it did not say.
        limit: attempts after which a call that keeps failing this way is given up, ``None`` for
            as many as Inspect allows (``--max-retries``, ``--timeout``).
        status_code: HTTP status, ``None`` where no readable answer came.
    """

    def __init__(
        self,
        detail: str,
        *,
        kind: Literal["rate_limit", "transient"] = "transient",
        retry_after: float | None = None,
        limit: int | None = None,
        status_code: int | None = None,
    ) -> None:
        self.kind = kind
        self.status_code = status_code
        self.retry_after = retry_after
        self.limit = limit
        super().__init__("api", detail)


class ConfigurationError(TrialError):
    """No trial can succeed: the key or the model is wrong (``config:auth``, ``config:model``).

    Attributes:
        status_code: HTTP status, ``None`` where nothing was asked.
    """

    def __init__(self, cause: str, detail: str, status_code: int | None = None) -> None:
        self.status_code = status_code
        super().__init__(cause, detail)


def explain(error: Exception, model: str, unreadable_attempts: int = 3) -> TrialError | ModelOutput:
    """What an exception of LiteLLM means: an output (the model's own doing) or an error to raise.

    Args:
        error: as LiteLLM raised it, with its chain of causes.
        model: ``provider/model``, for the message.
        unreadable_attempts: the limit for answers that are no reply.
    """
    if isinstance(error, TrialError):
        return error
    said, status = what_was_said(error), _status(error)
    return (
        _model_doing(error, model, status, said)
        or _configuration(error, model, status, said)
        or _failed_call(error, model, status, said, unreadable_attempts)
    )


def what_was_said(error: BaseException) -> str:
    """The provider's own words, without LiteLLM's wrapping, on one line of at most 500 characters."""
    text = _ADVICE.sub("", str(getattr(error, "message", None) or error))
    text = _WRAPPING.sub("", text).strip()
    if text.startswith(("{", "b'{", 'b"{')):
        text = _message_in(text.removeprefix("b").strip("'\"")) or text
    return " ".join(text.split())[:_SHOWN] or type(error).__name__


def _message_in(body: str) -> str | None:
    try:
        found: Any = json.loads(body)
    except ValueError:
        return None
    found = found.get("error", found)
    message = found.get("message") if isinstance(found, dict) else found
    return message if isinstance(message, str) else None


def _model_doing(error: Exception, model: str, status: int | None, said: str) -> ModelOutput | None:
    if any(isinstance(each, RecursionError) for each in _chain(error)):
        return ModelOutput.from_content(model, "(The reply was nested too deeply to be read.)", "unknown")
    name, words = type(error).__name__, f"{said} {_code(error)}"
    if status in {401, 404, 429}:
        return None
    if name == "ContextWindowExceededError" or _CONTEXT_FULL.search(words):
        return ModelOutput.from_content(model, said, "model_length")
    if name == "ContentPolicyViolationError" or (status in {400, 403, 422} and _REFUSED.search(words)):
        details = StopDetails(type="refusal", explanation=said)
        return ModelOutput.from_content(model, said, "content_filter", stop_details=details)
    return None


def _configuration(error: Exception, model: str, status: int | None, said: str) -> TrialError | None:
    name, words = type(error).__name__, f"{said} {_code(error)}"
    if status in {401, 402, 403} or _NO_CREDIT.search(words) or _NO_KEY.search(words):
        provider = model.partition("/")[0]
        hint = f"check the key: {provider.upper()}_API_KEY or -M api_key=..., and what it may use"
        return ConfigurationError("config:auth", f"{model}: {said}; {hint}", status)
    if name == "UnsupportedParamsError":
        hint = "leave the setting out, or give -M drop_params=true"
        return ConfigurationError("config:model", f"{model}: {said.partition(' To drop')[0]}; {hint}", status)
    if isinstance(error, ImportError):
        return ConfigurationError("config:model", f"{model}: {said}; install the provider's package", status)
    if status == 404 or _NO_MODEL.search(words):
        hint = "the form is litellm/PROVIDER/MODEL, an endpoint of your own is --model-base-url URL"
        return ConfigurationError("config:model", f"{model}: {said}; {hint}", status)
    return None


def _failed_call(error: Exception, model: str, status: int | None, said: str, attempts: int) -> TrialError:
    headers = _headers(error)
    if status == 429:
        wait = parse_retry_after(headers)
        said = f"{model}: rate limit: {said}"
        return RetryableError(said, kind="rate_limit", retry_after=wait, status_code=status)
    if _line_broke(error):
        return RetryableError(f"{model}: connection: {said}")
    if status is None or status < 400:
        return RetryableError(f"{model}: unreadable answer: {said}", limit=attempts)
    if status == 408 or status >= 500:
        # the reset headers that many providers send with everything say nothing about an outage
        wait = parse_retry_after({k: v for k, v in headers.items() if k.lower() == "retry-after"})
        return RetryableError(f"{model}: HTTP {status}: {said}", retry_after=wait, status_code=status)
    return TrialError("api", f"{model}: HTTP {status}: {said}")


def _status(error: Exception) -> int | None:
    """The HTTP status of the server, ``None`` where no readable answer of one is behind the error."""
    status = getattr(error, "status_code", None)
    if not isinstance(status, int) or any(isinstance(each, json.JSONDecodeError) for each in _chain(error)):
        return None
    return None if status == 500 and not _headers(error) else status


def _line_broke(error: Exception) -> bool:
    """Whether no answer, or only part of one, came through."""
    names = {type(each).__name__ for each in _chain(error)}
    broken = any(isinstance(each, httpx.TransportError | OSError) for each in _chain(error))
    return broken or bool(names & {"Timeout", "MidStreamFallbackError"})


def _headers(error: Exception) -> Mapping[str, str]:
    """The server's headers, wherever LiteLLM put them."""
    kept = getattr(error, "litellm_response_headers", None)
    return kept or getattr(getattr(error, "response", None), "headers", None) or {}


def _code(error: Exception) -> str:
    """The provider's error codes, e.g. ``insufficient_quota``; LiteLLM keeps them in the causes only."""
    return " ".join(str(code) for each in _chain(error) if (code := getattr(each, "code", None)))


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__
