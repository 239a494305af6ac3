"""End to end with a real model and a real container: structure is asserted, never text or success."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from inspect_ai.event import ToolEvent

from tests.integration.evaluation.conftest import Bench
from tests.servers.openai_server import OpenAIServer
from tests.servers.small_model import SmallModel, missing

pytestmark = [
    pytest.mark.docker,
    pytest.mark.slow,
    pytest.mark.skipif(missing() is not None, reason=f"the package {missing()} is not installed"),
]


@pytest.fixture(scope="module")
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer(SmallModel(["load_skill", "bash", "python"]).play) as server:
        yield server


def test_a_real_model_loads_a_skill_runs_code_in_a_container_and_is_booked(
    docker: Bench,
    suite_of,
    server: OpenAIServer,  # type: ignore[no-untyped-def]
) -> None:
    suite_of(docker.folder, "echo done > done.txt\n")
    docker.inspect(
        "eval", "workbench/own", "--conditions", "gold",
        *("--model", "litellm/openai/smol", "--model-base-url", server.url, "-M", "api_key=none"),
    )  # fmt: skip
    (log,) = docker.logs()
    assert log.status == "success"
    record = docker.records()["only@gold"]
    assert record.outcome.status == "scored"
    assert record.outcome.reward in (0.0, 1.0)
    assert record.sandbox == "docker-sdk"
    assert record.spend.turns == 4
    assert record.spend.input_tokens
    assert record.spend.output_tokens
    assert record.spend.cost_usd is None
    assert record.exposure.shown == record.exposure.routed == ("finisher",)
    assert [(load.id, load.via, load.turn) for load in record.exposure.loads][:1] == [("finisher", "tool", 1)]
    assert record.use is not None
    assert (record.use.precision, record.use.recall, record.use.first_turn) == (1.0, 1.0, 1)
    events = [e for s in log.samples or [] for e in s.events if isinstance(e, ToolEvent)]
    assert [event.function for event in events] == ["load_skill", "bash", "python"]
    assert all(event.error is None or event.error.type != "unknown" for event in events)
