"""What a model says, over HTTP, as Inspect gets it."""

from __future__ import annotations

import json

import pytest
from inspect_ai.model import (
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
    ContentImage,
    ContentReasoning,
    ContentText,
    GenerateConfig,
    ResponseSchema,
)
from inspect_ai.tool import ToolCall, ToolChoice, ToolFunction, ToolInfo, ToolParam, ToolParams
from inspect_ai.util import JSONSchema

from tests.integration.models.conftest import Ask, Serve
from tests.servers.openai_server import Call, Reply

BASH = ToolInfo(
    name="bash",
    description="Run a command",
    parameters=ToolParams(properties={"cmd": ToolParam(type="string")}, required=["cmd"]),
)
NOW = ToolInfo(name="now", description="The time")
PIXEL = "data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"


async def test_a_text_comes_back_with_its_model_and_one_request(serve: Serve, model_of: Ask) -> None:
    server = serve(["hello"])
    output = await (await model_of(server)).generate("hi")
    assert (output.completion, output.stop_reason, output.model) == ("hello", "stop", "gpt-4o-mini")
    assert output.response_id == "chatcmpl-1"
    assert server.attempts == [1]
    assert server.requests[0].headers["authorization"] == "Bearer key"


async def test_parallel_calls_keep_their_order_ids_and_arguments(serve: Serve, model_of: Ask) -> None:
    server = serve([[("bash", {"cmd": "ls"}), ("now", {})]])
    output = await (await model_of(server)).generate("hi", tools=[BASH, NOW])
    assert [(c.id, c.function, c.arguments, c.parse_error) for c in output.message.tool_calls or ()] == [
        ("call_1_0", "bash", {"cmd": "ls"}, None),
        ("call_1_1", "now", {}, None),
    ]
    assert output.stop_reason == "tool_calls"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ('{"cmd": "ls', "Unterminated"),
        ("[1]", "one JSON object"),
        ('"ls"', "one JSON object"),
        ("ls -la", "one JSON object"),
        ("", "required: cmd"),
        ("  ", "required: cmd"),
        ("null", "one JSON object"),
        ('{"cmd": ' * 120 + "1" + "}" * 120, "depth"),
    ],
    ids=["cut", "array", "string", "bare words", "empty", "blank", "null", "deep"],
)
async def test_arguments_that_are_no_object_are_an_error_for_the_model_and_never_a_guess(
    serve: Serve, model_of: Ask, arguments: str, said: str
) -> None:
    server = serve([Reply(calls=(Call("bash", arguments),))])
    output = await (await model_of(server)).generate("hi", tools=[BASH])
    (call,) = output.message.tool_calls or ()
    assert call.arguments == {}
    assert said in (call.parse_error or "")
    assert (output.metadata or {})["tool_args_invalid"] == 1
    assert server.attempts == [1]


@pytest.mark.parametrize("arguments", ["", " ", "{}"])
async def test_no_arguments_are_right_for_a_tool_that_requires_none(
    serve: Serve, model_of: Ask, arguments: str
) -> None:
    server = serve([Reply(calls=(Call("now", arguments),))])
    output = await (await model_of(server)).generate("hi", tools=[NOW])
    (call,) = output.message.tool_calls or ()
    assert (call.arguments, call.parse_error) == ({}, None)
    assert output.metadata is None


async def test_a_megabyte_of_arguments_and_half_a_surrogate_pair_come_through(
    serve: Serve, model_of: Ask
) -> None:
    big, half = json.dumps({"cmd": "x" * 1_000_000}), '{"cmd": "a\\ud800b\\u0000"}'
    server = serve([Reply(calls=(Call("bash", big), Call("bash", half)), text="c\ud800d")])
    output = await (await model_of(server)).generate("hi", tools=[BASH])
    first, second = output.message.tool_calls or ()
    assert len(first.arguments["cmd"]) == 1_000_000
    assert second.arguments == {"cmd": "a\ufffdb\x00"}
    assert output.completion == "c\ufffdd"
    assert output.model_dump_json()


async def test_a_reply_nested_beyond_reading_is_the_models_doing_and_not_asked_again(
    serve: Serve, model_of: Ask
) -> None:
    server = serve([Reply(calls=(Call("bash", '{"cmd": ' * 10_000),))])
    output = await (await model_of(server)).generate("hi", tools=[BASH])
    assert "nested too deeply" in output.completion
    assert server.attempts == [1]


