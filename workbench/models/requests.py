"""Inspect's conversation, tools and settings -> the arguments of a LiteLLM completion."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ContentReasoning,
    ContentText,
    GenerateConfig,
    ResponseSchema,
)
from inspect_ai.tool import ToolCall, ToolChoice, ToolFunction, ToolInfo

from workbench.models.history import settled

SIGNATURES = "thought_signatures"
"""Marks reasoning that is only a signature to be sent back (Gemini)."""

_SENT_AS = {
    "max_tokens": "max_tokens",
    "temperature": "temperature",
    "top_p": "top_p",
    "top_k": "top_k",
    "stop_seqs": "stop",
    "frequency_penalty": "frequency_penalty",
    "presence_penalty": "presence_penalty",
    "seed": "seed",
    "num_choices": "n",
    "logprobs": "logprobs",
    "top_logprobs": "top_logprobs",
    "reasoning_effort": "reasoning_effort",
    "verbosity": "verbosity",
    "extra_headers": "extra_headers",
    "extra_body": "extra_body",
}
_SENT_OTHERWISE = {"cache_prompt", "logit_bias", "parallel_tool_calls", "reasoning_tokens", "response_schema"}
_ALWAYS_TAKEN = {"extra_body", "extra_headers", "top_k"}
DROPPABLE = frozenset(
    {
        *_SENT_AS.values(),
        "logit_bias",
        "parallel_tool_calls",
        "response_format",
        "thinking",
        "tools",
        "tool_choice",
    }
    - _ALWAYS_TAKEN
)
"""What LiteLLM leaves out, where that is allowed, for a provider that does not take it."""

_CACHED_UP_TO = [{"location": "message", "role": "system"}, {"location": "message", "index": -1}]
"""Marks for a provider that caches a prompt only where it is told to (Anthropic)."""

_NEVER_SENT = {
    "adaptive_connections",
    "attempt_timeout",
    "cache",
    "fail_on_refusal",
    "max_connections",
    "max_retries",
    "max_tool_output",
    "reasoning_history",
    "stream_idle_timeout",
    "system_message",
    "timeout",
}
"""Settings that Inspect itself acts on."""


async def to_messages(messages: Sequence[ChatMessage]) -> list[dict[str, Any]]:
    """The conversation in OpenAI's format, which LiteLLM translates for each provider.

    The invariant of `history` holds for what is returned. Reasoning goes back as it came: signed
    blocks as blocks, other reasoning as ``reasoning_content``.
    """
    # Inspect's public function of this name looks the version of a package up on disk at every call
    from inspect_ai.model._openai import messages_to_openai

    out: list[dict[str, Any]] = []
    for message in settled(messages):
        if isinstance(message, ChatMessageAssistant):
            out.append(_assistant(message))
        else:
            out.extend(dict(each) for each in await messages_to_openai([message]))
    return out


def to_tools(tools: Sequence[ToolInfo], choice: ToolChoice) -> dict[str, Any]:
    """``tools`` and ``tool_choice``, both left out where there are no tools."""
    if not tools:
        return {}
    functions = [
        {
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.parameters.model_dump(exclude_none=True),
        }
        for tool in tools
    ]
    chosen: Any = "required" if choice == "any" else choice
    if isinstance(choice, ToolFunction):
        chosen = {"type": "function", "function": {"name": choice.name}}
    return {
        "tools": [{"type": "function", "function": function} for function in functions],
        "tool_choice": chosen,
    }


def to_parameters(config: GenerateConfig, has_tools: bool) -> dict[str, Any]:
    """The settings of one call, under LiteLLM's names."""
    given = config.model_dump(exclude_none=True)
    sent = {name: given[ours] for ours, name in _SENT_AS.items() if ours in given}
    if config.logit_bias is not None:
        sent["logit_bias"] = {str(token): bias for token, bias in config.logit_bias.items()}
    if config.parallel_tool_calls is not None and has_tools:
        sent["parallel_tool_calls"] = config.parallel_tool_calls
    if config.reasoning_tokens is not None:
        sent["thinking"] = {"type": "enabled", "budget_tokens": config.reasoning_tokens}
    if config.response_schema is not None:
        sent["response_format"] = _response_format(config.response_schema)
    if config.cache_prompt is True:
        sent["cache_control_injection_points"] = _CACHED_UP_TO
    return sent


def not_sent(config: GenerateConfig) -> list[str]:
    """Names of the settings given that this provider has no way to send, sorted."""
    given = config.model_dump(exclude_none=True).keys()
    return sorted(given - _SENT_AS.keys() - _SENT_OTHERWISE - _NEVER_SENT)


def _response_format(schema: ResponseSchema) -> dict[str, Any]:
    described: dict[str, Any] = {
        "name": schema.name,
        "description": schema.description,
        "schema": schema.json_schema.model_dump(exclude_none=True),
        "strict": schema.strict,
    }
    kept = {name: value for name, value in described.items() if value is not None}
    return {"type": "json_schema", "json_schema": kept}


def _assistant(message: ChatMessageAssistant) -> dict[str, Any]:
    parts = message.content_list
    text = "".join(part.text for part in parts if isinstance(part, ContentText))
    sent: dict[str, Any] = {"role": "assistant", "content": text}
    if message.tool_calls:
        # an empty text beside calls is refused by some and replaced by others
        sent |= {"content": text or None, "tool_calls": [_call(call) for call in message.tool_calls]}
    return sent | _reasoning([part for part in parts if isinstance(part, ContentReasoning)])


def _call(call: ToolCall) -> dict[str, Any]:
    function = {"name": call.function, "arguments": json.dumps(call.arguments)}
    return {"id": call.id, "type": "function", "function": function}


def _reasoning(parts: Sequence[ContentReasoning]) -> dict[str, Any]:
    signatures = [part.reasoning for part in parts if part.internal == SIGNATURES]
    thoughts = [part for part in parts if part.internal != SIGNATURES]
    blocks = [_block(part) for part in thoughts if part.signature is not None or part.redacted]
    text = "".join(part.reasoning for part in thoughts if not part.redacted)
    sent: dict[str, Any] = {}
    if text:
        sent["reasoning_content"] = text
    if blocks:
        sent["thinking_blocks"] = blocks
    if signatures:
        sent["provider_specific_fields"] = {SIGNATURES: signatures}
    return sent


def _block(part: ContentReasoning) -> dict[str, Any]:
    if part.redacted:
        return {"type": "redacted_thinking", "data": part.reasoning}
    return {"type": "thinking", "thinking": part.reasoning, "signature": part.signature}
