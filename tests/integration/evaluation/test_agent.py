"""The default agent over real HTTP: a scripted model behind LiteLLM drives the whole path."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.integration.evaluation.conftest import Bench
from tests.servers.openai_server import OpenAIServer, Step, agents

SOLVE = "python3 - <<'PY'\n{code}\nPY"
MARK = "Northline numbers by hand"
ANSWER = """
import csv, sys
sys.path.insert(0, '.claude/skills/northline-waybill-check/scripts')
from waybill import canonical, complete, is_sound
def judge(n):
    if '?' not in n:
        return ('sound', canonical(n)) if is_sound(n) else ('unsound', '')
    fits = complete(n)
    return ('restored', fits[0]) if len(fits) == 1 else ('unclear' if fits else 'unsound', '')
rows = list(csv.DictReader(open('scans.csv', newline='')))
out = csv.writer(open('verdicts.csv', 'w', newline=''))
out.writerow(['scan', 'verdict', 'number'])
out.writerows([r['scan'], *judge(r['number'])] for r in rows)
"""
SOLVED: list[Step] = [
    ("load_skill", {"skill": "northline-waybill-check"}),
    ("python", {"code": ANSWER}),
    "The list is done.",
]
IDLE: list[Step] = [("bash", {"command": "ls -la"}), "I could not find a way."]
READS_ITSELF: list[Step] = [
    ("bash", {"command": "cat .claude/skills/northline-waybill-check/SKILL.md"}),
    ("python", {"code": ANSWER}),
    "Done.",
]


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer(agents({MARK: SOLVED}, IDLE)) as server:
        yield server


def evaluate(local: Bench, url: str, *more: str, exits: int = 0) -> None:
    local.inspect(
        "eval",
        "workbench/quickstart",
        *("--router", "bm25", "-T", "tasks=waybill-repair"),
        *("--model", "litellm/openai/gpt-4o-mini", "--model-base-url", url, "-M", "api_key=none"),
        *more,
        exits=exits,
    )


def test_a_model_behind_litellm_loads_the_skill_and_passes(local: Bench, server: OpenAIServer) -> None:
    evaluate(local, server.url)
    records = local.records()
    none, gold, routed = (records[f"waybill-repair@{arm}"] for arm in ("none", "gold", "routed-bm25"))
    assert [r.outcome.reward for r in (none, gold, routed)] == [0.0, 1.0, 1.0]
    assert routed.agent == "skill_agent"
    assert routed.exposure.shown == routed.exposure.routed
    assert routed.exposure.catalogue_digest
    loads = [(load.id, load.tier, load.via) for load in routed.exposure.loads]
    assert loads[0] == ("northline-waybill-check", "body", "tool")
    assert next(load.turn for load in routed.exposure.loads) == 1
    assert none.exposure.loads == ()
    assert none.exposure.shown == ()
    assert none.outcome.funnel == "not_routed"
    spend = routed.spend
    assert spend.turns == 3
    assert spend.total_tokens
    assert spend.cost_usd is not None
    assert spend.cost_usd > 0


def test_the_agent_of_the_no_skill_condition_is_told_nothing_of_skills(
    local: Bench, server: OpenAIServer
) -> None:
    evaluate(local, server.url, "--conditions", "none")
    sent = server.requests[0].body
    assert {tool["function"]["name"] for tool in sent["tools"]} == {"bash", "python"}
    assert "skill" not in str(sent["messages"]).lower()


def test_a_skill_read_by_its_path_counts_as_loaded(local: Bench) -> None:
    with OpenAIServer(agents({MARK: READS_ITSELF}, IDLE)) as server:
        evaluate(local, server.url, "--conditions", "gold")
    record = local.records()["waybill-repair@gold"]
    assert record.outcome.reward == 1.0
    assert [(load.tier, load.via) for load in record.exposure.loads][:1] == [("body", "shell")]


def test_a_skill_that_is_shown_and_not_loaded_is_where_the_trial_is_lost(local: Bench) -> None:
    with OpenAIServer(agents({}, IDLE)) as server:
        evaluate(local, server.url)
    records = local.records()
    assert records["waybill-repair@gold"].outcome.funnel == "not_loaded"
    assert records["waybill-repair@routed-bm25"].outcome.funnel == "not_loaded"


def test_full_disclosure_puts_bodies_into_the_prompt(local: Bench, server: OpenAIServer) -> None:
    evaluate(local, server.url, "--conditions", "gold", "--disclosure", "full")
    record = local.records()["waybill-repair@gold"]
    assert next(load.via for load in record.exposure.loads) == "prompt"
    assert "northline" in str(server.requests[0].body["messages"]).lower()
    assert "load_skill" not in str(server.requests[0].body["tools"])


def test_a_refused_key_stops_the_run_and_nothing_is_scored_zero(local: Bench) -> None:
    from tests.servers.openai_server import refusal

    with OpenAIServer(
        lambda request: refusal(401, "Incorrect API key provided", code="invalid_api_key")
    ) as server:
        evaluate(local, server.url, "--max-samples", "1", exits=4)
    records = local.records()
    causes = [r.outcome.cause for r in records.values()]
    assert sorted(map(str, causes)) == ["config:auth", "stopped", "stopped"]
    assert all(r.outcome.reward is None for r in records.values())
    assert len(server.requests) == 1


def test_F49_an_agent_that_runs_out_of_time_is_still_verified(local: Bench, suite_of) -> None:  # type: ignore[no-untyped-def]
    task = suite_of(local.folder, "true\n")
    (task / "task.toml").write_text('version = "1.0"\n[agent]\ntimeout_sec = 6\n')
    late: list[Step] = [("bash", {"command": "echo done > done.txt; sleep 60"}), "never"]
    with OpenAIServer(agents({}, late)) as server:
        local.inspect(
            *("eval", "workbench/own", "--conditions", "gold", "--model", "litellm/openai/gpt-4o-mini"),
            *("--model-base-url", server.url, "-M", "api_key=none"),
        )
    record = local.records()["only@gold"]
    assert record.outcome.reward == 1.0
    assert record.outcome.incidents == ("agent_timeout",)
