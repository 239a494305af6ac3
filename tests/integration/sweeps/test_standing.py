"""How far a sweep is: what the lock plans, and only trials that a start would not run again."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import workbench
from workbench.cli._sweep_fence import LEDGER, LOCK, QUARANTINE, sole_owner
from workbench.cli._sweep_ledger import read_ledger, repeated
from workbench.cli.main import run
from workbench.reporting.find import find_logs
from workbench.reporting.logfile import read_header
from workbench.reporting.read import Notes, read_trials
from workbench.reporting.trial import Plan

MODULE = "import sys; from workbench.cli.main import main; main(sys.argv[1:])"
SPEC = """\
suite: quickstart
agents: [oracle, nop]
routers: [random]
trials: {trials}
tasks: [wharf-rent-roll]
{more}
"""
RECIPE = """\
description: no longer at random
stages:
  - bm25:
"""
FOLDER = Path("results/small")


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with a complete sweep: 2 agents x 3 arms x 2 trials."""
    folder = tmp_path_factory.mktemp("ran")
    write(folder)
    perform(folder)
    return folder


@pytest.fixture
def space(ran: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it, which is the current folder."""
    target = tmp_path / "space"
    shutil.copytree(ran, target)
    monkeypatch.setenv("DOCKER_HOST", "unix:///nonexistent.sock")
    monkeypatch.chdir(target)
    return target


def write(folder: Path, trials: int = 2, more: str = "") -> None:
    (folder / "small.yaml").write_text(SPEC.format(trials=trials, more=more))


def perform(folder: Path, *options: str, spec: str = "small.yaml") -> str:
    """Run the sweep in a process of its own: Inspect leaves streams to the garbage collector."""
    command = [sys.executable, "-c", MODULE, "sweep", spec, *options]
    environment = {**os.environ, "DOCKER_HOST": "unix:///nonexistent.sock"}
    done = subprocess.run(
        command, cwd=folder, env=environment, text=True, capture_output=True, timeout=240, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def trial(entry: dict[str, Any]) -> tuple[str, str, int]:
    """What tells lines of the ledger apart."""
    return entry["job"], entry["sample"], entry["epoch"]


def total(out: str) -> list[str]:
    """Trials and done of a forecast."""
    return next(line for line in out.splitlines() if line.startswith("in all")).split()[2:4]


def test_an_agent_that_never_started_leaves_a_sweep_incomplete(
    space: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Killed between two jobs: the logs of one agent only, the lock with both."""
    assert run(["sweep", "status", str(FOLDER)]) == 0
    assert "0 trials not scored" in capsys.readouterr().out
    for log in FOLDER.glob("*.eval"):
        if read_header(log).eval.solver == "workbench/nop":
            log.unlink()
    (FOLDER / "cut.eval").write_bytes(next(FOLDER.glob("*.eval")).read_bytes()[:300])
    assert run(["sweep", "status", str(FOLDER)]) == 4
    out = capsys.readouterr().out
    assert "6 trials not scored" in out
    assert "1 log cannot be read" in out
    assert "running" not in out, "logs do not tell"
    assert [line.split()[3] for line in out.splitlines() if " nop " in line] == ["0/2"] * 3


def test_a_line_that_a_kill_cost_the_ledger_is_written_again_from_the_logs(
    space: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A trial is in its log before it is in the ledger; SIGKILL came between the two."""
    ledger = FOLDER / LEDGER
    before = {trial(entry): entry for entry in read_ledger(ledger)}
    lines = ledger.read_text().splitlines(keepends=True)
    ledger.write_text("".join(lines[:5] + lines[6:-1]) + lines[-1][:30])
    assert len(list(read_ledger(ledger))) == len(before) - 2
    with sole_owner(FOLDER):
        run(["sweep", "status", str(FOLDER)])
    assert len(list(read_ledger(ledger))) == len(before) - 2, "its owner may be about to write them"
    for _ in range(2):
        assert run(["sweep", "status", str(FOLDER)]) == 0
        assert "0 scored trials run twice" in capsys.readouterr().out
        after = list(read_ledger(ledger))
        assert len(after) == len(before) == len({trial(entry) for entry in after})
    found = [entry for entry in after if entry.pop("backfilled", False)]
    assert len(found) == 2
    for entry in found:
        assert {**entry, "at": 0} == {**before[trial(entry)], "at": 0}


def test_a_log_whose_end_is_gone_keeps_its_whole_trials(space: Path) -> None:
    logs = {read_header(path).eval.solver: path for path in sorted(FOLDER.glob("*.eval"))}
    whole = {path: path.read_bytes() for path in logs.values()}
    table, last = (whole[path] for path in logs.values())
    first, second = logs.values()
    first.write_bytes(table[:-100])
    second.write_bytes(last[: last.rindex(b"samples/", 0, last.index(b"PK\1\2"))])
    ran = perform(space)
    assert "whole trials are kept" in " ".join(ran.split())
    kept = {path.name for path in (FOLDER / "quarantine").iterdir()}
    assert kept == {f"{first.name}.aside", f"{second.name}.aside"}
    ledger = [trial(entry) for entry in read_ledger(FOLDER / LEDGER) if entry["status"] == "scored"]
    assert 0 < len(ledger) - len(set(ledger)) <= 2, "what was lost of one log runs again, and no more"
    assert len(list(read_trials(find_logs([FOLDER]), Notes()))) == 12


def test_trials_that_a_run_has_not_reached_are_its_agents(space: Path) -> None:
    path = next(path for path in FOLDER.glob("*.eval") if read_header(path).eval.solver == "workbench/nop")
    pending = Plan.of(read_header(path), path).pending("wharf-rent-roll@none", 1, "")
    assert pending.agent == "nop"


def test_the_same_sweep_started_from_another_folder_runs_nothing_again(space: Path) -> None:
    """From above the package all ran twice: Inspect knew logs by the file of the task, seen from there."""
    before, logs = (FOLDER / LEDGER).read_bytes(), set(FOLDER.glob("*.eval"))
    above = Path(workbench.__file__).parents[1]
    perform(above, "--out", str(space / FOLDER), spec=str(space / "small.yaml"))
    assert (FOLDER / LEDGER).read_bytes() == before
    assert set(FOLDER.glob("*.eval")) == logs


def test_a_folder_without_a_lock_is_never_called_complete(
    space: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (FOLDER / LOCK).unlink()
    assert run(["sweep", "status", str(FOLDER)]) == 4
    assert "no readable sweep.lock" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("more", ["limits: {seconds: 300}", "generate: {temperature: 0.5}"])
def test_a_dry_run_counts_no_trial_of_other_limits_or_settings(
    space: Path, capsys: pytest.CaptureFixture[str], more: str
) -> None:
    write(space)
    assert run(["sweep", "small.yaml", "--dry-run"]) == 0
    assert total(capsys.readouterr().out) == ["12", "12"]
    write(space, more=more)
    assert run(["sweep", "small.yaml", "--dry-run"]) == 0
    out = capsys.readouterr().out
    assert total(out) == ["12", "0"]
    assert "of other jobs, recipes or limits not counted" in out


def test_a_dry_run_counts_no_trial_of_an_older_recipe(
    space: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (space / "routers").mkdir()
    (space / "routers" / "random.yaml").write_text(RECIPE)
    assert run(["sweep", "small.yaml", "--dry-run"]) == 0
    out = capsys.readouterr().out
    assert total(out) == ["12", "8"], "baselines do not rest on it"
    assert "2 logs of other jobs" in out


def test_a_run_under_a_new_limit_takes_the_place_of_the_old_and_is_no_repetition(
    space: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(space, more="limits: {seconds: 300}")
    assert "(limits)" in perform(space)
    trials = list(read_trials(find_logs([FOLDER]), Notes()))
    assert len(trials) == 12
    assert {read_header(trial.log).eval.config.time_limit for trial in trials} == {300}
    assert len(list((FOLDER / QUARANTINE).iterdir())) == 6
    assert repeated(FOLDER / LEDGER) == 0
    assert run(["sweep", "status", str(FOLDER)]) == 0
    assert run(["sweep", "small.yaml", "--dry-run"]) == 0
    assert total(capsys.readouterr().out) == ["12", "12"]


@pytest.mark.parametrize(
    ("more", "known"),
    [
        ("generate: {temperature: 0.5, max_connections: 3}", True),
        ("k: [5]", True),
        ("generate: {reasoning_effort: high}", False),
        ("limits: {messages: 9}", True),
    ],
)
def test_prices_of_a_pilot_hold_for_whatever_does_not_bear_on_the_length_of_answers(
    space: Path, capsys: pytest.CaptureFixture[str], more: str, known: bool
) -> None:
    """A temperature in the spec left every price unknown."""
    write(space, more=more)
    assert run(["sweep", "small.yaml", "--dry-run", "--out", "new", "--pilot", str(FOLDER)]) == 0
    out = capsys.readouterr().out
    last = next(line for line in out.splitlines() if line.startswith("in all")).split()
    assert last[2:4] == ["12", "0"]
    assert (last[4:7] == ["0", "0", "$0.00"]) is known
    assert ("not known" in out) is not known
    assert ("ran under other limits" in out) is ("limits" in more)


def test_a_pilot_that_is_not_there_is_an_error(space: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["sweep", "small.yaml", "--dry-run", "--pilot", "results/smal"]) == 1
    assert "results/smal" in capsys.readouterr().err


def test_fewer_trials_than_are_there_are_said_and_never_negative(
    space: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(space, trials=1)
    assert run(["sweep", "small.yaml", "--dry-run"]) == 0
    out = capsys.readouterr().out
    assert total(out) == ["6", "6"]
    assert "-0" not in out
    assert "6 scored trials beyond the number planned" in out


@pytest.mark.parametrize("lock", [True, False])
def test_another_suite_in_the_folder_of_a_sweep_is_refused(
    space: Path, capsys: pytest.CaptureFixture[str], lock: bool
) -> None:
    if not lock:
        (FOLDER / LOCK).unlink()
    command = ["sweep", "--suite", "srabench-sample", "--routers", "random", "--out", str(FOLDER)]
    assert run([*command, "--dry-run"]) == 1
    said = " ".join(capsys.readouterr().err.split())
    assert "holds a sweep of suite 'quickstart', not of 'srabench-sample'" in said
