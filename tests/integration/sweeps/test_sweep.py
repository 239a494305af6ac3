"""A sweep as typed: what it plans, what it runs, and what it never runs again."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from workbench.cli._sweep_fence import (
    LEDGER,
    LOCK,
    QUARANTINE,
    bring_back,
    identity,
    place,
    set_aside_stale,
    sole_owner,
    tidy,
)
from workbench.cli._sweep_ledger import read_ledger, repeated
from workbench.cli._sweep_run import agent_mark
from workbench.cli.main import run
from workbench.core.errors import UsageError
from workbench.reporting.find import find_logs
from workbench.reporting.read import Notes, read_trials
from workbench.reporting.trial import Trial

MODULE = "import sys; from workbench.cli.main import main; main(sys.argv[1:])"
AT_ONCE = 2
SPEC = """\
suite: quickstart
agents: [oracle]
routers: [{routers}]
trials: {trials}
tasks: [reading-list-bib, wharf-rent-roll]
"""


def spec(folder: Path, routers: str = "bm25", trials: int = 3) -> Path:
    target = folder / "small.yaml"
    target.write_text(SPEC.format(routers=routers, trials=trials))
    return target


def start(folder: Path, *options: str) -> subprocess.Popen[str]:
    """The command in a process group of its own, without a Docker engine."""
    command = [sys.executable, "-c", MODULE, "sweep", "small.yaml", "--max-samples", str(AT_ONCE), *options]
    environment = {**os.environ, "DOCKER_HOST": "unix:///nonexistent.sock"}
    return subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )


def finish(folder: Path) -> str:
    process = start(folder)
    out, _ = process.communicate(timeout=240)
    assert process.returncode == 0, out
    return out


def kill_after(folder: Path, lines: int) -> None:
    """Start, and SIGKILL the whole group once the ledger has this many lines."""
    process, ledger = start(folder), folder / "results" / "small" / LEDGER
    until = time.monotonic() + 180
    while time.monotonic() < until and process.poll() is None:
        if ledger.is_file() and ledger.read_text().count("\n") >= lines:
            break
        time.sleep(0.05)
    assert process.poll() is None, process.communicate()[0]
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def trials(folder: Path) -> list[Trial]:
    return list(read_trials(find_logs([folder / "results" / "small"]), Notes()))


def rewards(found: list[Trial]) -> dict[tuple[str, str, int], float | None]:
    return {
        (t.task, t.arm.label, t.epoch): None if t.record is None else t.record.outcome.reward for t in found
    }


@pytest.mark.slow
def test_killed_sweeps_go_on_and_every_trial_counts_once(tmp_path: Path) -> None:
    spec(tmp_path)
    kill_after(tmp_path, 2)
    kill_after(tmp_path, 8)
    folder = tmp_path / "results" / "small"
    for log in folder.glob("*.eval"):
        log.touch()
    shutil.copy(next(folder.glob("*.eval")), folder / "copy.eval")
    (folder / "cut.eval").write_bytes(next(folder.glob("*.eval")).read_bytes()[:500])
    out = finish(tmp_path)
    assert "set aside in quarantine/" in out
    found = trials(tmp_path)
    assert len(found) == len(rewards(found)) == 2 * 3 * 3
    assert {t.status for t in found} == {"scored"}
    scored = [e for e in read_ledger(folder / LEDGER) if e["status"] == "scored"]
    assert len({(e["sample"], e["epoch"]) for e in scored}) == 18
    assert repeated(folder / LEDGER) <= 2 * AT_ONCE, "only what was in flight may run again"
    aside = {path.name for path in (folder / QUARANTINE).iterdir()}
    assert {"copy.eval.aside", "cut.eval.aside"} <= aside

    lock = json.loads((folder / LOCK).read_text())
    assert all(job["version"] and job["pool_fingerprint"] for job in lock["jobs"])
    assert lock["packages"]["inspect-ai"]
    assert lock["models"]["none"]["id"] == "none/none"
    digests = {t.task: t.record.task_digest for t in found if t.record is not None}
    assert {name: entry["digest"] for name, entry in lock["tasks"].items()} == digests

    before = len(scored)
    spec(tmp_path, routers="bm25, random", trials=3)
    again = finish(tmp_path)
    assert "Completed all tasks" not in again, "Inspect's line of one of its sets is no line of the sweep"
    added = list(read_ledger(folder / LEDGER))[before:]
    assert {e["arm"] for e in added} == {"random"}, "a router added later runs alone"
    assert len(added) == 2 * 3
    assert run(["sweep", "status", str(folder)]) == 0


@pytest.mark.parametrize("name", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_keeps_what_ended_and_says_how_to_go_on(tmp_path: Path, name: signal.Signals) -> None:
    spec(tmp_path)
    process, ledger = start(tmp_path), tmp_path / "results" / "small" / LEDGER
    while process.poll() is None and not (ledger.is_file() and ledger.read_text().count("\n") >= 2):
        time.sleep(0.05)
    process.send_signal(name)
    out, _ = process.communicate(timeout=120)
    assert process.returncode == 130, out
    assert "of 18 trials" in out
    assert "the same command goes on" in " ".join(out.split())
    assert "Traceback" not in out
    assert [t for t in trials(tmp_path) if t.status == "scored"]


def test_logs_of_a_job_that_has_changed_are_set_aside_and_others_stay(tmp_path: Path) -> None:
    import zipfile

    def log(name: str, version: str, router: str) -> None:
        spec = {
            "eval_id": name,
            "created": "2026-11-30T12:00:00+00:00",
            "task": "workbench/quickstart",
            "task_version": version,
            "task_args_passed": {"router": router},
            "model": "none/none",
            "solver": "workbench/oracle",
            "scorers": [{"name": "workbench"}],
            "dataset": {"sample_ids": ["a@none"]},
        }
        with zipfile.ZipFile(tmp_path / f"{name}.eval", "w") as archive:
            archive.writestr("header.json", json.dumps({"status": "success", "eval": spec}))

    log("old", "1", "bm25")
    log("new", "2", "bm25")
    log("gone", "1", "random")
    done = set_aside_stale(tmp_path, {place("none/none", {}, "oracle", {"router": "bm25"}): identity(2, {})})
    assert [name for name, _ in done.moved] == ["old.eval"]
    assert sorted(path.name for path in tmp_path.glob("*.eval")) == ["gone.eval", "new.eval"]


def test_a_change_that_is_taken_back_brings_its_logs_back(tmp_path: Path) -> None:
    """They once stayed in quarantine, and all ran a third time."""
    import zipfile

    spec = {
        "eval_id": "e",
        "created": "2026-11-30T12:00:00+00:00",
        "task": "workbench/quickstart",
        "task_version": "1",
        "task_args_passed": {"router": "bm25"},
        "model": "none/none",
        "solver": "workbench/oracle",
        "scorers": [{"name": "workbench"}],
        "dataset": {"sample_ids": ["a@routed-bm25"]},
    }
    with zipfile.ZipFile(tmp_path / "log.eval", "w") as archive:
        archive.writestr("header.json", json.dumps({"status": "success", "eval": spec}))
    where = place("none/none", {}, "oracle", {"router": "bm25"})
    assert bring_back(tmp_path, {where: identity("1", {})}) == 0, "there is no quarantine yet"
    set_aside_stale(tmp_path, {where: identity("2", {})})
    assert bring_back(tmp_path, {where: identity("2", {})}) == 0
    assert not list(tmp_path.glob("*.eval"))
    assert bring_back(tmp_path, {where: identity("1", {})}) == 1
    assert [path.name for path in tmp_path.glob("*.eval")] == ["log.eval"]


def test_an_agent_is_known_by_its_file_and_a_link_to_a_log_is_a_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text("one")
    first = agent_mark("mine.py@good")
    assert first
    assert agent_mark("oracle") == ""
    (tmp_path / "mine.py").write_text("two")
    assert agent_mark("mine.py@good") != first
    assert agent_mark("inspect_ai/react").startswith(" inspect_ai ")

    folder = tmp_path / "run"
    folder.mkdir()
    (tmp_path / "elsewhere.eval").write_bytes(b"no log")
    (folder / "linked.eval").symlink_to(tmp_path / "elsewhere.eval")
    tidy(folder)
    assert (tmp_path / "elsewhere.eval").read_bytes() == b"no log", "what a link leads to is not moved"
    (aside,) = (folder / QUARANTINE).iterdir()
    assert not aside.is_symlink()


def test_logs_of_another_run_inside_the_folder_are_refused(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "x.eval").write_bytes(b"")
    with pytest.raises(UsageError, match="a log of another run inside"):
        tidy(tmp_path)


def test_a_second_process_in_one_folder_is_refused_and_told_the_owner(tmp_path: Path) -> None:
    with (
        sole_owner(tmp_path),
        pytest.raises(UsageError, match=f"process {os.getpid()} on"),
        sole_owner(tmp_path),
    ):
        pass
    with sole_owner(tmp_path):
        pass


def test_a_dry_run_says_what_would_run_and_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///nonexistent.sock")
    monkeypatch.chdir(tmp_path)
    assert run(["sweep", str(spec(tmp_path)), "--dry-run"]) == 0
    out = capsys.readouterr().out
    assert "in all" in out
    assert "hooks enabled" not in out
    assert "nothing was run" in out
    assert not (tmp_path / "results").exists()


def test_an_interrupt_after_a_job_has_ended_starts_no_other_agent(tmp_path: Path) -> None:
    text = SPEC.format(routers="bm25", trials=3).replace("[oracle]", "[oracle, nop]")
    (tmp_path / "small.yaml").write_text(text + "conditions: [none, routed]\n")
    process, ledger = start(tmp_path, "--max-tasks", "1"), tmp_path / "results" / "small" / LEDGER
    while process.poll() is None and not (ledger.is_file() and ledger.read_text().count("\n") >= 7):
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=120)
    assert process.returncode == 130, out
    assert {entry["sample"].partition("@")[2] for entry in read_ledger(ledger)} >= {"none"}
    assert len(list(read_ledger(ledger))) < 2 * 2 * 2 * 3
    assert not any(trial.agent == "nop" for trial in trials(tmp_path))


def test_the_ledger_survives_a_line_that_was_cut(tmp_path: Path) -> None:
    from workbench.cli._sweep_ledger import Ledger

    ledger = Ledger(tmp_path / LEDGER)
    entry = {
        "job": "j",
        "eval": "e",
        "sample": "a@none",
        "epoch": 1,
        "status": "scored",
        "reward": 1.0,
        "cost_usd": None,
        "tokens": None,
    }
    ledger.ends(("m", "a", "none"), entry)
    with ledger.path.open("a") as file:
        file.write(json.dumps({**entry, "epoch": 2})[:40])
    ledger.ends(("m", "a", "none"), {**entry, "epoch": 3})
    with ledger.path.open("ab") as broken:
        broken.write(b"\xff\n[1]\n7\n")
    assert [e["epoch"] for e in read_ledger(ledger.path)] == [1, 3]
    assert repeated(ledger.path) == 0
    ledger.ends(("m", "a", "none"), entry)
    assert repeated(ledger.path) == 1


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("agents: [workbench/]", "agents.0: is empty"),
        ("agents: [skill_agent]", "agent 'skill_agent' needs a model; give models, or exclude the pair"),
        ("agents: [/etc/passwd@x]", "agent '/etc/passwd@x': "),
        ("model_args: {config: 1}", "model_args: 'config' is no setting of a provider"),
        ("generate: {temperature: .nan}", "generate.temperature: must be a finite number (found nan)"),
        ("limits: {cost_usd: .inf}", "limits.cost_usd: "),
        ("agents: [orcale]", "unknown agent 'orcale'; did you mean 'oracle'?"),
        ("agents: [nobody/here]", "agent 'nobody/here': Unknown solver nobody/here"),
        ("generate: {temprature: 0.3}", "unknown key in generate: 'temprature'; did you mean 'temperature'?"),
        ("models: [litellm]", "model 'litellm': Model name 'litellm' should be in the format"),
        ("models: [nobody/x]", "model 'nobody/x': Model API nobody of model 'nobody/x' not recognized"),
        ("generate: {temperature: warm}", "generate.temperature: must be a number (found 'warm')"),
    ],
)
def test_an_unknown_agent_model_or_setting_is_refused_before_anything_runs(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    line: str,
    said: str,
) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///nonexistent.sock")
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "wrong.yaml"
    file.write_text(f"suite: quickstart\nrouters: [random]\n{line}\n")
    assert run(["sweep", str(file), "--dry-run"]) == 1
    assert said in " ".join(capsys.readouterr().err.split())
