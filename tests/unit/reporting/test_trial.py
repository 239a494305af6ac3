"""What became of one sample: scored, excluded with a cause, or pending; never something unknown."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from workbench.core.errors import POLICY, InfrastructureError, read_fault
from workbench.core.record import TrialRecord
from workbench.core.types import Arm
from workbench.reporting.logfile import LoggedSample
from workbench.reporting.trial import Plan, split_id, trial_of

PLAN = Plan("quickstart", "none/none", "run", Path("log.eval"))
MakeRecord = Callable[..., TrialRecord]


def sample(
    record: TrialRecord | dict[str, Any] | None = None, error: str | None = None, **more: Any
) -> LoggedSample:
    content = record.model_dump(mode="json") if isinstance(record, TrialRecord) else record
    scores = None if content is None else {"workbench": {"value": {}, "metadata": {"record": content}}}
    fields = {
        "id": "a@gold",
        "epoch": 2,
        "scores": scores,
        "error": None if error is None else {"message": error},
    }
    return LoggedSample.model_validate({**fields, **more})


@pytest.mark.parametrize(
    ("sample_id", "task", "arm"),
    [
        ("3d-scan@none", "3d-scan", Arm("none")),
        ("a@gold", "a", Arm("gold")),
        ("a@routed-bm25", "a", Arm("routed", "bm25")),
        ("mail@home@routed-a-b", "mail@home", Arm("routed", "a-b")),
    ],
)
def test_a_sample_id_names_task_and_arm(sample_id: str, task: str, arm: Arm) -> None:
    assert split_id(sample_id) == (task, arm)
    assert f"{task}@{arm.label}" == sample_id


@pytest.mark.parametrize("sample_id", ["", "a", "a@", "@none", "a@other", "a@routed", "a@none-x"])
def test_other_ids_are_refused(sample_id: str) -> None:
    with pytest.raises(ValueError, match="is not <task>@<arm>"):
        split_id(sample_id)


@pytest.mark.parametrize("cause", sorted(POLICY))
@pytest.mark.parametrize("detail", ["plain", "it's", 'say "no"', "two\nlines", "both ' and \"", "ünï [x] y"])
def test_a_fault_is_read_from_our_message_and_from_the_repr_inspect_logs(cause: str, detail: str) -> None:
    error = InfrastructureError(cause, detail)
    assert read_fault(str(error)) == read_fault(repr(error)) == (cause, detail)


@pytest.mark.parametrize(
    "message", ["", "RuntimeError('boom')", "[nonsense] x", "ValueError()", "E('unclosed", "[infra:start"]
)
def test_an_error_that_names_no_known_cause_is_a_bug_of_the_harness(message: str) -> None:
    assert read_fault(message) == ("harness_bug", message)


def test_a_scored_record_is_a_scored_trial(make_record: MakeRecord) -> None:
    found = trial_of(PLAN, sample(make_record("a", "gold", 2, 0.5)))
    assert (found.status, found.cause, found.task, found.arm, found.epoch) == (
        "scored",
        None,
        "a",
        Arm("gold"),
        2,
    )


def test_a_scored_record_counts_even_if_the_sample_raised_afterwards(make_record: MakeRecord) -> None:
    assert (
        trial_of(PLAN, sample(make_record("a", "gold", 2), error="RuntimeError('late')")).status == "scored"
    )


@pytest.mark.parametrize("reward", [None, math.nan, -0.1, 1.5, math.inf])
def test_a_score_without_a_reward_in_0_to_1_is_excluded_and_not_zero(
    make_record: MakeRecord, reward: float | None
) -> None:
    found = trial_of(PLAN, sample(make_record("a", "gold", 2, reward, funnel="failed")))
    assert (found.status, found.cause) == ("excluded", "harness_bug")
    assert "reward" in found.detail


@pytest.mark.parametrize(
    ("cause", "reward", "status", "read"),
    [
        ("agent_resource", 0.0, "scored", "agent_resource"),
        ("agent_resource", 1.0, "excluded", "harness_bug"),
        ("infra:engine", 0.0, "excluded", "harness_bug"),
        ("weather", 0.0, "excluded", "harness_bug"),
    ],
)
def test_a_score_for_a_cause_counts_only_as_the_policy_gives_it(
    make_record: MakeRecord, cause: str, reward: float, status: str, read: str
) -> None:
    content = make_record("a", "gold", 2, reward, funnel="failed").model_dump(mode="json")
    content["outcome"]["cause"] = cause
    found = trial_of(PLAN, sample(content))
    assert (found.status, found.cause) == (status, read)


def test_a_record_of_another_schema_is_excluded_and_says_where(make_record: MakeRecord) -> None:
    content = make_record("a", "gold", 2).model_dump(mode="json") | {"novelty": 1}
    found = trial_of(PLAN, sample(content))
    assert (found.status, found.cause) == ("excluded", "harness_bug")
    assert "novelty" in found.detail


def test_an_excluded_record_keeps_its_cause_and_an_unknown_one_is_a_bug(make_record: MakeRecord) -> None:
    assert trial_of(PLAN, sample(make_record("a", "gold", cause="api"))).cause == "api"
    found = trial_of(PLAN, sample(make_record("a", "gold", cause="weather", detail="rain")))
    assert (found.cause, found.detail) == ("harness_bug", "weather: rain")


def test_an_error_before_scoring_is_excluded_with_the_route_that_was_known(make_record: MakeRecord) -> None:
    route = make_record("a", "routed-bm25").route.model_dump(mode="json")
    raised = sample(
        error="InfrastructureError('[infra:build] no disk')", store={"TrialState:route": route, "x": 1}
    )
    found = trial_of(PLAN, raised)
    assert (found.status, found.cause, found.detail) == ("excluded", "infra:build", "no disk")
    assert found.route is not None
    assert found.route.metrics == {"Hit@1": 1.0, "MRR@10": 1.0}
    assert trial_of(PLAN, sample(error="boom", store={"TrialState:route": {"bad": 1}})).route is None


@pytest.mark.parametrize(
    "stopped",
    [
        {"error": 'CancelledError("Cancelled via cancel scope 7f")'},
        {"error": "TrialError('[cancelled] by the user')"},
        {"error": "TrialError('[stopped] not started, for the key is wrong')"},
        {"invalidation": {"reason": "wrong image"}},
        {},
    ],
)
def test_what_was_stopped_or_invalidated_or_not_scored_is_pending(stopped: dict[str, Any]) -> None:
    found = trial_of(PLAN, sample(**stopped))
    assert (found.status, found.cause, found.task) == ("pending", None, "a")


def test_a_stopped_sample_that_was_scored_as_excluded_is_pending(make_record: MakeRecord) -> None:
    record = make_record("a", "gold", cause="harness_bug", detail="CancelledError()")
    assert trial_of(PLAN, sample(record, error="CancelledError()")).status == "pending"


def test_a_damaged_sample_is_excluded_by_name() -> None:
    found = trial_of(PLAN, LoggedSample(id="a@none", epoch=1, damage="Bad CRC-32"))
    assert (found.status, found.cause) == ("excluded", "harness_bug")
    assert "Bad CRC-32" in found.detail
