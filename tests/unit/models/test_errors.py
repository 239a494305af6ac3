"""Failures, sorted. The exceptions are made as LiteLLM makes them; over HTTP they are tested elsewhere."""

from __future__ import annotations

import json

import httpx
import pytest
from inspect_ai.model import ModelOutput

from workbench.core.errors import TrialError
from workbench.models.errors import ConfigurationError, RetryableError, explain, what_was_said


class ProviderError(Exception):
    """An exception of a provider as LiteLLM raises it."""

    def __init__(
        self,
        message: str,
        status_code: int | None = None,
        headers: dict[str, str] | None = None,
        code: str | None = None,
        cause: BaseException | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.status_code = status_code
        self.litellm_response_headers = headers
        self.code = code
        self.__cause__ = cause


class UnsupportedParamsError(ProviderError):
    """Named as LiteLLM's."""


class Timeout(ProviderError):
    """Named as LiteLLM's."""


SERVER = {"server": "nginx"}


@pytest.mark.parametrize(
    ("wrapped", "said"),
    [
        ("litellm.RateLimitError: RateLimitError: OpenAIException - slow down", "slow down"),
        (
            "litellm.APIError: AnthropicException - oops. Handle with `litellm.APIError`.",
            "oops",
        ),
        ('litellm.RateLimitError: AnthropicException - {"error": {"message": "slow"}}', "slow"),
        ('litellm.APIError: XException - b\'{"error": "busy"}\'', "busy"),
        ("litellm.BadGatewayError: AnthropicException BadGatewayError - <html>", "<html>"),
        ("litellm.APIError: OpenAIException - Error code: 502", "Error code: 502"),
        ("two\nlines  and   blanks", "two lines and blanks"),
        ('{"not": json', '{"not": json'),
        ("", "ProviderError"),
        ("x" * 900, "x" * 500),
    ],
)
def test_the_providers_own_words_are_shown_on_one_line(wrapped: str, said: str) -> None:
    assert what_was_said(ProviderError(wrapped)) == said


@pytest.mark.parametrize("status", [401, 402, 403])
def test_a_refused_key_is_a_configuration_error(status: int) -> None:
    failed = explain(ProviderError("no", status, SERVER), "openai/x")
    assert isinstance(failed, ConfigurationError)
    assert (failed.cause, failed.status_code) == ("config:auth", status)


def test_a_missing_package_is_a_configuration_error() -> None:
    failed = explain(ModuleNotFoundError("No module named 'boto3'"), "bedrock/x")
    assert isinstance(failed, TrialError)
    assert failed.cause == "config:model"


def test_a_setting_that_is_not_supported_names_the_way_out() -> None:
    words = "anthropic does not support parameters: ['seed'], for model=x. To drop these, set ..."
    failed = explain(UnsupportedParamsError(words, 400), "anthropic/x")
    assert str(failed) == (
        "[config:model] anthropic/x: anthropic does not support parameters: ['seed'], for model=x.; "
        "leave the setting out, or give -M drop_params=true"
    )


@pytest.mark.parametrize(
    ("words", "cause"),
    [
        ("The model `x` does not exist", "config:model"),
        ("model 'x' not found, try pulling it first", "config:model"),
        ("the model called a tool that was not found", "api"),
        ("file not found", "api"),
    ],
)
def test_only_a_model_that_is_missing_stops_the_run(words: str, cause: str) -> None:
    failed = explain(ProviderError(words, 400, SERVER), "openai/x")
    assert isinstance(failed, TrialError)
    assert failed.cause == cause


def test_a_rate_limit_waits_as_long_as_its_headers_say() -> None:
    failed = explain(ProviderError("slow", 429, {"x-ratelimit-reset-tokens": "1m30s"}), "openai/x")
    assert isinstance(failed, RetryableError)
    assert (failed.kind, failed.retry_after, failed.limit) == ("rate_limit", 90.0, None)


def test_an_outage_waits_for_retry_after_but_not_for_the_reset_of_a_rate_limit() -> None:
    failed = explain(ProviderError("down", 503, {"x-ratelimit-reset-tokens": "1h"}), "openai/x")
    assert isinstance(failed, RetryableError)
    assert (failed.kind, failed.retry_after) == ("transient", None)
    failed = explain(ProviderError("down", 503, {"Retry-After": "7"}), "openai/x")
    assert isinstance(failed, RetryableError)
    assert failed.retry_after == 7.0


def test_a_status_that_litellm_made_up_is_an_unreadable_answer_and_limited() -> None:
    failed = explain(ProviderError("Empty or invalid response", 500), "openai/x", unreadable_attempts=4)
    assert isinstance(failed, RetryableError)
    assert (failed.limit, failed.status_code) == (4, None)


def test_json_that_could_not_be_read_is_unreadable_whatever_the_status() -> None:
    broken = json.JSONDecodeError("Expecting value", "<html>", 0)
    failed = explain(ProviderError("no json", 502, SERVER, cause=broken), "openai/x")
    assert isinstance(failed, RetryableError)
    assert failed.limit == 3


@pytest.mark.parametrize(
    "error",
    [
        ProviderError("Connection error.", 500, cause=httpx.ConnectError("refused")),
        ProviderError("Connection error.", 500, cause=ConnectionResetError()),
        Timeout("timed out", 408),
    ],
)
def test_a_broken_line_is_retried_without_a_limit_of_its_own(error: Exception) -> None:
    failed = explain(error, "openai/x")
    assert isinstance(failed, RetryableError)
    assert failed.limit is None


def test_a_throttle_that_speaks_of_tokens_is_no_full_context() -> None:
    failed = explain(ProviderError("Too many tokens, please wait", 429, SERVER), "bedrock/x")
    assert isinstance(failed, RetryableError)


def test_a_refusal_and_a_full_context_are_outputs() -> None:
    refused = explain(ProviderError("blocked", 400, SERVER, code="content_filter"), "azure/x")
    full = explain(ProviderError("no room", 400, SERVER, code="context_length_exceeded"), "azure/x")
    assert isinstance(refused, ModelOutput)
    assert isinstance(full, ModelOutput)
    assert (refused.stop_reason, full.stop_reason) == ("content_filter", "model_length")


def test_our_own_errors_pass_through_and_a_loop_of_causes_ends() -> None:
    own = TrialError("api", "x")
    assert explain(own, "openai/x") is own
    looped = ProviderError("x", 400, SERVER)
    looped.__cause__ = looped
    assert isinstance(explain(looped, "openai/x"), TrialError)
