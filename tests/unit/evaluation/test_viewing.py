"""What Inspect's viewer shows of a trial reads as meant."""

from __future__ import annotations

import pytest

from workbench.core.record import Exposure, Load, Outcome, RouteInfo, TrialRecord
from workbench.core.types import ConditionName
from workbench.evaluation.verify import Verdict
from workbench.evaluation.viewing import answer, explanation

SCORED = Outcome(status="scored", reward=0.0, funnel="not_routed")


def trial(
    outcome: Outcome, condition: ConditionName = "routed", *, blind: bool = False, loaded: str = ""
) -> TrialRecord:
    router = "bm25" if condition == "routed" else None
    loads = tuple(Load(id=skill, tier="body", via="tool") for skill in loaded.split())
    route = RouteInfo(
        router=router,
        router_fingerprint=None,
        pool="p",
        pool_fingerprint="f",
        pool_size=9,
        index_fingerprint=None,
        k=2,
        gold=("g", "h"),
    )
    return TrialRecord(
        suite="s",
        task="t",
        epoch=1,
        condition=condition,
        router=router,
        model="m",
        agent="a",
        seed=0,
        sandbox="local",
        route=route,
        exposure=Exposure(disclosure="progressive", routed=("g", "x"), loads=loads, blind=blind),
        outcome=outcome,
    )


@pytest.mark.parametrize(
    ("outcome", "condition", "blind", "shown"),
    [
        (Outcome(status="scored", reward=1.0, funnel="passed"), "routed", False, "passed"),
        (SCORED, "routed", False, "failed: gold not routed"),
        (SCORED, "none", False, "failed: no skills"),
        (SCORED.model_copy(update={"funnel": "failed"}), "gold", False, "failed: gold loaded"),
        (SCORED.model_copy(update={"funnel": "failed"}), "gold", True, "failed: gold given"),
        (SCORED.model_copy(update={"funnel": "not_in_pool"}), "routed", False, "failed: gold not in pool"),
        (Outcome(status="excluded", cause="infra:build"), "routed", False, "excluded: infra:build"),
        (SCORED.model_copy(update={"cause": "agent_resource"}), "gold", False, "failed: agent_resource"),
    ],
)
def test_the_answer_says_how_the_trial_ended(
    outcome: Outcome, condition: ConditionName, blind: bool, shown: str
) -> None:
    assert answer(trial(outcome, condition, blind=blind), None) == shown


def test_the_answer_to_a_question_is_what_was_said_last() -> None:
    assert answer(trial(SCORED), "Let me think.\n\nThe answer is \x1b[1m42\n") == "The answer is \ufffd[1m42"
    assert len(answer(trial(SCORED), "x" * 1000)) == 300
    assert answer(trial(SCORED), "  \n") == "failed: gold not routed"


def test_the_explanation_has_a_line_for_every_step_and_then_the_verifier() -> None:
    outcome = Outcome(status="scored", reward=0.5, funnel="not_routed", incidents=("agent_timeout",))
    verdict = Verdict(0.5, (), 1.0, "passed one\nfailed other")
    assert explanation(trial(outcome, loaded="x x g"), verdict).splitlines() == [
        "failed: gold not routed (reward 0.5)",
        "arm: routed-bm25",
        "gold: g, h",
        "given: g, x",
        "loaded: x, g",
        "incidents: agent_timeout",
        "verifier:",
        "passed one",
        "failed other",
    ]


def test_the_explanation_of_an_excluded_trial_says_why_and_that_loads_were_not_seen() -> None:
    outcome = Outcome(status="excluded", cause="infra:build", detail="no space left")
    assert explanation(trial(outcome, "none", blind=True), None).splitlines() == [
        "excluded: infra:build",
        "arm: none",
        "gold: g, h",
        "given: g, x",
        "loaded: not observed",
        "no space left",
    ]
