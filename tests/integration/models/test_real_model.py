"""A real small model behind an OpenAI-compatible server: structure is asserted, never text.

WORKBENCH_TINY_LLM_URL names the server's base URL, e.g. http://127.0.0.1:8080/v1.
"""

from __future__ import annotations

import os

import pytest
from inspect_ai.model import ChatMessageUser, GenerateConfig, execute_tools, get_model
from inspect_ai.tool import Tool, tool

URL = os.environ.get("WORKBENCH_TINY_LLM_URL")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(URL is None, reason="set WORKBENCH_TINY_LLM_URL to the base URL of a small model"),
]


@tool
def weather() -> Tool:
    async def execute(city: str) -> str:
        """Tell the weather in a city.

        Args:
            city: Name of the city.
        """
        return f"It rains in {city}."

    return execute


@pytest.mark.parametrize("stream", [False, True])
async def test_a_real_model_calls_a_tool_and_goes_on_with_its_result(stream: bool) -> None:
    config = GenerateConfig(max_tokens=64, seed=1, temperature=0.0, max_retries=1)
    async with get_model(
        "litellm/openai/smol", base_url=URL, api_key="none", config=config, stream=stream, memoize=False
    ) as model:
        messages = [ChatMessageUser(content="What is the weather in Paris?")]
        called = await model.generate(messages, tools=[weather()], tool_choice="any")
        (call,) = called.message.tool_calls or ()
        assert (call.function, call.parse_error) == ("weather", None)
        results = await execute_tools([*messages, called.message], [weather()])
        answer = await model.generate([*messages, called.message, *results.messages])
    for output in (called, answer):
        assert output.usage is not None
        assert output.usage.input_tokens > 0
        assert output.usage.total_cost is None
    assert answer.stop_reason in {"stop", "max_tokens"}
