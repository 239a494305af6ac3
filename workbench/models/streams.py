"""A streamed reply, gathered into the whole one that the rest of the room knows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from inspect_ai.model import StreamReasoningEvent, StreamTextEvent, StreamToolCallEvent
from inspect_ai.model._stream import (
    model_stream_requested,
    report_model_stream_delta,
    report_model_stream_progress,
    report_model_stream_start,
)

from workbench.models.errors import RetryableError
from workbench.models.library import load_litellm


async def gather(request: Mapping[str, Any], attempts: int) -> Any:
    """Ask for a stream, watch it for Inspect, and return the whole reply (LiteLLM's ``ModelResponse``).

    LiteLLM counts tokens itself where the provider reported none; such a usage is taken out again.

    Raises:
        RetryableError: the stream ended without a single chunk.
    """
    litellm = load_litellm()
    stream = await litellm.acompletion(**request, stream=True, stream_options={"include_usage": True})
    report_model_stream_start()
    chunks = []
    async for chunk in stream:
        chunks.append(chunk)
        await _report(chunk)
    # LiteLLM ends a stream of nothing with a chunk of its own; `stream.chunks` are those that came
    received = getattr(stream, "chunks", chunks)
    whole = litellm.stream_chunk_builder(chunks) if received else None
    if whole is None:
        raise RetryableError(f"{request['model']}: unreadable answer: an empty stream", limit=attempts)
    reported = [chunk.usage for chunk in received if getattr(chunk, "usage", None) is not None]
    whole.usage = _as_reported(whole.usage, reported)
    return whole


def watched() -> bool:
    """Whether the caller of Inspect asked to see the reply as it comes."""
    return model_stream_requested()


def _as_reported(summed: Any, reported: list[Any]) -> Any:
    """The usage of the last chunks, with reasoning tokens only as far as the provider counted them."""
    if not reported:
        return None
    details = [getattr(usage, "completion_tokens_details", None) for usage in reported]
    counted = [each.reasoning_tokens for each in details if each and each.reasoning_tokens is not None]
    if getattr(summed, "completion_tokens_details", None):
        summed.completion_tokens_details.reasoning_tokens = counted[-1] if counted else None
    return summed


async def _report(chunk: Any) -> None:
    """Tell Inspect that the stream lives, and what came where somebody watches."""
    delta = chunk.choices[0].delta if chunk.choices else None
    if delta is None or not model_stream_requested():
        report_model_stream_progress()
        return
    if getattr(delta, "reasoning_content", None):
        await report_model_stream_delta(StreamReasoningEvent(reasoning=delta.reasoning_content))
    if delta.content:
        await report_model_stream_delta(StreamTextEvent(text=delta.content))
    for call in delta.tool_calls or ():
        event = StreamToolCallEvent(
            id=call.id, function=call.function.name, arguments=call.function.arguments or ""
        )
        await report_model_stream_delta(event)
    report_model_stream_progress()
