"""Task arguments are checked before anything is spent, and typing errors name the nearest match."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from workbench.core.errors import MachineError, TrialError, UsageError
from workbench.core.types import Arm
from workbench.core.workspace import find_workspace
from workbench.evaluation.arguments import EvalArguments, parse, refuse_unknown
from workbench.evaluation.guard import Guard
from workbench.evaluation.runs import run_folder, set_folder, writable


def parsed(tmp_path: Path, **given: Any) -> EvalArguments:
    return parse(given, find_workspace(tmp_path, {}), tmp_path, pool="quickstart", k=5)


def test_defaults_compare_one_router_with_both_baselines(tmp_path: Path) -> None:
    arguments = parsed(tmp_path)
    assert arguments.arms == (Arm("none"), Arm("gold"), Arm("routed", "bm25"))
    assert (arguments.k, arguments.pool, arguments.showing.way) == (5, "quickstart", "progressive")


@pytest.mark.parametrize("router", ["bm25,random", ["bm25", "random"], "bm25, random,bm25"])
def test_routers_may_be_text_or_a_list_and_repetition_is_dropped(tmp_path: Path, router: Any) -> None:
    assert parsed(tmp_path, router=router).routers == ("bm25", "random")


def test_conditions_keep_their_order_and_routers_need_the_routed_one(tmp_path: Path) -> None:
    assert parsed(tmp_path, conditions="gold,none").arms == (Arm("none"), Arm("gold"))


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"router": "bm52"}, "unknown router 'bm52'; did you mean 'bm25'?"),
        ({"router": "bm25,rnadom"}, "did you mean 'random'?"),
        ({"conditions": "none,golden"}, "unknown condition 'golden'; did you mean 'gold'?"),
        ({"disclosure": "progresive"}, "did you mean 'progressive'?"),
        ({"router_k": 0}, "router_k=0: must be a whole number from 1 to 100"),
        ({"router_k": "many"}, "router_k=many"),
        ({"router_k": True}, "router_k=True"),
        ({"seed": -1}, "seed=-1"),
        ({"verifier": "frsh"}, "did you mean 'fresh'"),
        ({"router": ""}, "router=: a name is empty"),
        ({"router": ["", ""]}, "a name is empty"),
        ({"tasks": "a,"}, "a name is empty"),
        ({"pool": " "}, "pool= : must be a text"),
        ({"disclosure": 3}, "disclosure=3: must be a text"),
    ],
)
def test_what_is_wrong_is_one_line(tmp_path: Path, given: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError) as caught:
        parsed(tmp_path, **given)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_paths_are_relative_to_where_the_command_was_typed(tmp_path: Path) -> None:
    (tmp_path / "skills").mkdir()
    arguments = parsed(tmp_path, data="./x", pool="./skills")
    assert arguments.data == tmp_path / "x"
    assert arguments.pool == str(tmp_path / "skills")
    assert parsed(tmp_path, pool="quickstart").pool == "quickstart"


def test_an_unknown_task_argument_is_an_error_with_the_nearest_key() -> None:
    with pytest.raises(UsageError, match="unknown task argument '-T ruoter=...'; did you mean 'router'"):
        refuse_unknown({"model": None, "ruoter": "bm25"})
    refuse_unknown({"model": None})


def test_runs_get_a_folder_each_and_sets_the_same_one_again(tmp_path: Path) -> None:
    workspace = find_workspace(tmp_path, {})
    first = run_folder(["a"], workspace)
    first.mkdir()
    assert run_folder(["a"], workspace) != first
    assert set_folder(["a"], ["x"], workspace) == set_folder(["a"], ["x"], workspace)
    assert set_folder(["a"], ["x"], workspace) != set_folder(["a"], ["y"], workspace)


def test_a_results_folder_that_cannot_be_made_says_what_to_give(tmp_path: Path) -> None:
    (tmp_path / "results").write_text("a file")
    with pytest.raises(MachineError, match="cannot make .*give --log-dir"):
        writable(tmp_path / "results")


def test_a_failure_that_voids_the_experiment_stops_the_run_and_others_do_not() -> None:
    guard = Guard()
    guard.saw(TrialError("infra:build", "no space"), "a@none")
    guard.check()
    guard.saw(TrialError("invalid_treatment", "a SKILL.md too many"), "b@none")
    guard.saw(TrialError("config:auth", "no key"), "c@none")
    with pytest.raises(TrialError, match=r"\[stopped\] .*invalid_treatment in b@none"):
        guard.check()
