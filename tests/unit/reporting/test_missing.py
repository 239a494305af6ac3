"""Trials that were not scored: they stay in the family, bound every difference, and may take a win back."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from workbench.cli.main import run
from workbench.core.record import TrialRecord
from workbench.reporting.findings import finding, stands
from workbench.reporting.report import Canvas, load_report
from workbench.reporting.schema import ArmSummary, Summary
from workbench.reporting.summary import summarise
from workbench.reporting.trial import Trial
from workbench.stats.paired import difference

Make = Callable[..., TrialRecord]
MakeTrial = Callable[..., Trial]
RunEval = Callable[..., Path]
TASKS = [f"t{n:02d}" for n in range(12)]
ARMS = ("none", "gold", "routed-alive", "routed-dead")
ALIVE = set(TASKS[:6])
LUCKY = [f"t{n:02d}" for n in range(18)]
LOST = {"cause": "infra:build", "detail": "no image"}


def behave(task: str, arm: str) -> dict[str, Any]:
    """`alive` solves half of what gold does; no trial of `dead` is scored."""
    if arm == "routed-dead":
        return LOST
    return {"reward": float(arm == "gold" or (arm == "routed-alive" and task in ALIVE))}


def shaky(task: str, arm: str) -> dict[str, Any]:
    """`alive` fails by exclusion where it does not pass."""
    return LOST if arm == "routed-alive" and task not in ALIVE else behave(task, arm)


@pytest.fixture
def build(make_record: Make, make_trial: MakeTrial) -> Callable[..., Summary]:
    def made(how: Callable[[str, str], dict[str, Any]], arms: tuple[str, ...] = ARMS) -> Summary:
        return summarise([make_trial(make_record(t, a, **how(t, a))) for t, a in product(TASKS, arms)])

    return made


def arm(summary: Summary, label: str) -> ArmSummary:
    (found,) = [found for found in summary.blocks[0].arms if found.arm == label]
    return found


def test_an_arm_of_which_nothing_is_scored_stays_in_the_family(build: Callable[..., Summary]) -> None:
    """It once shrank the family, so that losing a router made the others look surer."""
    alive = arm(build(behave), "routed-alive").vs_none
    assert alive is not None
    assert alive.p_value == 2 / 2**6
    assert (alive.family, alive.p_adjusted) == (2, 2 * 2 / 2**6)
    dead = arm(build(behave), "routed-dead").vs_none
    assert dead is not None
    assert (dead.family, dead.p_value, dead.p_adjusted, dead.difference.value) == (2, None, None, None)
    assert (dead.bounds.lowest, dead.bounds.highest) == (0, 1) if dead.bounds else False


@pytest.mark.parametrize("name", ["terminal", "markdown", "csv", "json", "html"])
def test_every_report_says_that_an_arm_is_not_measured(name: str, build: Callable[..., Summary]) -> None:
    text = load_report(name).render(build(behave), Canvas(width=80))
    assert "not measured: all 12 trials excluded" in " ".join(text.split())
    if name == "csv":
        rows = [r for r in csv.DictReader(io.StringIO(text)) if r["arm"] == "routed-dead"]
        (row,) = [r for r in rows if r["quantity"] == "difference" and r["baseline"] == "none"]
        assert (row["value"], row["family"]) == ("", "2")
    if name == "terminal":
        assert "dead: not measured: all 12 trials excluded." in text
        assert "dead - none: not measured: all 12 trials excluded, and stays in the family of 2" in text


def test_a_difference_has_the_bounds_that_its_missing_trials_leave(build: Callable[..., Summary]) -> None:
    alive = arm(build(shaky), "routed-alive")
    assert alive.vs_none is not None
    assert alive.vs_none.bounds is not None
    assert alive.vs_none.difference.value == 1
    assert (alive.vs_none.bounds.trials, alive.vs_none.bounds.lowest, alive.vs_none.bounds.highest) == (
        6,
        0.5,
        1,
    )
    worst = difference([[1.0]] * 6 + [[0.0]] * 6, [[0.0]] * 12, 0)
    assert worst.interval is not None
    assert (alive.vs_none.bounds.against.low, alive.vs_none.bounds.p_value) == (
        worst.interval.low,
        worst.p_value,
    )
    assert alive.gap is not None
    assert (alive.gap.lowest, alive.gap.highest, alive.gap.open) == (0.5, 1, False)
    full = arm(build(behave, ("none", "gold", "routed-alive")), "routed-alive")
    assert full.vs_none is not None
    assert full.gap is not None
    assert (full.vs_none.bounds, full.gap.lowest, full.gap.open) == (None, None, False)


def test_missing_baseline_trials_count_against_a_win_as_passed(build: Callable[..., Summary]) -> None:
    def bare(task: str, arm: str) -> dict[str, Any]:
        return LOST if (task, arm) in {("t00", "none"), ("t11", "none")} else behave(task, arm)

    alive = arm(build(bare), "routed-alive").vs_none
    assert alive is not None
    assert alive.bounds is not None
    assert (alive.bounds.lowest, alive.bounds.highest) == (pytest.approx(4 / 12), pytest.approx(6 / 12))
    assert alive.bounds.against.value == alive.bounds.lowest


def lucky(task: str, arm: str) -> dict[str, Any]:
    """`alive` passes eight of 18 tasks and is excluded where no skills pass: a win that may be none."""
    late = int(task[1:]) >= 8
    return LOST if late and arm == "routed-alive" else {"reward": float(late or arm != "none")}


def test_a_win_that_its_missing_trials_may_undo_is_told_as_such(
    make_record: Make, make_trial: MakeTrial
) -> None:
    """It was once a plain win in the headline."""
    tasks = [f"t{n:02d}" for n in range(18)]
    summary = summarise(
        [
            make_trial(make_record(t, a, **lucky(t, a)))
            for t, a in product(tasks, ("none", "gold", "routed-alive"))
        ]
    )
    alive = arm(summary, "routed-alive").vs_none
    assert alive is not None
    assert (finding(alive), stands(alive)) == ("better", False)
    (said,) = summary.blocks[0].headline
    assert said.startswith("alive: better than no skills on what was scored, +1.00 [")
    assert "; but not shown if the 10 trials not scored went against it: -0.11 [" in said
    assert "closes" not in said
    terminal = " ".join(load_report("terminal").render(summary, Canvas(width=80)).split())
    assert "alive - none if missing: -0.11 to +0.44; gold gap closed" in terminal
    for name in ("markdown", "html"):
        text = load_report(name).render(summary, Canvas()).replace("\\", "")
        assert "-0.11 to +0.44" in text
        assert "not shown if the 10 trials not scored went against it" in text


def test_a_win_that_holds_at_its_worst_is_told_with_its_worst(build: Callable[..., Summary]) -> None:
    def bare(task: str, arm: str) -> dict[str, Any]:
        return LOST if (task, arm) == ("t00", "none") else {"reward": float(arm != "none")}

    summary = build(bare, ARMS[:3])
    assert "alive closes 100% [" in summary.blocks[0].headline[0]
    assert "; so too if the 1 trial not scored went against it: +0.92." in summary.blocks[0].headline[0]


@pytest.fixture
def log(tmp_path: Path, run_eval: RunEval, make_record: Make) -> Path:
    """The lucky run, written by Inspect."""

    def planned(task: str, arm: str, epoch: int) -> TrialRecord:
        return make_record(task, arm, epoch, **lucky(task, arm))

    return run_eval(tmp_path / "lucky", planned, tasks=LUCKY, arms=ARMS[:3])


def test_better_is_not_granted_where_it_depends_on_what_is_missing(
    log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`--require better` once passed on such a difference without a word."""
    asked = ["compare", str(log), "--arms", "alive", "none", "--require", "better"]
    assert run(asked) == 2
    shown = capsys.readouterr()
    said = " ".join(shown.out.split())
    assert "alive is better than none on what was scored: +1.00" in said
    assert "exclusion rates differ between arms (first 55.6%, second 0.0%)" in said
    assert "--missing-by-chance accepts that" in shown.err
    target = tmp_path / "found.json"
    assert run([*asked, "--missing-by-chance", "--json", str(target)]) == 4
    (result,) = json.loads(target.read_text())["results"]
    assert result["comparison"]["bounds"]["lowest"] == pytest.approx(-2 / 18)


@pytest.mark.parametrize("required", ["not-worse", "equivalent"])
def test_sameness_is_not_granted_where_it_depends_on_what_is_missing(log: Path, required: str) -> None:
    """It is judged with every trial not scored against it, as a difference is."""
    asked = ["compare", str(log), "--arms", "alive", "gold", "--require", required, "--margin", "0.5"]
    assert run(asked) == 2
    assert run([*asked, "--missing-by-chance"]) == 4
