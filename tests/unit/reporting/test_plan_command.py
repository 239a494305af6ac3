"""`workbench plan`: from a pilot and from numbers, and never from nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from workbench.cli.main import run
from workbench.core.record import TrialRecord
from workbench.reporting.planning import differing

Make = Callable[..., TrialRecord]
RunEval = Callable[..., Path]


def test_numbers_give_a_table_and_the_trials_needed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "plan.json"
    arguments = ("plan", "--rates", "0.4", "0.5", "--tasks", "87", "--effect", "0.1", "--json", str(target))
    assert run(arguments) == 0
    assert "a task would find 0.1 on 87 tasks" in capsys.readouterr().out
    (plan,) = json.loads(target.read_text())
    values = [plan["detectable"][str(t)] for t in (1, 2, 3, 5, 10, 20)]
    assert values == sorted(values, reverse=True)
    assert plan["between"] + plan["within"] < 0.25 * 2


def test_correcting_for_more_comparisons_needs_a_larger_difference(tmp_path: Path) -> None:
    found = []
    for comparisons in ("1", "10"):
        target = tmp_path / f"{comparisons}.json"
        options = ("--tasks", "50", "--comparisons", comparisons, "--json", str(target))
        assert run(("plan", "--rates", "0.4", "0.5", *options)) == 0
        found.append(json.loads(target.read_text())[0]["detectable"]["5"])
    assert found[0] < found[1]


def test_a_pilot_gives_each_router_against_each_baseline(
    mixed_log: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["plan", str(mixed_log), "--tasks", "40"]) == 0
    out = capsys.readouterr().out
    assert "bm25 against none, 40 tasks" in out
    assert "bm25 against gold, 40 tasks" in out


def test_rates_that_leave_no_variance_are_not_called_a_pilot(capsys: pytest.CaptureFixture[str]) -> None:
    options = ("--correlation", "1", "--shared", "1", "--tasks", "20")
    assert run(("plan", "--rates", "0.4", "0.4", *options)) == 0
    out = capsys.readouterr().out
    assert "these rates leave no variance" in out
    assert "pilot" not in out


def test_a_plan_says_where_its_power_is_a_lower_bound(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(("plan", "--rates", "0.4", "0.5", "--tasks", "87")) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "with a power of 80% at p < 0.05: exactly with one trial, with more a lower bound" in said


def test_blocks_of_a_pilot_are_named_by_what_tells_them_apart() -> None:
    """Two agents on one model gave two tables of the same name."""
    agents = {("quickstart", "none/none", agent): [] for agent in ("nop", "oracle")}
    assert [differing(block, agents) for block in agents] == ["nop: ", "oracle: "]
    both = {("quickstart", model, agent): [] for model, agent in (("a/b", "nop"), ("c/d", "oracle"))}
    assert [differing(block, both) for block in both] == ["a/b, nop: ", "c/d, oracle: "]
    assert differing(("quickstart", "a/b", "nop"), {("quickstart", "a/b", "nop"): []}) == ""


def test_neither_a_pilot_nor_numbers_is_an_error_that_says_what_to_give(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["plan", "--effect", "0.1"]) == 1
    assert "--rates P Q" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        ("plan", "--rates", "nan", "0.5", "--tasks", "10"),
        ("plan", "--rates", "0.4", "0.5", "--tasks", "10", "--effect", "nan"),
        ("compare", "a", "b", "--margin", "nan"),
    ],
)
def test_a_number_that_is_none_is_refused(
    arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == 1
    assert "nan is not a number" in capsys.readouterr().err


def test_a_plan_corrects_for_the_routers_of_its_pilot_and_says_what_is_sure(
    run_eval: RunEval, make_record: Make, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    solved = {"none": 20, "gold": 1, "routed-bm25": 2, "routed-random": 3}

    def behave(task: str, arm: str, epoch: int) -> TrialRecord:
        return make_record(task, arm, epoch, float((int(task[1:]) + epoch // 2) % solved[arm] == 0))

    tasks = [f"t{n:02d}" for n in range(12)]
    log = run_eval(tmp_path / "pilot", behave, tasks=tasks, arms=tuple(solved), epochs=2)
    target = tmp_path / "plan.json"
    options = ["--tasks", "60", "--effect", "0.2", "--json", str(target)]
    assert run(["plan", str(log), *options]) == 0
    said = " ".join(capsys.readouterr().out.split())
    plans = json.loads(target.read_text())
    assert {plan["alpha"] for plan in plans} == {0.05 / 2}
    assert "surely: were the variance between tasks at its 80% upper limit." in said
    for plan in plans:
        pairs = [(plan["detectable"][t], plan["surely"][t]) for t in plan["detectable"]]
        assert all(sure is None or (least is not None and sure >= least) for least, sure in pairs)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--rates", "0.4", "0.5", "--arms", "a", "b", "--tasks", "9"], "--arms are of a PILOT run"),
        (["LOG", "--rates", "0.4", "0.5"], "give a PILOT run or --rates P Q, not both"),
        (["LOG", "--correlation", "0.3"], "--correlation is for --rates"),
        (["LOG", "--shared", "0.3"], "--shared is for --rates"),
        ([], "give a PILOT run, or --rates P Q with --tasks N"),
    ],
)
def test_what_one_way_of_planning_has_no_use_for_is_refused(
    mixed_log: Path, options: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """They were once ignored."""
    assert run(["plan", *(str(mixed_log) if part == "LOG" else part for part in options)]) == 1
    assert said in capsys.readouterr().err
