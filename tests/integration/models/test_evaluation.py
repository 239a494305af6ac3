"""A scripted agent through a whole Inspect evaluation: what is booked, and when a run may not start."""

from __future__ import annotations

import gc
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import Task, eval
from inspect_ai.agent import react
from inspect_ai.dataset import Sample
from inspect_ai.event import ModelEvent, ToolEvent
from inspect_ai.log import EvalLog, EvalSample
from inspect_ai.model import get_model
from inspect_ai.scorer import includes
from inspect_ai.solver import generate
from inspect_ai.tool import Tool, tool

from tests.integration.models.conftest import Serve
from tests.servers.openai_server import Call, OpenAIServer, Reply, agents, refusal
from workbench.core.errors import policy, read_fault


@tool
def shout() -> Tool:
    async def execute(word: str) -> str:
        """Say a word loudly.

        Args:
            word: What to say.
        """
        return word.upper()

    return execute


# Inspect leaves streams and models open at the end of an evaluation
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")


@pytest.fixture(autouse=True)
def _collect_what_inspect_left() -> Iterator[None]:
    """Before the next test, in which such a warning would be an error."""
    yield
    gc.collect()


AGENT = Task(
    dataset=[Sample(input="task-one: shout", target="HEY"), Sample(input="task-two: nothing", target="no")],
    solver=react(tools=[shout()], submit=False),
    scorer=includes(),
)
QUESTION = Task(dataset=[Sample(input="hi", target="ok")], solver=generate(), scorer=includes())


def run(
    server: OpenAIServer, tmp_path: Path, task: Task = QUESTION, name: str = "gpt-4o-mini", **options: Any
) -> EvalLog:
    """Evaluate a task with the model at a server; the log comes back."""
    model_args = {"backoff": 0.01, **options.pop("model_args", {})}
    model = get_model(
        f"litellm/openai/{name}", base_url=server.url, api_key="key", memoize=False, **model_args
    )
    (log,) = eval(task, model=model, log_dir=str(tmp_path), display="none", **options)
    return log


def samples(log: EvalLog) -> list[EvalSample]:
    """The log's samples."""
    assert log.samples
    return log.samples


def test_a_scripted_agent_plays_each_task_by_its_marker(serve: Serve, tmp_path: Path) -> None:
    script = {
        "task-one": [("load_skill", {"skill": "x"}), ("shout", {"word": "hey"}), "HEY"],
        "task-two": ["no"],
    }
    server = serve(agents(script))
    log = run(server, tmp_path, AGENT)
    assert log.status == "success"
    one, two = samples(log)
    assert [event.result for event in one.events if isinstance(event, ToolEvent)] == ["HEY"]
    assert [next(iter(s.scores.values())).value for s in (one, two) if s.scores] == ["C", "C"]
    assert len(server.requests) == 3


def test_a_bad_call_is_answered_with_its_error_and_the_agent_goes_on(serve: Serve, tmp_path: Path) -> None:
    bad = (Call("shout", '{"word": "he', id="a"), Call("shout", {"word": "hey"}, id="a"), Call("gone", {}))
    server = serve([Reply(calls=bad), "HEY"])
    log = run(server, tmp_path, AGENT, limit=1)
    assert log.status == "success"
    sent = [message for message in server.requests[1].messages if message["role"] == "tool"]
    assert [message["tool_call_id"] for message in sent] == ["a", "a_2", "call_2_2"]
    assert "Error parsing" in sent[0]["content"]
    assert sent[1]["content"] == "HEY"
    assert "not found" in sent[2]["content"]


def test_waiting_for_a_rate_limit_is_not_the_agents_working_time(serve: Serve, tmp_path: Path) -> None:
    server = serve([refusal(429, "slow", retry_after="3"), "ok"])
    (sample,) = samples(run(server, tmp_path))
    assert server.attempts == [2]
    assert sample.total_time is not None
    assert sample.working_time is not None
    assert sample.total_time - sample.working_time >= 3


@pytest.mark.parametrize(
    ("reply", "cause"),
    [
        (refusal(401, "bad key"), "config:auth"),
        (refusal(404, "no such model"), "config:model"),
        (refusal(503, "down"), "api"),
        (Reply(body="<html>"), "api"),
    ],
)
def test_a_failed_call_leaves_its_cause_in_the_log(
    serve: Serve, tmp_path: Path, reply: Reply, cause: str
) -> None:
    log = run(serve([reply] * 9), tmp_path, max_retries=2)
    (sample,) = samples(log)
    assert log.status == "error"
    assert sample.error is not None
    assert read_fault(sample.error.message)[0] == cause
    assert policy(cause).stops_run == cause.startswith("config")


def test_a_full_context_ends_the_agent_and_the_task_is_scored(serve: Serve, tmp_path: Path) -> None:
    server = serve([("shout", {"word": "hey"}), refusal(400, "prompt is too long: 9 > 8")])
    log = run(server, tmp_path, AGENT, limit=1)
    assert log.status == "success"
    assert samples(log)[0].scores
    assert server.attempts == [1, 1]


def test_what_an_answer_without_choices_used_is_paid_all_the_same(serve: Serve, tmp_path: Path) -> None:
    usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
    body = {"id": "1", "object": "chat.completion", "choices": [], "usage": usage}
    empty = Reply(body=json.dumps(body))
    server = serve([empty, Reply(text="ok", usage=usage)])
    (sample,) = samples(run(server, tmp_path))
    used = sample.model_usage["litellm/openai/gpt-4o-mini"]
    outputs = [event.output for event in sample.events if isinstance(event, ModelEvent)]
    assert (used.input_tokens, used.output_tokens) == (200, 20)
    assert used.total_cost == pytest.approx(2 * (outputs[-1].usage.total_cost or 0))  # type: ignore[union-attr]
    assert server.attempts == [2]


def test_a_cost_limit_stops_an_agent_at_litellms_prices(serve: Serve, tmp_path: Path) -> None:
    dear = {"prompt_tokens": 1_000_000, "completion_tokens": 0, "total_tokens": 1_000_000}
    server = serve([Reply(calls=(Call("shout", {"word": "hey"}),), usage=dear)] * 9)
    log = run(server, tmp_path, AGENT, limit=1, cost_limit=0.4)
    (sample,) = samples(log)
    assert sample.limit is not None
    assert sample.limit.type == "cost"
    assert len(server.requests) == 3


def test_a_cost_limit_with_an_unknown_price_does_not_start_until_the_price_is_given(
    serve: Serve, tmp_path: Path
) -> None:
    server = serve(["ok"] * 9)
    with pytest.raises(Exception, match="cost data"):
        run(server, tmp_path, name="model-of-my-own", cost_limit=1.0)
    assert server.requests == []
    prices = {"input_cost_per_token": 1e-6, "output_cost_per_token": 1e-6}
    log = run(server, tmp_path, name="model-of-mine", cost_limit=1.0, model_args=prices)
    assert log.status == "success"
