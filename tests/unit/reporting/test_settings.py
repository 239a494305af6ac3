"""Trials that ran under other settings are counted apart, and compared where the settings agree."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from workbench.cli.main import run
from workbench.core.record import TrialRecord
from workbench.reporting.find import find_logs
from workbench.reporting.read import Notes, read_trials
from workbench.reporting.schema import Block
from workbench.reporting.summary import summarise

Make = Callable[..., TrialRecord]
RunEval = Callable[..., Path]
TASKS = [f"t{n}" for n in range(6)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("settings")


@pytest.fixture
def log(folder: Path, run_eval: RunEval, make_record: Make) -> Callable[..., Path]:
    """A log of a name, made once: gold passes, bm25 passes unless it is `weak`."""

    def made(name: str, *, weak: bool = False, k: int = 5, version: str = "1", **options: Any) -> Path:
        target = folder / name
        if target.exists():
            return target

        def behave(task: str, arm: str, epoch: int) -> TrialRecord:
            good = arm == "gold" or (arm == "routed-bm25" and not weak)
            return make_record(task, arm, epoch, float(good), k=k).model_copy(update={"workbench": version})

        run_eval(target, behave, tasks=TASKS, **options)
        return target

    return made


def block(*logs: Path) -> Block:
    notes = Notes()
    (found,) = summarise(read_trials(find_logs(list(logs)), notes), notes).blocks
    return found


@pytest.mark.parametrize(
    ("name", "options", "label"),
    [
        ("limit", {"settings": {"message_limit": 9}}, "message_limit=9"),
        ("verifier", {"task_args": {"verifier": "shared"}}, "verifier=shared"),
        ("penalty", {"settings": {"frequency_penalty": 0.5}}, "frequency_penalty=0.5"),
    ],
)
def test_runs_under_other_settings_are_arms_of_their_own_each_with_its_baselines(
    log: Callable[..., Path], name: str, options: dict[str, Any], label: str
) -> None:
    found = block(log("plain"), log(name, weak=True, **options))
    arms = {arm.arm: arm for arm in found.arms}
    assert set(arms) == {
        f"{arm}{more}" for arm in ("none", "gold", "routed-bm25") for more in ("", f" {label}")
    }
    assert {arm.planned for arm in arms.values()} == {6}
    strong, weak = arms["routed-bm25"], arms[f"routed-bm25 {label}"]
    assert strong.vs_none is not None
    assert weak.vs_none is not None
    assert weak.vs_gold is not None
    assert (strong.vs_none.difference.value, weak.vs_none.difference.value) == (1, 0)
    assert (strong.vs_none.baseline, weak.vs_none.baseline) == ("none", f"none {label}")
    assert weak.vs_gold.baseline == f"gold {label}"
    setting, value = label.split("=")
    assert any(f"({setting} {value} or not set)" in flag for flag in found.flags)


def test_settings_that_change_only_the_pace_keep_trials_together(log: Callable[..., Path]) -> None:
    found = block(log("plain"), log("pace", settings={"max_connections": 3, "max_retries": 1}))
    assert [arm.arm for arm in found.arms] == ["none", "gold", "routed-bm25"]
    assert found.flags == block(log("plain")).flags


def test_an_arm_whose_settings_no_baseline_shares_is_compared_with_none_and_says_so(
    log: Callable[..., Path],
) -> None:
    alone = log("alone", arms=("routed-bm25",), settings={"message_limit": 7})
    found = block(log("plain"), alone)
    (arm,) = [arm for arm in found.arms if arm.arm == "routed-bm25 message_limit=7"]
    assert (arm.vs_none, arm.vs_gold) == (None, None)
    lacking = [flag for flag in found.flags if flag.startswith("no baseline")]
    assert [flag.rpartition(": ")[2] for flag in lacking] == ["bm25 message_limit=7"] * 2


def test_versions_of_the_package_are_pooled_with_a_flag(log: Callable[..., Path]) -> None:
    found = block(log("plain"), log("newer", version="2"))
    assert {arm.planned for arm in found.arms} == {6}
    assert not any("versions" in flag for flag in found.flags)
    mixed = block(log("plain"), log("other", version="2", task_args={"router": "other"}))
    assert any("different versions of this package: 1 (18), 2 (18)" in flag for flag in mixed.flags)


def test_a_comparison_lists_what_else_differs(
    log: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = log("deep", k=10, version="2", settings={"message_limit": 8}, epochs=2)
    target = tmp_path / "found.json"
    assert run(["compare", str(log("plain")), str(other), "--json", str(target)]) == 0
    results = {r["first"]["arm"]: r for r in json.loads(target.read_text())["results"]}
    found = {arm: {u["name"]: (u["first"], u["second"]) for u in r["unlike"]} for arm, r in results.items()}
    shared = {
        "message_limit": ("not set", "8"),
        "trials a task": ("1 trial", "2 trials"),
        "workbench": ("1", "2"),
    }
    assert found == {"routed-bm25": {"k": ("5", "10"), **shared}, "none": shared, "gold": shared}
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["k", "5", "10", "bm25"] in rows
    assert ["message_limit", "not", "set", "8", "all"] in rows


def test_of_two_arms_what_makes_them_two_is_not_listed(
    log: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["compare", str(log("plain")), "--arms", "bm25", "gold"]) == 0
    assert "what else differs" not in capsys.readouterr().out
