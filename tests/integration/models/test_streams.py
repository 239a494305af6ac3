"""Streamed replies: the same output as a whole one, and an end to streams that have none."""

from __future__ import annotations

import anyio
import pytest
from inspect_ai.model import GenerateConfig, StreamTextEvent

from tests.integration.models.conftest import Ask, Serve
from tests.servers.openai_server import Call, Reply
from workbench.core.errors import TrialError

REPLY = Reply(
    text="It is about to be noon.",
    reasoning="Which hour is it, then?",
    calls=(Call("now", {"zone": "UTC"}), Call("now", {"zone": "CET"})),
    usage={
        "prompt_tokens": 100,
        "completion_tokens": 20,
        "total_tokens": 120,
        "prompt_tokens_details": {"cached_tokens": 60},
        "completion_tokens_details": {"reasoning_tokens": 7},
    },
)


async def test_a_stream_is_put_together_to_what_a_whole_reply_says(serve: Serve, model_of: Ask) -> None:
    server = serve([REPLY, REPLY])
    streamed = await (await model_of(server, stream=True)).generate("hi")
    whole = await (await model_of(server)).generate("hi")
    assert [request.body.get("stream") for request in server.requests] == [True, None]
    same = {"content", "tool_calls"}
    assert streamed.message.model_dump(include=same) == whole.message.model_dump(include=same)
    assert streamed.usage == whole.usage
    assert (streamed.stop_reason, streamed.usage and streamed.usage.reasoning_tokens) == ("tool_calls", 7)


async def test_a_usage_that_the_provider_did_not_stream_is_unknown_and_not_counted_for_it(
    serve: Serve, model_of: Ask
) -> None:
    server = serve([Reply(text="x", usage=None), Reply(text="x", reasoning="some thoughts")])
    model = await model_of(server, stream=True)
    assert (await model.generate("a")).usage is None
    counted = (await model.generate("b")).usage
    assert counted is not None
    assert counted.reasoning_tokens is None


@pytest.mark.parametrize(
    "bad",
    [
        Reply(text="a text of some length", cut=3),
        Reply(text="a", events=({"error": {"message": "overloaded", "type": "server_error", "code": 503}},)),
    ],
    ids=["cut", "error event"],
)
async def test_a_stream_that_breaks_is_asked_again(serve: Serve, model_of: Ask, bad: Reply) -> None:
    server = serve([bad, "whole"])
    assert (await (await model_of(server, stream=True)).generate("hi")).completion == "whole"
    assert server.attempts == [2]


async def test_a_stream_without_an_event_is_asked_for_three_times(serve: Serve, model_of: Ask) -> None:
    server = serve([Reply(text="x", cut=0)] * 9)
    with pytest.raises(TrialError, match=r"^\[api\] .*given up after 3"):
        await (await model_of(server, stream=True)).generate("hi")
    assert server.attempts == [3]


async def test_a_stream_that_stalls_is_given_up_after_the_timeout(serve: Serve, model_of: Ask) -> None:
    server = serve([Reply(text="a text of some length", stall=3), "whole"])
    model = await model_of(server, stream=True, timeout=1.0)
    with anyio.fail_after(120):
        assert (await model.generate("hi")).completion == "whole"
    assert server.attempts == [2]


async def test_a_stream_that_falls_silent_is_given_up_by_inspects_idle_limit(
    serve: Serve, model_of: Ask
) -> None:
    server = serve([Reply(text="a text of some length", stall=3), "whole"])
    model = await model_of(server, config=GenerateConfig(stream_idle_timeout=1))
    with anyio.fail_after(120):
        assert (await model.generate("hi")).completion == "whole"
    assert [request.body.get("stream") for request in server.requests] == [True, True]


async def test_a_stream_that_trickles_is_given_up_by_inspects_limit_for_an_attempt(
    serve: Serve, model_of: Ask
) -> None:
    server = serve([Reply(text="word " * 1000, pause=0.2), "whole"])
    model = await model_of(server, stream=True, config=GenerateConfig(attempt_timeout=2))
    with anyio.fail_after(120):
        assert (await model.generate("hi")).completion == "whole"
    assert server.attempts == [2]


async def test_a_full_context_is_recognised_within_a_stream(serve: Serve, model_of: Ask) -> None:
    event = {
        "error": {"message": "prompt is too long: 9 tokens > 8 maximum", "type": "invalid_request_error"}
    }
    server = serve([Reply(text=None, events=(event,))] * 2)
    output = await (await model_of(server, stream=True)).generate("hi")
    assert output.stop_reason == "model_length"
    assert server.attempts == [1]


@pytest.mark.parametrize("config", [GenerateConfig(logprobs=True), GenerateConfig(num_choices=2)])
async def test_what_a_stream_would_lose_is_not_streamed(
    serve: Serve, model_of: Ask, config: GenerateConfig
) -> None:
    server = serve(["x"])
    await (await model_of(server, stream=True, config=config)).generate("hi")
    assert "stream" not in server.requests[0].body


async def test_whoever_watches_sees_the_text_as_it_comes(serve: Serve, model_of: Ask) -> None:
    seen: list[str] = []

    async def watch(event: object) -> None:
        if isinstance(event, StreamTextEvent):
            seen.append(event.text)

    server = serve(["one two three four"])
    await (await model_of(server)).generate("hi", on_stream=watch)
    assert len(seen) > 1
    assert "".join(seen) == "one two three four"
