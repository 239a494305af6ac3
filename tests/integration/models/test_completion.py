"""Answers for routing, over real HTTP: asked once, kept, counted, and given up in time."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from tests.servers.openai_server import OpenAIServer, Reply, refusal
from workbench.core.errors import MachineError, UsageError
from workbench.models.completion import Completer, Completion
from workbench.routing.language import Ask, Call, Message, Tool, system, user

ASK = Ask("openai/scripted", (system("Be brief."), user("Which?")), 0.0, 64)
SEARCH = Tool("search", "Search.", '{"type": "object", "properties": {"query": {"type": "string"}}}')


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")


def completer(
    cache: Path,
    server: OpenAIServer,
    waits: list[float] | None = None,
    attempts: int = 5,
    timeout: float = 300.0,
) -> Completer:
    kept = [] if waits is None else waits
    return Completer(cache, base_url=server.url, attempts=attempts, timeout=timeout, sleep=kept.append)


def test_a_question_is_sent_as_written_and_its_answer_counted(tmp_path: Path) -> None:
    with OpenAIServer(["3"]) as server:
        complete = completer(tmp_path, server)
        answer = complete(ASK)
    assert (answer.text, answer.calls) == ("3", ())
    (request,) = server.requests
    assert request.messages == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Which?"},
    ]
    assert request.body["temperature"] == 0.0
    assert request.body["max_tokens"] == 64
    spent = complete.spending
    assert (spent.asked, spent.kept, spent.unpriced) == (1, 0, 1)
    assert spent.input_tokens > 0
    assert spent.line().startswith("language model: 1 calls, 0 answers from the cache,")
    assert spent.line().endswith("cost unknown")


def test_a_kept_answer_needs_no_network(tmp_path: Path) -> None:
    with OpenAIServer(["3"]) as server:
        completer(tmp_path, server)(ASK)
    offline = completer(tmp_path, server)
    assert offline(ASK).text == "3"
    assert (offline.spending.asked, offline.spending.kept) == (0, 1)
    assert len(server.requests) == 1


def test_another_question_is_another_answer(tmp_path: Path) -> None:
    with OpenAIServer(["1", "2", "3"]) as server:
        complete = completer(tmp_path, server)
        asks = [ASK, Ask(ASK.model, ASK.messages, 0.5, 64), Ask("openai/other", ASK.messages, 0.0, 64)]
        assert [complete(ask).text for ask in asks] == ["1", "2", "3"]
        assert [complete(ask).text for ask in asks] == ["1", "2", "3"]


def test_a_damaged_kept_answer_is_asked_for_again(tmp_path: Path) -> None:
    with OpenAIServer(["3", "4"]) as server:
        completer(tmp_path, server)(ASK)
        (path,) = (tmp_path / "completions").glob("*/*.json")
        path.write_text(path.read_text()[:-9])
        assert completer(tmp_path, server)(ASK).text == "4"
        assert json.loads(path.read_text())["text"] == "4"


def test_tool_calls_go_both_ways(tmp_path: Path) -> None:
    history = (
        user("Find it"),
        Message("assistant", "", (Call("c1", "search", '{"query": "pdf"}'),)),
        Message("tool", "data/pdf: pdf", (), "c1"),
    )
    with OpenAIServer([("search", {"query": "csv"})]) as server:
        answer = completer(tmp_path, server)(Ask("openai/scripted", history, None, 64, (SEARCH,)))
    ((_, name, arguments),) = answer.calls
    assert (name, json.loads(arguments)) == ("search", {"query": "csv"})
    sent = server.requests[0]
    assert sent.tools == ["search"]
    assert sent.messages[1]["tool_calls"][0]["function"] == {
        "name": "search",
        "arguments": '{"query": "pdf"}',
    }
    assert sent.messages[2] == {"role": "tool", "content": "data/pdf: pdf", "tool_call_id": "c1"}
    assert "temperature" not in sent.body


def test_what_will_pass_is_waited_for_and_what_will_not_is_not(tmp_path: Path) -> None:
    waits: list[float] = []
    busy = refusal(429, "slow down", retry_after="7")
    with OpenAIServer([busy, Reply(status=503, body="{}"), "3"]) as server:
        assert completer(tmp_path, server, waits)(ASK).text == "3"
    assert 7 <= waits[0] <= 7.7
    assert len(waits) == 2
    with (
        OpenAIServer([refusal(401, "wrong key")]) as server,
        pytest.raises(UsageError, match="wrong key; give its key as OPENAI_API_KEY"),
    ):
        completer(tmp_path / "other", server, waits)(ASK)
    assert len(server.requests) == 1


def test_a_model_that_never_answers_is_given_up(tmp_path: Path) -> None:
    waits: list[float] = []
    with (
        OpenAIServer(lambda request: Reply(status=503, body="{}")) as server,
        pytest.raises(MachineError, match="given up after 3 attempts"),
    ):
        completer(tmp_path, server, waits, attempts=3)(ASK)
    assert len(server.requests) == 3
    assert len(waits) == 2
    assert not list(tmp_path.rglob("*.json"))


def test_the_environment_may_name_model_and_endpoint(tmp_path: Path) -> None:
    with OpenAIServer(["3"]) as server:
        environ = {"SKILL_WORKBENCH_LLM": "openai/theirs", "SKILL_WORKBENCH_LLM_BASE_URL": server.url}
        assert Completer.from_environment(tmp_path, environ)(ASK).text == "3"
    assert server.requests[0].body["model"] == "theirs"
    assert Completer.from_environment(tmp_path, {}).name("a/b") == "a/b"


def test_another_model_may_stand_in(tmp_path: Path) -> None:
    with OpenAIServer(["3"]) as server:
        complete = Completer(tmp_path, "openai/stand-in", server.url)
        assert complete.name("hosted_vllm/any") == "openai/stand-in"
        complete(ASK)
    assert server.requests[0].body["model"] == "stand-in"


def test_a_folder_that_cannot_be_written_costs_the_cache_and_not_the_answer(tmp_path: Path) -> None:
    (tmp_path / "completions").write_text("a file")
    with OpenAIServer(["3", "4"]) as server:
        complete = completer(tmp_path, server)
        assert [complete(ASK).text, complete(ASK).text] == ["3", "4"]


def test_an_answer_without_a_word_is_not_kept(tmp_path: Path) -> None:
    with OpenAIServer(["  ", "3", "4"]) as server:
        complete = completer(tmp_path, server)
        assert complete(ASK).text.strip() == ""
        assert not list(tmp_path.rglob("*.json"))
        assert complete(ASK).text == "3"
        (path,) = tmp_path.rglob("*.json")
        path.write_text(Completion(text="").model_dump_json())  # as earlier versions kept it
        assert complete(ASK).text == "4"


@pytest.mark.parametrize("named", ["argument", "environment"])
def test_two_servers_under_one_name_do_not_share_answers(
    tmp_path: Path, named: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with OpenAIServer(["first"]) as one, OpenAIServer(["second"]) as other:
        for server, text in ((one, "first"), (other, "second"), (one, "first")):
            if named == "environment":
                monkeypatch.setenv("OPENAI_API_BASE", server.url)
            url = server.url + "/" * (server is one) if named == "argument" else None
            assert Completer(tmp_path, base_url=url)(ASK).text == text
    assert [len(server.requests) for server in (one, other)] == [1, 1]


def test_a_server_that_does_not_answer_in_time_is_given_up(tmp_path: Path) -> None:
    def slow(request: object) -> str:
        time.sleep(1)
        return "3"

    with (
        OpenAIServer(slow) as server,
        pytest.raises(MachineError, match=r"connection: .*given up after 2 attempts"),
    ):
        completer(tmp_path, server, attempts=2, timeout=0.2)(ASK)


def test_a_question_that_is_too_long_says_which_model_and_what_to_do(tmp_path: Path) -> None:
    full = refusal(400, "context length exceeded, max 4096 tokens")
    with OpenAIServer([full]) as server, pytest.raises(MachineError) as caught:
        completer(tmp_path, server)(ASK)
    assert str(caught.value).startswith("openai/scripted: context length exceeded, max 4096 tokens; ")
    assert "lower `top`, `chars` or `body_chars`" in str(caught.value)
    assert "--llm PROVIDER/MODEL" in str(caught.value)
