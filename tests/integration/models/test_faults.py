"""What can go wrong between us and a model, each fault played over HTTP, each request counted."""

from __future__ import annotations

import json
from itertools import pairwise

import anyio
import pytest
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.model import GenerateConfig

from tests.integration.models.conftest import Ask, Serve
from tests.servers.openai_server import OpenAIServer, Reply, refusal
from workbench.core.errors import TrialError

HTML = Reply(body="<html>maintenance</html>", headers={"content-type": "text/html"})
NO_CHOICES = Reply(body=json.dumps({"id": "1", "object": "chat.completion", "choices": []}))
CUT_JSON = Reply(body='{"id": "x", "choices": [{"mess')
PROVIDERS = ["openai/gpt-4o-mini", "deepseek/deepseek-chat", "anthropic/claude-sonnet-4-5"]


EVERY_PROVIDER = [
    *PROVIDERS,
    "azure/gpt-4o",
    "gemini/gemini-2.5-pro",
    "groq/llama-3.1-8b-instant",
    "hosted_vllm/mine",
    "mistral/mistral-large-latest",
    "openrouter/some/model",
]
"""Providers whose errors LiteLLM maps in ways of their own; each by another path of its code."""


def waits(server: OpenAIServer) -> list[float]:
    """Seconds between the requests."""
    return [after.at - before.at for before, after in pairwise(server.requests)]


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_rate_limit_is_exactly_one_more_request_after_the_time_the_server_asked_for(
    serve: Serve, model_of: Ask, provider: str
) -> None:
    server = serve([refusal(429, "slow down", retry_after="0.3"), "ok"])
    output = await (await model_of(server, provider)).generate("hi")
    assert output.completion == "ok"
    assert server.attempts == [2]
    assert waits(server)[0] >= 0.3


async def test_a_server_that_asks_for_an_hour_is_asked_again_after_the_longest_wait(
    serve: Serve, model_of: Ask
) -> None:
    server = serve([refusal(429, "slow down", retry_after="3600"), "ok"])
    with anyio.fail_after(120):
        await (await model_of(server, max_wait=0.1)).generate("hi")
    assert server.attempts == [2]


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("status", [500, 502, 503, 529, 408])
async def test_an_outage_is_asked_again_once_for_each_failure_and_by_one_layer_only(
    serve: Serve, model_of: Ask, provider: str, status: int
) -> None:
    down = refusal(status, "overloaded", x_ratelimit_reset_requests="1h")
    server = serve([down, down, down, "ok"])
    output = await (await model_of(server, provider)).generate("hi")
    assert output.completion == "ok"
    assert server.attempts == [4]


@pytest.mark.parametrize("provider", EVERY_PROVIDER)
async def test_failures_are_sorted_alike_for_every_provider(
    serve: Serve, model_of: Ask, provider: str
) -> None:
    html = {"body": "<html>sorry</html>", "headers": {"content-type": "text/html"}}
    faults = {
        "config:auth": [refusal(401, "bad key"), Reply(status=401, **html)],
        "config:model": [refusal(404, "no such thing"), Reply(status=404, **html)],
        "api": [refusal(429, "slow"), refusal(500, "oops"), Reply(status=502, **html), Reply(**html)],
    }
    for cause, replies in faults.items():
        for reply in replies:
            server = serve([reply] * 9)
            model = await model_of(server, provider, api_version="v1", config=GenerateConfig(max_retries=1))
            with pytest.raises(TrialError) as caught:
                await model.generate("hi")
            assert caught.value.cause == cause, reply
            assert server.attempts == [2 if cause == "api" else 1], reply
    full = serve([refusal(400, "prompt is too long: 9 tokens > 8 maximum")])
    output = await (await model_of(full, provider, api_version="v1")).generate("hi")
    assert output.stop_reason == "model_length"


async def test_retries_end_where_inspect_says_with_an_error_that_says_why(
    serve: Serve, model_of: Ask
) -> None:
    server = serve([refusal(500, "down")] * 9)
    model = await model_of(server, config=GenerateConfig(max_retries=2))
    with pytest.raises(TrialError, match=r"^\[api\] .*HTTP 500: down \(given up after 3 attempts\)$"):
        await model.generate("hi")
    assert server.attempts == [3]


