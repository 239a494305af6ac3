"""The scripted endpoint itself, as people start it by hand."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.integration.models.conftest import Serve
from tests.servers import openai_server
from tests.servers.openai_server import Reply, agents

STEPS = [["load_skill", {"skill": "x"}], [["bash", {"cmd": "ls"}], ["bash", {"cmd": "pwd"}]], "done"]
TOOLS = [{"type": "function", "function": {"name": name}} for name in ("load_skill", "bash")]


def said(url: str, *roles: str, prompt: str = "task-one", tools: object = TOOLS) -> dict[str, object]:
    """The message that the server says after a conversation of these roles."""
    messages = [{"role": role, "content": prompt} for role in ("user", *roles)]
    body = {"model": "scripted", "messages": messages, "tools": tools}
    answer = httpx.post(f"{url}/chat/completions", json=body, timeout=30)
    assert answer.status_code == 200, answer.text
    message: dict[str, object] = answer.json()["choices"][0]["message"]
    return message


@pytest.fixture
def by_hand(tmp_path: Path) -> Iterator[str]:
    """URL of a server that was started as a program."""
    script = tmp_path / "script.json"
    script.write_text(json.dumps({"agents": {"task-one": STEPS}, "default": ["nothing to do"]}))
    command = [sys.executable, openai_server.__file__, "--script", str(script), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        yield server.stdout.readline().strip()
        server.terminate()


def names(message: dict[str, object]) -> list[str]:
    """Functions that a message calls."""
    calls = message.get("tool_calls") or []
    assert isinstance(calls, list)
    return [call["function"]["name"] for call in calls]


def test_a_script_file_plays_the_agent_of_the_marker_step_by_step(by_hand: str) -> None:
    assert names(said(by_hand)) == ["load_skill"]
    assert names(said(by_hand, "assistant", "tool")) == ["bash", "bash"]
    assert said(by_hand, "assistant", "tool", "assistant", "tool", "tool")["content"] == "done"
    assert said(by_hand, *["assistant", "user"] * 5)["content"] == "done"
    assert said(by_hand, prompt="something else")["content"] == "nothing to do"


def test_a_step_whose_tool_is_not_offered_is_left_out(serve: Serve) -> None:
    server = serve(agents({"task-one": [("load_skill", {}), ("bash", {}), "done"]}))
    assert names(said(server.url, tools=TOOLS[1:])) == ["bash"]


def test_requests_with_one_body_are_attempts_of_one_call(serve: Serve) -> None:
    server = serve(["a", "a", "b"])
    for prompt in ("one", "one", "two"):
        said(server.url, prompt=prompt)
    assert server.attempts == [2, 1]


def test_a_script_that_is_played_out_says_so(serve: Serve) -> None:
    server = serve([Reply(text="a")])
    said(server.url)
    with pytest.raises(AssertionError, match="the script has no step 2"):
        said(server.url)
