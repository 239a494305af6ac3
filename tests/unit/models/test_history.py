"""The conversation's invariant: each call one result, each id once."""

from __future__ import annotations

from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
)
from inspect_ai.tool import ToolCall, ToolCallError

from workbench.models.history import call_ids, own_id, settled


def calls(*ids: str) -> ChatMessageAssistant:
    return ChatMessageAssistant(content="", tool_calls=[ToolCall(name, "f", {}) for name in ids])


def result(name: str, text: str = "") -> ChatMessageTool:
    return ChatMessageTool(content=text or f"result {name}", tool_call_id=name, function="f")


def shape(messages: list[ChatMessage]) -> list[str]:
    """Roles, with the ids that calls and results carry."""
    shown = []
    for message in messages:
        if isinstance(message, ChatMessageAssistant):
            shown.append("assistant " + ",".join(call.id for call in message.tool_calls or ()))
        elif isinstance(message, ChatMessageTool):
            shown.append(f"tool {message.tool_call_id}")
        else:
            shown.append(message.role)
    return shown


def test_a_conversation_in_order_is_returned_as_it_is() -> None:
    good = [
        ChatMessageSystem(content="s"),
        ChatMessageUser(content="u"),
        calls("a", "b"),
        result("a"),
        result("b"),
        ChatMessageUser(content="picture"),
        calls("c"),
        result("c"),
        ChatMessageAssistant(content="done"),
    ]
    assert all(after is before for after, before in zip(settled(good), good, strict=True))


def test_a_call_without_a_result_gets_one_that_says_so() -> None:
    out = settled([calls("a", "b"), result("b")])
    assert shape(out) == ["assistant a,b", "tool a", "tool b"]
    made = out[1]
    assert isinstance(made, ChatMessageTool)
    assert made.error is not None
    assert "not carried out" in made.error.message


def test_results_are_put_into_the_order_of_the_calls_and_before_other_messages() -> None:
    out = settled([calls("a", "b"), ChatMessageUser(content="u"), result("b"), result("a")])
    assert shape(out) == ["assistant a,b", "tool a", "tool b", "user"]


def test_the_second_result_of_one_call_becomes_a_user_message() -> None:
    out = settled([calls("a"), result("a", "first"), result("a", "second")])
    assert shape(out) == ["assistant a", "tool a", "user"]
    assert (out[1].text, out[2].text) == ("first", "Result of an earlier call of f:\nsecond")


def test_a_result_whose_call_was_compacted_away_is_kept_with_its_error() -> None:
    lost = ChatMessageTool(content="", tool_call_id="z", error=ToolCallError("timeout", "too slow"))
    (out,) = settled([lost])
    assert out.role == "user"
    assert "Error: too slow" in out.text


def test_duplicate_ids_are_numbered_within_a_turn_and_across_turns() -> None:
    out = settled([calls("a", "a"), result("a", "1"), result("a", "2"), calls("a", ""), result("a", "3")])
    assert shape(out) == [
        "assistant a,a_2",
        "tool a",
        "tool a_2",
        "assistant a_3,call",
        "tool a_3",
        "tool call",
    ]
    assert [message.text for message in out[1:3]] == ["1", "2"]


def test_putting_right_is_stable_and_a_prefix_stays_a_prefix() -> None:
    history = [calls("a", "a"), result("a"), calls("a"), result("a")]
    whole = settled(history)
    assert shape(settled(whole)) == shape(whole)
    assert shape(settled(history[:2])) == shape(whole)[:3]


def test_an_own_id_never_collides_with_a_number_that_was_there_already() -> None:
    taken = {"a", "a_2"}
    assert own_id("a", taken) == "a_3"
    assert own_id(None, taken) == "call"
    assert taken == {"a", "a_2", "a_3", "call"}


def test_the_ids_of_a_conversation_are_those_of_its_calls() -> None:
    assert call_ids([calls("a", "b"), result("z"), ChatMessageUser(content="u")]) == {"a", "b"}
