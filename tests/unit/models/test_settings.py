"""Model arguments: ours, LiteLLM's, and those that something else decides."""

from __future__ import annotations

import pytest

from workbench.core.errors import UsageError
from workbench.models.settings import read_settings


def test_our_settings_are_taken_and_the_rest_is_passed_on() -> None:
    settings, rest = read_settings({"stream": True, "timeout": 30, "api_version": "v2", "user": "me"})
    assert (settings.stream, settings.timeout, settings.drop_params) == (True, 30.0, False)
    assert rest == {"api_version": "v2", "user": "me"}


@pytest.mark.parametrize("name", ["num_retries", "max_retries", "fallbacks", "messages", "mock_response"])
def test_an_argument_that_something_else_decides_is_refused_with_what_to_use(name: str) -> None:
    with pytest.raises(UsageError, match=f"^-M {name}: cannot be given to litellm/...; use "):
        read_settings({name: 1})


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"timeout": -1}, r"^-M timeout: must be above 0 \(found -1\)$"),
        ({"stream": "maybe"}, r"^-M stream: .*\(found 'maybe'\)$"),
        (
            {"input_cost_per_token": 1e-6},
            r"^-M prices: input_cost_per_token and output_cost_per_token are given together",
        ),
    ],
)
def test_a_wrong_value_is_said_on_one_line(given: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        read_settings(given)


def test_prices_are_known_once_both_are_given() -> None:
    settings, _ = read_settings({"input_cost_per_token": 1e-6, "output_cost_per_token": 2e-6})
    assert settings.prices is not None
    assert (settings.prices.input, settings.prices.output, settings.prices.cache_read) == (1e-6, 2e-6, None)
    assert read_settings({})[0].prices is None