async def test_call_ids_that_are_missing_or_used_before_get_a_number(serve: Serve, model_of: Ask) -> None:
    reply = Reply(calls=(Call("now", {}, id="a"), Call("now", {}, id="a"), Call("now", {}, id="b")))
    history = [
        ChatMessageUser(content="hi"),
        ChatMessageAssistant(content="", tool_calls=[_call("b")]),
        ChatMessageTool(content="noon", tool_call_id="b", function="now"),
    ]
    output = await (await model_of(serve([reply]))).generate(history, tools=[NOW])
    assert [call.id for call in output.message.tool_calls or ()] == ["a", "a_2", "b_2"]
    output = await (await model_of(serve([Reply(calls=(Call("now", {}, id=""),))]))).generate(
        "hi", tools=[NOW]
    )
    assert (output.message.tool_calls or ())[0].id


async def test_every_call_of_the_history_goes_out_with_exactly_one_result(
    serve: Serve, model_of: Ask
) -> None:
    server = serve(["ok"])
    history = [
        ChatMessageUser(content="hi"),
        ChatMessageAssistant(content="", tool_calls=[_call("a"), _call("b"), _call("b")]),
        ChatMessageTool(content="second", tool_call_id="b", function="now"),
        ChatMessageTool(content="lost", tool_call_id="z", function="now"),
    ]
    await (await model_of(server)).generate(history, tools=[NOW])
    sent = server.requests[0].messages
    assert [call["id"] for call in sent[1]["tool_calls"]] == ["a", "b", "b_2"]
    assert [(m["role"], m.get("tool_call_id")) for m in sent[2:]] == [
        ("tool", "a"),
        ("tool", "b"),
        ("tool", "b_2"),
        ("user", None),
    ]
    assert "no result" in sent[2]["content"]
    assert sent[3]["content"] == "second"
    assert "lost" in sent[5]["content"]


async def test_reasoning_is_kept_and_sent_back_as_it_came(serve: Serve, model_of: Ask) -> None:
    server = serve([Reply(text="4", reasoning="2 and 2"), "ok"])
    model = await model_of(server, "deepseek/deepseek-chat")
    output = await model.generate("2+2?")
    assert output.message.content[0] == ContentReasoning(reasoning="2 and 2")
    await model.generate([ChatMessageUser(content="2+2?"), output.message, ChatMessageUser(content="sure?")])
    assert server.requests[1].messages[1]["reasoning_content"] == "2 and 2"
    assert server.requests[1].messages[1]["content"] == "4"


async def test_signed_thinking_goes_back_with_its_signature(serve: Serve, model_of: Ask) -> None:
    thinking = {"type": "thinking", "thinking": "hmm", "signature": "s1"}
    server = serve([Reply(calls=(Call("now", {}),), message={"blocks": [thinking]}), "ok"])
    model = await model_of(server, "anthropic/claude-sonnet-4-5")
    output = await model.generate("hi", tools=[NOW])
    result = ChatMessageTool(content="noon", tool_call_id="call_1_0", function="now")
    await model.generate([ChatMessageUser(content="hi"), output.message, result], tools=[NOW])
    assert server.requests[1].messages[1]["content"][0] == thinking


async def test_images_are_sent_and_kept_out_of_the_log(serve: Serve, model_of: Ask) -> None:
    server = serve(["a pixel"])
    message = ChatMessageUser(content=[ContentText(text="what?"), ContentImage(image=PIXEL)])
    api = (await model_of(server)).api
    _, call = await api.generate([message], [], "auto", GenerateConfig())
    assert server.requests[0].messages[0]["content"][1]["image_url"]["url"] == PIXEL
    assert PIXEL not in call.model_dump_json()
    assert "key" not in call.request


@pytest.mark.parametrize(
    ("choice", "sent"),
    [
        ("auto", "auto"),
        ("any", "required"),
        ("none", "none"),
        (ToolFunction("now"), {"type": "function", "function": {"name": "now"}}),
    ],
)
async def test_tool_choice_is_translated(
    serve: Serve, model_of: Ask, choice: ToolChoice, sent: object
) -> None:
    server = serve(["ok"])
    await (await model_of(server)).generate("hi", tools=[BASH, NOW], tool_choice=choice)
    assert server.requests[0].body["tool_choice"] == sent