async def test_retries_end_with_the_time_that_inspect_allows_a_call(serve: Serve, model_of: Ask) -> None:
    server = serve([refusal(429, "slow down", retry_after="1.2")] * 9)
    model = await model_of(server, config=GenerateConfig(timeout=1))
    with pytest.raises(TrialError, match=r"^\[api\] .*rate limit.*given up after 2 attempts"):
        await model.generate("hi")
    assert server.attempts == [2]


async def test_an_attempt_that_inspect_cuts_short_is_an_api_error_in_the_end(
    serve: Serve, model_of: Ask
) -> None:
    server = serve([Reply(text="late", delay=600)] * 9)
    model = await model_of(server, config=GenerateConfig(attempt_timeout=1, max_retries=1))
    with pytest.raises(TrialError, match=r"^\[api\] AttemptTimeoutError.*given up after 2 attempts"):
        await model.generate("hi")
    assert server.attempts == [2]


async def test_a_refused_connection_is_retried_and_then_excluded_as_api(serve: Serve, model_of: Ask) -> None:
    server = serve([])
    server.close()
    model = await model_of(server, config=GenerateConfig(max_retries=1))
    with pytest.raises(TrialError, match=r"^\[api\] .*connection.*given up after 2 attempts"):
        await model.generate("hi")


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_an_answer_cut_in_the_middle_is_a_broken_line(
    serve: Serve, model_of: Ask, provider: str
) -> None:
    server = serve([Reply(text="hello", cut=20), "ok"])
    assert (await (await model_of(server, provider)).generate("hi")).completion == "ok"
    assert server.attempts == [2]


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_an_answer_that_does_not_come_is_given_up_after_the_timeout(
    serve: Serve, model_of: Ask, provider: str
) -> None:
    server = serve([Reply(text="late", delay=600), "ok"])
    assert (await (await model_of(server, provider, timeout=1.0)).generate("hi")).completion == "ok"
    assert server.attempts == [2]


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("bad", [HTML, CUT_JSON, NO_CHOICES, Reply(body="[1]"), Reply(body='{"id": "1"}')])
async def test_an_answer_that_is_no_reply_is_asked_for_three_times_and_then_a_typed_error(
    serve: Serve, model_of: Ask, provider: str, bad: Reply
) -> None:
    server = serve([bad] * 9)
    with pytest.raises(TrialError, match=r"^\[api\] .*unreadable answer.*given up after 3") as caught:
        await (await model_of(server, provider)).generate("hi")
    assert caught.value.cause == "api"
    assert server.attempts == [3]


@pytest.mark.parametrize("bad", [HTML, CUT_JSON, NO_CHOICES])
async def test_a_good_reply_after_a_bad_one_counts(serve: Serve, model_of: Ask, bad: Reply) -> None:
    server = serve([bad, bad, "ok"])
    assert (await (await model_of(server)).generate("hi")).completion == "ok"
    assert server.attempts == [3]


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("status", [401, 403])
async def test_a_key_that_is_refused_stops_the_run_at_the_first_request(
    serve: Serve, model_of: Ask, provider: str, status: int
) -> None:
    server = serve([refusal(status, "bad key")] * 3)
    with pytest.raises(TrialError, match=r"^\[config:auth\] .*bad key.*_API_KEY"):
        await (await model_of(server, provider)).generate("hi")
    assert server.attempts == [1]


@pytest.mark.parametrize(
    "reply",
    [
        refusal(404, "The model `x` does not exist", code="model_not_found"),
        refusal(400, "x is not a valid model ID"),
        refusal(400, "Unknown model: x"),
    ],
)
async def test_a_model_that_nobody_serves_stops_the_run_at_the_first_request(
    serve: Serve, model_of: Ask, reply: Reply
) -> None:
    server = serve([reply] * 3)
    with pytest.raises(TrialError, match=r"^\[config:model\] .*litellm/PROVIDER/MODEL"):
        await (await model_of(server)).generate("hi")
    assert server.attempts == [1]


