"""Routers that ask a language model, inside an evaluation: over real HTTP, counted, kept, stopped in time."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.integration.evaluation.conftest import NOWHERE, Bench, bench_in
from tests.servers.openai_server import OpenAIServer, Reply, Request, Step

MODEL = "openai/gpt-4o-mini"  # LiteLLM knows its price
RECIPES = {
    "expanded": f"  - expand_query: {{model: {MODEL}}}\n  - bm25:\n",
    "judged": f"  - bm25:\n  - judge: {{model: {MODEL}, top: 5}}\n",
    "undecided": f"  - bm25:\n  - judge: {{model: {MODEL}, top: 2}}\n",
    "agent": f"  - agentic:\n      model: {MODEL}\n      calls: 4\n      channels: [{{stages: [bm25: ]}}]\n",
}
TASKS = ("waybill-repair", "buoy-telemetry")


def answer(request: Request) -> Step:
    """Searches for the task and submits what it found; names the second of many candidates, none of two;
    writes a skill."""
    last = str(request.messages[-1]["content"])
    if request.tools and request.messages[-1]["role"] == "user":
        return ("search", {"query": last})
    if request.tools:
        return ("submit", {"ids": re.findall(r"^(\S+): ", last, re.MULTILINE)[:3]})
    if "[1] Name:" in last:
        return "2" if "[3] Name:" in last else "either"
    return "A skill about waybills, parcels and check digits."


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    (tmp_path / "routers").mkdir()
    for name, stages in RECIPES.items():
        text = f"description: {name}\nsource: s\nstages:\n{stages}"
        (tmp_path / "routers" / f"{name}.yaml").write_text(text)
    cache = {"SKILL_WORKBENCH_CACHE": str(tmp_path / "cache"), "OPENAI_API_KEY": "sk-test"}
    return bench_in(tmp_path, DOCKER_HOST=NOWHERE, **cache)


def run(bench: Bench, server: OpenAIServer, routers: str, exits: int | None = 0) -> str:
    bench.env["SKILL_WORKBENCH_LLM_BASE_URL"] = server.url
    chosen = ("--conditions", "routed", "--router", routers, "-T", f"tasks={','.join(TASKS)}")
    done = bench.inspect("eval", "workbench/quickstart", "--model", "none", *chosen, exits=exits)
    return done.stdout + done.stderr


def test_what_a_router_asks_is_on_the_record_and_is_asked_once(bench: Bench) -> None:
    with OpenAIServer(answer) as server:
        run(bench, server, ",".join(RECIPES))
        asked = len(server.requests)
    first = bench.records()
    notes = sorted(record.route.notes for record in first.values() if record.router == "undecided")
    assert notes[-1] == ("judge: 2 of 2 answers could not be used; the order was left as it was",)
    assert set(first) == {f"{task}@routed-{router}" for task in TASKS for router in RECIPES}
    for record in first.values():
        spent = record.route.asked
        assert spent is not None
        assert (spent.calls, spent.kept) == (2 if record.router in ("agent", "expanded") else 1, 0)
        assert spent.input_tokens
        assert spent.cost_usd
        assert record.route.ranking
        assert record.outcome.status == "scored"
    assert asked == sum(record.route.asked.calls for record in first.values() if record.route.asked)
    run(bench, server, ",".join(RECIPES))  # nobody listens there any more
    second = bench.records()
    for name, record in second.items():
        assert record.route.ranking == first[name].route.ranking
        spent = record.route.asked
        assert spent is not None
        assert (spent.calls, spent.cost_usd) == (0, 0.0)
        assert spent.kept == (first[name].route.asked or spent).calls


def test_a_refused_key_stops_the_run_and_says_what_to_set(bench: Bench) -> None:
    refused = Reply(status=401, body='{"error": {"message": "Incorrect API key", "code": "invalid_api_key"}}')
    with OpenAIServer(lambda request: refused) as server:
        shown = run(bench, server, "agent", exits=None)
    assert "config:router" in shown
    assert "Traceback" not in shown
    assert "OPENAI_API_KEY" in " ".join(shown.split())