@pytest.mark.parametrize(
    ("finish", "reason"),
    [
        ("stop", "stop"),
        ("length", "max_tokens"),
        ("content_filter", "content_filter"),
        ("tool_calls", "tool_calls"),
    ],
)
async def test_stop_reasons_are_mapped(serve: Serve, model_of: Ask, finish: str, reason: str) -> None:
    output = await (await model_of(serve([Reply(text="x", finish=finish)]))).generate("hi")
    assert output.stop_reason == reason


async def test_a_refusal_is_marked_as_one(serve: Serve, model_of: Ask) -> None:
    server = serve([Reply(message={"refusal": "I will not"}, finish="content_filter")])
    output = await (await model_of(server)).generate("hi")
    assert output.message.content == [ContentText(text="I will not", refusal=True)]
    assert output.choices[0].stop_details is not None


async def test_settings_schema_seed_and_log_probabilities_reach_the_model(
    serve: Serve, model_of: Ask
) -> None:
    logprobs = {"content": [{"token": "x", "logprob": -0.5, "bytes": [120], "top_logprobs": []}]}
    server = serve([Reply(text="x", choice={"logprobs": logprobs})])
    schema = ResponseSchema(name="answer", json_schema=JSONSchema(type="object"), strict=True)
    config = GenerateConfig(
        seed=7,
        temperature=0.5,
        max_tokens=10,
        stop_seqs=["END"],
        logprobs=True,
        top_logprobs=1,
        parallel_tool_calls=False,
        response_schema=schema,
        logit_bias={42: 1.0},
        extra_headers={"x-trial": "1"},
        extra_body={"foo": 1},
    )
    output = await (await model_of(server, config=config)).generate("hi", tools=[NOW])
    sent = server.requests[0].body
    assert {k: sent[k] for k in ("seed", "temperature", "max_tokens", "stop", "logprobs", "foo")} == {
        "seed": 7,
        "temperature": 0.5,
        "max_tokens": 10,
        "stop": ["END"],
        "logprobs": True,
        "foo": 1,
    }
    assert sent["parallel_tool_calls"] is False
    assert sent["logit_bias"] == {"42": 1.0}
    assert sent["response_format"]["json_schema"]["name"] == "answer"
    assert server.requests[0].headers["x-trial"] == "1"
    assert output.choices[0].logprobs is not None
    assert output.choices[0].logprobs.content[0].logprob == -0.5


async def test_a_prompt_is_cached_where_the_provider_has_to_be_told(serve: Serve, model_of: Ask) -> None:
    server = serve(["x"])
    history = [ChatMessageSystem(content="s"), ChatMessageUser(content="u"), ChatMessageUser(content="v")]
    config = GenerateConfig(cache_prompt=True)
    await (await model_of(server, "anthropic/claude-sonnet-4-5", config=config)).generate(history)
    sent = server.requests[0].body
    assert sent["system"][-1]["cache_control"] == {"type": "ephemeral"}
    assert sent["messages"][-1]["content"][-1]["cache_control"] == {"type": "ephemeral"}


async def test_a_setting_without_a_way_to_the_model_is_said_in_the_output(
    serve: Serve, model_of: Ask, caplog: pytest.LogCaptureFixture
) -> None:
    model = await model_of(serve(["a", "b"]), config=GenerateConfig(best_of=3, max_retries=2))
    for _ in range(2):
        output = await model.generate("hi")
        assert (output.metadata or {})["settings_not_sent"] == ["best_of"]
    assert caplog.text.count("best_of") == 1


async def test_a_setting_that_the_model_does_not_take_is_an_error_unless_dropping_is_allowed(
    serve: Serve, model_of: Ask
) -> None:
    server = serve(["x"])
    strict = await model_of(server, "anthropic/claude-sonnet-4-5", config=GenerateConfig(seed=1))
    with pytest.raises(Exception, match=r"^\[config:model\] .*'seed'.*drop_params=true"):
        await strict.generate("hi")
    assert server.requests == []
    lenient = await model_of(
        server, "anthropic/claude-sonnet-4-5", config=GenerateConfig(seed=1), drop_params=True
    )
    output = await lenient.generate("hi")
    assert (output.metadata or {})["settings_dropped"] == ["seed"]


async def test_model_arguments_that_are_not_ours_go_to_litellm(serve: Serve, model_of: Ask) -> None:
    server = serve(["x"])
    model = await model_of(server, user="me", extra_headers={"x-a": "b"}, api_version="v9")
    await model.generate("hi")
    assert server.requests[0].body["user"] == "me"
    assert server.requests[0].headers["x-a"] == "b"


def _call(name: str) -> ToolCall:
    return ToolCall(id=name, function="now", arguments={})
