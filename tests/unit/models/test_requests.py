"""Inspect's messages and settings in LiteLLM's words."""

from __future__ import annotations

from inspect_ai.model import (
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    ContentReasoning,
    ContentText,
    GenerateConfig,
)
from inspect_ai.tool import ToolCall

from workbench.models.requests import not_sent, to_messages, to_parameters, to_tools


async def test_roles_and_texts_are_kept() -> None:
    sent = await to_messages(
        [ChatMessageSystem(content="s"), ChatMessageUser(content="u"), ChatMessageAssistant(content="a")]
    )
    assert sent == [
        {"role": "system", "content": "s"},
        {"role": "user", "content": "u"},
        {"role": "assistant", "content": "a"},
    ]


async def test_a_turn_of_calls_alone_has_no_text_at_all() -> None:
    turn = ChatMessageAssistant(content="", tool_calls=[ToolCall("a", "f", {"x": 1})])
    sent, answer = await to_messages([turn])
    assert sent["content"] is None
    assert sent["tool_calls"][0]["function"] == {"name": "f", "arguments": '{"x": 1}'}
    assert answer["role"] == "tool"


async def test_each_kind_of_reasoning_goes_back_in_the_field_it_came_in() -> None:
    turn = ChatMessageAssistant(
        content=[
            ContentReasoning(reasoning="plain "),
            ContentReasoning(reasoning="signed", signature="s"),
            ContentReasoning(reasoning="secret", redacted=True),
            ContentReasoning(reasoning="gem", redacted=True, internal="thought_signatures"),
            ContentText(text="one "),
            ContentText(text="two"),
        ]
    )
    (sent,) = await to_messages([turn])
    assert sent == {
        "role": "assistant",
        "content": "one two",
        "reasoning_content": "plain signed",
        "thinking_blocks": [
            {"type": "thinking", "thinking": "signed", "signature": "s"},
            {"type": "redacted_thinking", "data": "secret"},
        ],
        "provider_specific_fields": {"thought_signatures": ["gem"]},
    }


def test_without_tools_there_is_no_tool_choice_and_nothing_about_parallel_calls() -> None:
    assert to_tools([], "any") == {}
    assert to_parameters(GenerateConfig(parallel_tool_calls=False), has_tools=False) == {}


def test_a_budget_for_thinking_is_sent_as_one() -> None:
    sent = to_parameters(GenerateConfig(reasoning_tokens=1000, reasoning_effort="high"), has_tools=False)
    assert sent == {"reasoning_effort": "high", "thinking": {"type": "enabled", "budget_tokens": 1000}}


def test_every_setting_is_either_sent_or_inspects_or_said_to_be_left_out() -> None:
    config = GenerateConfig(temperature=1, max_retries=1, cache=True, best_of=2, batch=True, effort="low")
    assert not_sent(config) == ["batch", "best_of", "effort"]
