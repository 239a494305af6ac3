"""The trials in progress: one state per attempt, shared by setup, agent and scorer, and then forgotten."""

from __future__ import annotations

from copy import deepcopy

import pytest

from workbench.core.errors import TrialError
from workbench.evaluation import trials
from workbench.evaluation.faults import raise_earlier_fault
from workbench.evaluation.score import Written
from workbench.evaluation.state import TrialState


def test_every_step_of_a_trial_sees_the_same_state_until_it_ends() -> None:
    kept = trials.start("a")
    kept.incident("agent_timeout")
    kept.incident("agent_timeout")
    assert trials.state_of("a") is kept
    assert trials.state_of("a").incidents == ["agent_timeout"]
    trials.end("a")
    assert trials.state_of("a") == TrialState()


def test_a_further_attempt_knows_nothing_of_the_one_before() -> None:
    trials.start("a").fault = "[infra:build] no disk"
    assert trials.start("a") == TrialState()
    trials.end("a")


def test_a_fault_of_the_setup_is_raised_again_with_its_cause() -> None:
    raised = TrialError("task:unsupported", "two containers")
    with pytest.raises(TrialError, match="two containers") as caught:
        raise_earlier_fault(TrialState(fault=str(raised)))
    assert caught.value.cause == "task:unsupported"


def test_a_written_record_is_its_own_copy() -> None:
    written = Written({"route": {"ranking": [{"id": "a", "score": 1.0}]}})
    assert deepcopy({"record": written})["record"] is written
