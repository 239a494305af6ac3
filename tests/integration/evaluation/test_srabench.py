"""SRA-Bench's modes over real HTTP: a scripted model answers questions, without a sandbox."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.integration.evaluation.conftest import Bench
from tests.servers.openai_server import OpenAIServer, Request, Step

TASK = ("-T", "tasks=theoremqa_sample_01")
RIGHT = "Counting gives 264.\nTherefore, the answer is 264."
GOLD = "theoremqa_001"


def player(request: Request) -> Step:
    """Loads the right skill where it can, names it where it is asked, and answers."""
    if "load_skill" in request.tools and not any(m["role"] == "tool" for m in request.messages):
        return ("load_skill", {"skill": "Derangements"})
    offered = [line for line in request.prompt.split("\n") if "<name>Derangements<" in line]
    if offered:
        return offered[0].split()[0]
    return RIGHT if "Derangements" in str(request.messages) else "The answer is: 265"


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer(player) as server:
        yield server


def evaluate(local: Bench, server: OpenAIServer, *more: str, exits: int = 0) -> None:
    local.inspect(
        "eval", "workbench/srabench", *(() if "toolqa" in str(more) else TASK),
        *("--model", "litellm/openai/gpt-4o-mini", "--model-base-url", server.url, "-M", "api_key=none"),
        *more,
        exits=exits,
    )  # fmt: skip


def test_without_a_model_the_bundled_sample_shows_what_routing_alone_is_worth(local: Bench) -> None:
    done = local.inspect("eval", "workbench/srabench", "-T", "subset=theoremqa", "--router", "bm25")
    assert "a small sample of our own" in done.stderr
    records = local.records()
    assert len(records) == 15
    assert {r.outcome.reward for n, r in records.items() if n.endswith("@gold")} == {1.0}
    assert {r.outcome.reward for n, r in records.items() if n.endswith("@none")} == {0.0}
    assert {r.group["subset"] for r in records.values()} == {"theoremqa"}
    assert {r.sandbox for r in records.values()} == {"none"}
    assert "Recall@50" in records["theoremqa_sample_01@routed-bm25"].route.metrics


def test_llm_direct_is_one_request_with_the_form_of_the_answer_and_no_word_of_skills(
    local: Bench, server: OpenAIServer
) -> None:
    evaluate(local, server, "--conditions", "none")
    (request,) = server.requests
    assert request.tools == []
    assert "skill" not in str(request.messages).lower()
    assert "Therefore, the answer is X" in request.messages[0]["content"]
    record = local.records()["theoremqa_sample_01@none"]
    assert (record.outcome.reward, record.outcome.funnel) == (0.0, "not_routed")


def test_the_oracle_and_full_injection_of_the_first_put_bodies_into_the_prompt(
    local: Bench, server: OpenAIServer
) -> None:
    evaluate(local, server, "--conditions", "gold,routed", "--disclosure", "full", "--router-k", "1")
    records = local.records()
    gold, routed = (records[f"theoremqa_sample_01@{arm}"] for arm in ("gold", "routed-bm25"))
    assert gold.outcome.reward == 1.0
    assert [(load.id, load.via) for load in gold.exposure.loads] == [(GOLD, "prompt")]
    assert len(routed.exposure.routed) == 1
    assert len(server.requests) == 2
    assert "theoremqa_" not in str([r.messages for r in server.requests])


def test_selection_asks_once_what_to_show_and_starts_with_that(local: Bench, server: OpenAIServer) -> None:
    evaluate(local, server, "--conditions", "routed", "--disclosure", "selected", "--router-k", "50")
    choice, answer = server.requests
    assert choice.tools == answer.tools == []
    assert "<available_skills>" in str(choice.messages)
    assert "<available_skills>" not in str(answer.messages)
    assert "D(n) = (n - 1)" in str(answer.messages)
    record = local.records()["theoremqa_sample_01@routed-bm25"]
    assert record.outcome.reward == 1.0
    assert record.exposure.shown == record.exposure.routed
    assert [(load.id, load.via) for load in record.exposure.loads] == [(GOLD, "prompt")]


def test_progressive_disclosure_loads_a_body_by_a_tool_call(local: Bench, server: OpenAIServer) -> None:
    evaluate(local, server, "--conditions", "routed", "--router-k", "50", "-T", "nudge=encouraged")
    first, second = server.requests
    assert first.tools == ["load_skill"]
    assert "Load the skills that fit" in first.messages[0]["content"]
    assert "D(n) = (n - 1)" in str(second.messages)
    record = local.records()["theoremqa_sample_01@routed-bm25"]
    assert record.outcome.reward == 1.0
    assert record.exposure.nudge == "encouraged"
    assert [(load.id, load.tier, load.via, load.turn) for load in record.exposure.loads] == [
        (GOLD, "body", "tool", 1)
    ]
    assert record.exposure.installed == ()


def test_gold_among_distractors_is_a_router_like_any_other(local: Bench, server: OpenAIServer) -> None:
    evaluate(local, server, "--conditions", "routed", "--router", "distractors", "--router-k", "5")
    record = local.records()["theoremqa_sample_01@routed-distractors"]
    assert len(record.exposure.routed) == 5
    assert record.outcome.reward == (1.0 if GOLD in record.exposure.routed else 0.0)


def test_toolqa_is_answered_with_its_tools_over_a_local_corpus(local: Bench) -> None:
    steps: list[Step] = [
        ("LoadDB", {"name": "coffee"}),
        ("FilterDB", {"conditions": "Date=2019-03-14"}),
        ("GetValue", {"column": "Close"}),
    ]

    def play(request: Request) -> Step:
        results = [m["content"] for m in request.messages if m["role"] == "tool"]
        return steps[len(results)] if len(results) < len(steps) else f"Finish[{results[-1]}]"

    with OpenAIServer(play) as server:
        evaluate(local, server, "--conditions", "none", "-T", "subset=toolqa", "-T", "tasks=toolqa_sample_01")
    record = local.records()["toolqa_sample_01@none"]
    assert record.outcome.reward == 1.0
    assert "LoadDB" in server.requests[0].tools
    assert record.spend.turns == 4


def test_programs_among_the_answers_are_never_run_without_an_engine(local: Bench) -> None:
    done = local.inspect("eval", "workbench/srabench", exits=None)
    assert done.returncode != 0
    text = " ".join((done.stdout + done.stderr).split())
    assert "leave out what needs one: -T subset=champ,logicbench,medcalcbench,theoremqa,toolqa" in text


def test_an_unknown_subset_names_the_nearest(local: Bench) -> None:
    done = local.inspect("eval", "workbench/srabench", "-T", "subset=theoremq", exits=None)
    assert "unknown subset 'theoremq'; did you mean 'theoremqa'?" in " ".join(
        (done.stdout + done.stderr).split()
    )


@pytest.mark.docker
def test_programs_are_run_in_a_container_and_cannot_claim_to_have_passed(docker: Bench) -> None:
    liar = "```python\nimport os\nos.write(1, b'PASS')\nos._exit(0)\ndef task_func(*a):\n    return 2.0\n```"

    def answer(request: Request) -> Step:
        if "comma-separated" not in request.prompt:
            return liar
        return (
            "```python\ndef task_func(text, column):\n    rows = csv.DictReader(io.StringIO(text))\n"
            "    return float(sum(float(row[column] or 0) for row in rows))\n```"
        )

    with OpenAIServer(answer) as server:
        docker.inspect(
            "eval", "workbench/srabench", "-T", "subset=bigcodebench", "--conditions", "none",
            *("--model", "litellm/openai/gpt-4o-mini", "--model-base-url", server.url, "-M", "api_key=none"),
        )  # fmt: skip
    rewards = {name: r.outcome.reward for name, r in docker.records().items()}
    assert rewards == {
        "bigcodebench_sample_01@none": 1.0,
        "bigcodebench_sample_02@none": 0.0,
        "bigcodebench_sample_03@none": 0.0,
    }
    assert {r.sandbox for r in docker.records().values()} == {"docker-sdk"}
