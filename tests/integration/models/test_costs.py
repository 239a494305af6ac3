"""Money: LiteLLM's prices per call, checked by hand; unknown stays unknown."""

from __future__ import annotations

from typing import Any

import pytest
from inspect_ai.model import ModelUsage, get_model_info

from tests.integration.models.conftest import Ask, Serve
from tests.servers.openai_server import Reply
from workbench.models.library import load_litellm
from workbench.models.prices import Prices, cost_usd, listing


def usage(input: int, output: int, read: int | None = None, write: int | None = None) -> ModelUsage:
    """A usage as Inspect counts: `input` without the cached tokens."""
    return ModelUsage(
        input_tokens=input,
        output_tokens=output,
        input_tokens_cache_read=read,
        input_tokens_cache_write=write,
    )


def entry(key: str) -> dict[str, Any]:
    """The prices that the installed LiteLLM lists."""
    return dict(load_litellm().model_cost[key])


def test_cached_tokens_are_billed_at_their_own_price() -> None:
    listed = entry("claude-sonnet-4-5")
    expected = (
        10 * listed["input_cost_per_token"]
        + 60 * listed["cache_read_input_token_cost"]
        + 30 * listed["cache_creation_input_token_cost"]
        + 5 * listed["output_cost_per_token"]
    )
    assert cost_usd("anthropic/claude-sonnet-4-5", usage(10, 5, 60, 30)) == pytest.approx(expected, rel=1e-12)


def test_a_long_prompt_is_billed_at_its_tier() -> None:
    listed = entry("gemini/gemini-2.5-pro")
    expected = (
        300_000 * listed["input_cost_per_token_above_200k_tokens"]
        + 10 * listed["output_cost_per_token_above_200k_tokens"]
    )
    assert cost_usd("gemini/gemini-2.5-pro", usage(300_000, 10)) == pytest.approx(expected, rel=1e-12)


def test_cached_tokens_without_a_price_of_their_own_cost_what_any_token_does() -> None:
    prices = Prices(input=1e-6, output=2e-6)
    assert prices.cost(usage(10, 5, 60, 30)) == pytest.approx(100e-6 + 10e-6)


@pytest.mark.parametrize("model", ["openai/nobody-knows", "hosted_vllm/mine", "whisper-1", "not a model"])
def test_a_model_without_a_price_per_token_costs_an_unknown_sum(model: str) -> None:
    assert listing(model) is None
    assert cost_usd(model, usage(10, 5)) is None


def test_a_listed_price_of_zero_is_a_known_cost() -> None:
    assert cost_usd("ollama/llama2", usage(10, 5)) == 0


def test_an_unknown_usage_costs_an_unknown_sum() -> None:
    assert cost_usd("openai/gpt-4o-mini", None, Prices(1, 1)) is None


@pytest.mark.parametrize("model", ["openai/gpt-4o-mini", "deepseek/deepseek-chat", "dashscope/qwen-flash"])
def test_the_flat_prices_told_to_inspect_are_an_entry_of_the_map(model: str) -> None:
    listed = listing(model)
    assert listed is not None
    assert listed.prices.per_million().input == pytest.approx(listed.prices.input * 1e6)
    assert listed.prices.output >= listed.prices.input > 0


async def test_a_call_reports_its_tokens_and_its_price(serve: Serve, model_of: Ask) -> None:
    counted = {
        "prompt_tokens": 100,
        "completion_tokens": 20,
        "total_tokens": 120,
        "prompt_tokens_details": {"cached_tokens": 60},
        "completion_tokens_details": {"reasoning_tokens": 7},
    }
    output = await (await model_of(serve([Reply(text="x", usage=counted)]))).generate("hi")
    listed = entry("gpt-4o-mini")
    assert output.usage is not None
    assert output.usage.model_dump(exclude={"total_cost"}) == {
        "input_tokens": 40,
        "output_tokens": 20,
        "total_tokens": 120,
        "input_tokens_cache_read": 60,
        "input_tokens_cache_write": None,
        "reasoning_tokens": 7,
    }
    assert output.usage.total_cost == pytest.approx(
        40 * listed["input_cost_per_token"]
        + 60 * listed["cache_read_input_token_cost"]
        + 20 * listed["output_cost_per_token"],
        rel=1e-12,
    )


async def test_anthropics_cached_tokens_are_told_apart(serve: Serve, model_of: Ask) -> None:
    counted = {
        "input_tokens": 10,
        "output_tokens": 5,
        "cache_read_input_tokens": 60,
        "cache_creation_input_tokens": 30,
    }
    model = await model_of(serve([Reply(text="x", usage=counted)]), "anthropic/claude-sonnet-4-5")
    used = (await model.generate("hi")).usage
    assert used is not None
    assert (used.input_tokens, used.input_tokens_cache_read, used.input_tokens_cache_write) == (10, 60, 30)
    assert used.total_cost == pytest.approx(cost_usd("anthropic/claude-sonnet-4-5", usage(10, 5, 60, 30)))


@pytest.mark.parametrize(
    "counted",
    [
        None,
        {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0},
        {"prompt_tokens": -5, "completion_tokens": 3, "total_tokens": -2},
        {"prompt_tokens": 5, "completion_tokens": -3, "total_tokens": 2},
    ],
    ids=["missing", "zero", "negative input", "negative output"],
)
async def test_a_usage_that_is_missing_or_impossible_is_unknown_and_never_zero(
    serve: Serve, model_of: Ask, counted: dict[str, int] | None
) -> None:
    output = await (await model_of(serve([Reply(text="x", usage=counted)]))).generate("hi")
    assert output.completion == "x"
    assert output.usage is None


async def test_an_unknown_price_is_said_once_and_can_be_given(
    serve: Serve, model_of: Ask, caplog: pytest.LogCaptureFixture
) -> None:
    model = await model_of(serve(["a", "b"]), "openai/my-own-model")
    for _ in range(2):
        used = (await model.generate("hi")).usage
        assert used is not None
        assert used.total_cost is None
    assert caplog.text.count("price unknown") == 1
    assert "-M input_cost_per_token=USD" in caplog.text
    prices = {"input_cost_per_token": 1e-6, "output_cost_per_token": 2e-6}
    priced = await model_of(serve(["a"]), "openai/my-own-model-2", **prices)
    used = (await priced.generate("hi")).usage
    assert used is not None
    assert used.total_cost == pytest.approx(used.input_tokens * 1e-6 + used.output_tokens * 2e-6)


async def test_prices_that_the_user_gave_win_though_inspect_looks_the_model_up_without_them(
    serve: Serve, model_of: Ask
) -> None:
    prices = {"input_cost_per_token": 1.0, "output_cost_per_token": 2.0}
    model = await model_of(serve(["a"]), "openai/gpt-4.1-mini", **prices)
    get_model_info("litellm/openai/gpt-4.1-mini")
    used = (await model.generate("hi")).usage
    assert used is not None
    assert used.total_cost == used.input_tokens + 2 * used.output_tokens


async def test_tokens_are_counted_without_a_download(serve: Serve, model_of: Ask) -> None:
    model = await model_of(serve([]), "openai/my-own-model")
    assert 1 <= await model.api.count_text_tokens("one two three") <= 6
