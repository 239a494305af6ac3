"""The invariant of a conversation: every tool call has exactly one result, under an id of its own.

Time limits, cancelled calls and compaction leave histories that a provider refuses. They are put
right before every request, always in the same way, so that a prefix stays the same prefix.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice, takewhile

from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageTool, ChatMessageUser
from inspect_ai.tool import ToolCall, ToolCallError

_NO_RESULT = ToolCallError("cancelled", "This call was not carried out; it has no result.")


def settled(messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    """The conversation with the invariant held.

    Results stand right behind their calls and in the same order. A call without a result gets one
    that says so; a result without a call is kept as a user message; an id that occurred before
    gets a number. What is in order already is returned as it is.
    """
    taken: set[str] = set()
    out: list[ChatMessage] = []
    position = 0
    while position < len(messages):
        message = messages[position]
        position += 1
        if isinstance(message, ChatMessageAssistant) and message.tool_calls:
            following = list(takewhile(_not_assistant, islice(messages, position, None)))
            position += len(following)
            out.extend(_settled_turn(message, message.tool_calls, following, taken))
        else:
            out.append(_without_call(message) if isinstance(message, ChatMessageTool) else message)
    return out


def own_id(wanted: str | None, taken: set[str]) -> str:
    """`wanted`, or with a number behind it where it is taken already; notes it as taken."""
    base = wanted or "call"
    name, number = base, 1
    while name in taken:
        number += 1
        name = f"{base}_{number}"
    taken.add(name)
    return name


def call_ids(messages: Iterable[ChatMessage]) -> set[str]:
    """Ids of all tool calls of a conversation."""
    turns = (message for message in messages if isinstance(message, ChatMessageAssistant))
    return {call.id for turn in turns for call in turn.tool_calls or ()}


def _settled_turn(
    turn: ChatMessageAssistant, calls: Sequence[ToolCall], following: list[ChatMessage], taken: set[str]
) -> list[ChatMessage]:
    results = [message for message in following if isinstance(message, ChatMessageTool)]
    others = [message for message in following if not isinstance(message, ChatMessageTool)]
    kept: list[ToolCall] = []
    answers: list[ChatMessage] = []
    for call in calls:
        answer = next((result for result in results if result.tool_call_id == call.id), None)
        if answer is not None:
            results.remove(answer)
        name = own_id(call.id, taken)
        kept.append(call if name == call.id else replace(call, id=name))
        answers.append(_answer(call, answer, name))
    if kept != list(calls):
        turn = turn.model_copy(update={"tool_calls": kept})
    return [turn, *answers, *map(_without_call, results), *others]


def _answer(call: ToolCall, answer: ChatMessageTool | None, name: str) -> ChatMessageTool:
    if answer is None:
        return ChatMessageTool(content="", tool_call_id=name, function=call.function, error=_NO_RESULT)
    return answer if answer.tool_call_id == name else answer.model_copy(update={"tool_call_id": name})


def _without_call(result: ChatMessageTool) -> ChatMessageUser:
    said = f"Error: {result.error.message}" if result.error else result.text
    return ChatMessageUser(content=f"Result of an earlier call of {result.function or 'a tool'}:\n{said}")


def _not_assistant(message: ChatMessage) -> bool:
    return not isinstance(message, ChatMessageAssistant)
