"""``--budget USD`` over real HTTP: what it cannot cover is not started, and runs on a retry."""

from __future__ import annotations

from pathlib import Path

from tests.integration.evaluation.conftest import Bench
from tests.servers.openai_server import OpenAIServer, Reply

DEAR = Reply(
    text="Therefore, the answer is 264.",
    usage={"prompt_tokens": 1_000_000, "completion_tokens": 0, "total_tokens": 1_000_000},
)
"""15 US cents by gpt-4o-mini's listed price."""


def evaluate(local: Bench, url: str, model: str, *more: str, exits: int | None) -> str:
    done = local.inspect(
        "eval", "workbench/srabench", "-T", "subset=theoremqa", "--conditions", "none", *more,
        *("--model", f"litellm/openai/{model}", "--model-base-url", url, "-M", "api_key=none"),
        exits=exits,
    )  # fmt: skip
    return " ".join((done.stdout + done.stderr).split())


def test_a_budget_stops_before_it_is_exceeded_and_the_rest_runs_on_a_retry(local: Bench) -> None:
    with OpenAIServer(lambda request: DEAR) as server:
        text = evaluate(local, server.url, "gpt-4o-mini", "--budget", "0.5", exits=4)
        assert len(server.requests) == 3
        assert "no further trials are started: $0.45 of the budget of $0.5 are spent" in text
        (log,) = (local.folder / "results").glob("*/*.eval")
        local.env["OPENAI_API_KEY"] = "none"  # a key is not kept in the log
        local.inspect("eval-retry", str(log))
        assert len(server.requests) == 5
    rewards = [r.outcome.reward for r in local.records(local.logs()[-1]).values()]
    assert sorted(map(str, rewards)) == ["0.0", "0.0", "0.0", "0.0", "1.0"]


def test_a_budget_for_a_model_without_a_price_refuses_to_start_unless_told_otherwise(
    local: Bench, tmp_path: Path
) -> None:
    with OpenAIServer(lambda request: DEAR) as server:
        text = evaluate(local, server.url, "nobody-knows", "--budget", "1", exits=4)
        assert server.requests == []
        assert "the price of litellm/openai/nobody-knows is unknown" in text
        evaluate(local, server.url, "nobody-knows", "--budget", "1", "-T", "unpriced=allow", exits=0)
        assert len(server.requests) == 5
