"""LiteLLM's reply -> Inspect's output. Nothing is invented: unknown usage is ``None``, bad arguments
are an error that the model gets to read, and an id is only changed where it is not unique."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessageAssistant,
    Content,
    ContentReasoning,
    ContentText,
    Logprobs,
    ModelOutput,
    ModelUsage,
    StopDetails,
    StopReason,
)
from inspect_ai.model._call_tools import parse_tool_call
from inspect_ai.tool import ToolCall, ToolInfo

from workbench.models.history import own_id
from workbench.models.requests import SIGNATURES

_SURROGATES = re.compile("[\ud800-\udfff]")
_STOP: Mapping[str, StopReason] = {
    "stop": "stop",
    "eos": "stop",
    "length": "max_tokens",
    "max_tokens": "max_tokens",
    "model_length": "model_length",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "content_filter": "content_filter",
}
_SHOWN = 500


def clean(value: Any) -> Any:
    """A JSON value whose texts can be encoded: half of a surrogate pair becomes U+FFFD."""
    if isinstance(value, str):
        return _SURROGATES.sub("\ufffd", value)
    if isinstance(value, dict):
        return {clean(key): clean(each) for key, each in value.items()}
    return [clean(each) for each in value] if isinstance(value, list) else value


def to_output(
    reply: Mapping[str, Any], usage: ModelUsage | None, tools: Sequence[ToolInfo], taken: set[str]
) -> ModelOutput:
    """The output of a reply (as a plain dict) that has choices.

    Args:
        usage: what the call used, if known.
        tools: the tools offered, to check arguments against.
        taken: ids of the conversation's tool calls; those of the reply are added.
    """
    name = str(reply.get("model") or "")
    choices = [_choice(choice, name, tools, taken) for choice in reply["choices"]]
    refused = sum(
        call.parse_error is not None for choice in choices for call in choice.message.tool_calls or ()
    )
    return ModelOutput(
        model=name,
        choices=choices,
        usage=usage,
        response_id=reply.get("id"),
        metadata={"tool_args_invalid": refused} if refused else None,
    )


def to_usage(reported: Any) -> ModelUsage | None:
    """Token counts of a reply, ``None`` where the provider reported none.

    LiteLLM fills in zeros for a usage that is missing; no request has zero tokens. Its prompt
    tokens hold the cached ones, Inspect's input tokens do not.
    """
    if reported is None:
        return None
    prompt, output = _count(reported, "prompt_tokens"), _count(reported, "completion_tokens")
    if not prompt or output is None:
        return None
    asked = getattr(reported, "prompt_tokens_details", None)
    answered = getattr(reported, "completion_tokens_details", None)
    read, write = _count(asked, "cached_tokens"), _count(asked, "cache_creation_tokens")
    return ModelUsage(
        input_tokens=max(prompt - (read or 0) - (write or 0), 0),
        output_tokens=output,
        total_tokens=prompt + output,
        input_tokens_cache_read=read,
        input_tokens_cache_write=write,
        reasoning_tokens=_count(answered, "reasoning_tokens"),
    )


def to_call(call: Mapping[str, Any], tools: Sequence[ToolInfo], taken: set[str]) -> ToolCall:
    """A tool call; arguments that are not one JSON object become its `parse_error`.

    Such a call is not carried out: Inspect answers it with the error. No arguments at all are
    right where the tool requires none.
    """
    function = call.get("function") or {}
    name, text = str(function.get("name") or ""), str(function.get("arguments") or "").strip()
    own = own_id(call.get("id"), taken)
    if not text.startswith("{"):
        required = next((tool.parameters.required for tool in tools if tool.name == name), [])
        if not text and not required:
            return ToolCall(id=own, function=name, arguments={})
        found = f"found: {text[:_SHOWN]}" if text else f"found none; required: {', '.join(required)}"
        error = f"Error parsing the arguments of {name}: they must be one JSON object; {found}"
        return ToolCall(id=own, function=name, arguments={}, parse_error=error)
    parsed = parse_tool_call(own, name, text, list(tools))
    return replace(parsed, arguments=clean(parsed.arguments))


def _choice(
    choice: Mapping[str, Any], model: str, tools: Sequence[ToolInfo], taken: set[str]
) -> ChatCompletionChoice:
    message = choice.get("message") or {}
    calls = [to_call(call, tools, taken) for call in message.get("tool_calls") or ()]
    reason = _STOP.get(str(choice.get("finish_reason")), "unknown")
    refusal = message.get("refusal") or (message.get("provider_specific_fields") or {}).get("refusal")
    logprobs = (choice.get("logprobs") or {}).get("content")
    return ChatCompletionChoice(
        message=ChatMessageAssistant(
            content=_content(message, refusal), tool_calls=calls or None, model=model, source="generate"
        ),
        stop_reason="tool_calls" if calls and reason in {"stop", "unknown"} else reason,
        stop_details=StopDetails(type="refusal", explanation=refusal) if refusal else None,
        logprobs=Logprobs.model_validate({"content": logprobs}) if logprobs else None,
    )


def _content(message: Mapping[str, Any], refusal: str | None) -> str | list[Content]:
    text = refusal or message.get("content") or ""
    thoughts = _thoughts(message)
    if not thoughts and not refusal:
        return str(text)
    said = [ContentText(text=text, refusal=True if refusal else None)] if text else []
    return cast("list[Content]", [*thoughts, *said])


def _thoughts(message: Mapping[str, Any]) -> list[ContentReasoning]:
    """Reasoning: the signed blocks where there are any, else the plain text."""
    thoughts = [_thought(block) for block in message.get("thinking_blocks") or ()]
    plain = message.get("reasoning_content")
    if not thoughts and plain:
        thoughts = [ContentReasoning(reasoning=plain)]
    signatures = (message.get("provider_specific_fields") or {}).get(SIGNATURES) or ()
    return thoughts + [
        ContentReasoning(reasoning=signature, redacted=True, internal=SIGNATURES) for signature in signatures
    ]


def _thought(block: Mapping[str, Any]) -> ContentReasoning:
    if block.get("type") == "redacted_thinking":
        return ContentReasoning(reasoning=str(block.get("data") or ""), redacted=True)
    return ContentReasoning(reasoning=str(block.get("thinking") or ""), signature=block.get("signature"))


def _count(holder: Any, name: str) -> int | None:
    """A reported count; one that is missing or negative is none."""
    value = getattr(holder, name, None)
    return value if isinstance(value, int) and value >= 0 else None