async def test_a_provider_that_litellm_does_not_know_is_a_model_error(serve: Serve, model_of: Ask) -> None:
    server = serve(["x"])
    with pytest.raises(TrialError, match=r"^\[config:model\] .*LLM Provider NOT provided"):
        await (await model_of(server, "nobody/some-model")).generate("hi")
    assert server.requests == []


@pytest.mark.parametrize("provider", ["openai/gpt-4o-mini", "anthropic/claude-sonnet-4-5"])
async def test_a_missing_key_is_said_before_any_request(
    serve: Serve, model_of: Ask, provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    server = serve(["x"])
    with pytest.raises(TrialError, match=r"^\[config:auth\] .*_API_KEY"):
        await (await model_of(server, provider, api_key=None)).generate("hi")
    assert server.requests == []


async def test_credit_that_is_used_up_stops_the_run_though_it_looks_like_a_rate_limit(
    serve: Serve, model_of: Ask
) -> None:
    server = serve([refusal(429, "You exceeded your quota", code="insufficient_quota")] * 3)
    with pytest.raises(TrialError, match=r"^\[config:auth\]"):
        await (await model_of(server)).generate("hi")
    assert server.attempts == [1]


OVERFLOWS = [
    (
        400,
        "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000",
        "openai",
    ),
    (400, "Your input exceeds the context window of this model", "openai"),
    (400, "prompt is too long: 210000 tokens > 200000 maximum", "anthropic"),
    (400, "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000", "anthropic"),
    (
        400,
        "The input token count (2000000) exceeds the maximum number of tokens allowed (1048576).",
        "openai",
    ),
    (400, "Input is too long for requested model.", "openai"),
    (400, "the request exceeds the available context size, try increasing it", "openai"),
    (500, "the request exceeds the available context size, try increasing it", "openai"),
    (400, "This model's maximum prompt length is 131072 but the request contains 140000 tokens.", "openai"),
    (413, "Prompt contains 40000 tokens, too large for model with 32768 maximum context length", "openai"),
    (400, "too many tokens: size limit exceeded by 100 tokens", "openai"),
    (422, "`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000", "openai"),
    (400, "Invalid request: Your request exceeded model token limit: 8192", "openai"),
]


@pytest.mark.parametrize(("status", "words", "provider"), OVERFLOWS)
async def test_a_full_context_ends_the_agent_in_every_providers_words_and_is_not_asked_again(
    serve: Serve, model_of: Ask, status: int, words: str, provider: str
) -> None:
    server = serve([refusal(status, words)] * 3)
    model = await model_of(server, {"openai": PROVIDERS[0], "anthropic": PROVIDERS[2]}[provider])
    output = await model.generate("hi")
    assert output.stop_reason == "model_length"
    assert words in output.completion
    assert server.attempts == [1]


@pytest.mark.parametrize(
    "reply",
    [
        refusal(400, "Your request was rejected by our safety system", code="content_policy_violation"),
        refusal(
            400, "The response was filtered due to Azure's content management policy", code="content_filter"
        ),
    ],
)
async def test_a_refused_prompt_is_the_models_answer(serve: Serve, model_of: Ask, reply: Reply) -> None:
    server = serve([reply] * 3)
    output = await (await model_of(server)).generate("hi")
    assert output.stop_reason == "content_filter"
    assert server.attempts == [1]


async def test_any_other_bad_request_is_an_api_error_that_nobody_repeats(serve: Serve, model_of: Ask) -> None:
    server = serve([refusal(400, "temperature must be a number")] * 3)
    with pytest.raises(
        TrialError, match=r"^\[api\] openai/gpt-4o-mini: HTTP 400: temperature must be a number$"
    ):
        await (await model_of(server)).generate("hi")
    assert server.attempts == [1]


async def test_a_wrong_model_argument_is_one_line_before_anything_is_asked(
    serve: Serve, model_of: Ask
) -> None:
    server = serve(["x"])
    with pytest.raises(PrerequisiteError) as caught:
        await model_of(server, num_retries=3)
    assert caught.value.message == "-M num_retries: cannot be given to litellm/...; use --max-retries N"
