"""Every planned trial exactly once, whatever the logs went through."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import textwrap
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from workbench.core.record import TrialRecord
from workbench.reporting.read import Notes, read_trials
from workbench.reporting.trial import Trial

MakeRecord = Callable[..., TrialRecord]
RunEval = Callable[..., Path]
Key = tuple[str, str, int]


def read(*logs: Path) -> tuple[dict[Key, Trial], Notes]:
    notes = Notes()
    trials = list(read_trials(logs, notes))
    found = {(t.task, t.arm.label, t.epoch): t for t in trials}
    assert len(found) == len(trials), "a trial was read twice"
    return found, notes


def statuses(trials: dict[Key, Trial]) -> Counter[str]:
    return Counter(trial.status for trial in trials.values())


def test_every_planned_trial_is_read_once_with_what_became_of_it(mixed_log: Path) -> None:
    trials, notes = read(mixed_log)
    assert len(trials) == 2 * 3 * 3
    assert statuses(trials) == {"scored": 15, "excluded": 3}
    assert trials["a", "gold", 2].cause == "infra:start"
    assert trials["a", "gold", 2].detail == "no 'container' after 60 s"
    assert trials["b", "none", 3].cause == "harness_bug"
    assert trials["b", "routed-bm25", 1].cause == "verifier_timeout"
    assert notes.read == [mixed_log]


def test_copies_and_touched_files_change_nothing(mixed_log: Path, tmp_path: Path) -> None:
    copy = tmp_path / "2020-01-01T00-00-00_copy.eval"
    shutil.copy(mixed_log, copy)
    os.utime(copy, (0, 0))
    once, _ = read(mixed_log)
    for logs in ((mixed_log, copy), (copy, mixed_log)):
        twice, notes = read(*logs)
        assert {k: (t.status, t.cause) for k, t in twice.items()} == {
            k: (t.status, t.cause) for k, t in once.items()
        }
        assert notes.superseded == 18


def test_the_scored_record_wins_over_newer_failures(
    run_eval: RunEval, make_record: MakeRecord, tmp_path: Path
) -> None:
    """A resumed run: what failed at first is scored later, what was scored at first fails later."""

    def first(task: str, arm: str, epoch: int) -> TrialRecord | Exception:
        return RuntimeError("first") if task == "a" else make_record(task, arm, epoch)

    def second(task: str, arm: str, epoch: int) -> TrialRecord | Exception:
        return make_record(task, arm, epoch) if task == "a" else RuntimeError("second")

    older = run_eval(tmp_path, first, arms=("none",))
    newer = run_eval(tmp_path, second, arms=("none",))
    for logs in ((older, newer), (newer, older)):
        trials, notes = read(*logs)
        assert statuses(trials) == {"scored": 2}
        assert notes.superseded == 2
        assert {t.log for t in trials.values()} == {older, newer}


def test_of_equals_the_newer_counts_by_the_stamp_in_the_log(mixed_log: Path, tmp_path: Path) -> None:
    from inspect_ai.log import read_eval_log, write_eval_log

    log = read_eval_log(str(mixed_log))
    log.eval.created = "2020-01-01T00:00:00+00:00"
    older = tmp_path / "9999.eval"
    write_eval_log(log, str(older))
    trials, _ = read(older, mixed_log)
    assert {trial.log for trial in trials.values()} == {mixed_log}


def test_runs_with_other_arguments_are_other_trials(
    run_eval: RunEval, make_record: MakeRecord, tmp_path: Path
) -> None:
    logs = [
        run_eval(tmp_path, make_record, arms=("none",), task_args={"router": name})
        for name in ("bm25", "random")
    ]
    notes = Notes()
    assert len(list(read_trials(logs, notes))) == 4
    assert notes.superseded == 0


def test_logs_of_other_tasks_and_other_files_are_ignored_and_counted(
    run_eval: RunEval, make_record: MakeRecord, mixed_log: Path, tmp_path: Path
) -> None:
    foreign = run_eval(tmp_path, make_record, name="arithmetic", scorer="match")
    listing = tmp_path / "logs.json"
    listing.write_text(json.dumps({"files": []}))
    trials, notes = read(mixed_log, foreign, listing)
    assert len(trials) == 18
    assert notes.foreign == [(foreign, "a log of task 'arithmetic'"), (listing, "a JSON file that is no log")]


def test_damaged_logs_are_named_and_the_others_read(mixed_log: Path, tmp_path: Path) -> None:
    damaged = {"cut.eval": mixed_log.read_bytes()[:-100], "zero.eval": b"", "noise.eval": b"\x00\xff" * 500}
    for name, content in damaged.items():
        (tmp_path / name).write_bytes(content)
    trials, notes = read(*(tmp_path / name for name in damaged), mixed_log)
    assert len(trials) == 18
    assert [path.name for path, _ in notes.unreadable] == list(damaged)
    assert all(reason and "\n" not in reason for _, reason in notes.unreadable)


def test_a_log_with_strange_sample_ids_is_named_not_guessed_at(mixed_log: Path, tmp_path: Path) -> None:
    from inspect_ai.log import read_eval_log, write_eval_log

    log = read_eval_log(str(mixed_log))
    log.eval.dataset.sample_ids = ["a@none", "strange"]
    path = tmp_path / "strange.eval"
    write_eval_log(log, str(path))
    trials, notes = read(path)
    assert not trials
    assert notes.unreadable == [(path, "sample id 'strange' is not <task>@<arm>")]


SCRIPT = """
import os, signal, sys, anyio
from inspect_ai import Task, eval, task
from inspect_ai.dataset import Sample
from inspect_ai.scorer import Score, mean, scorer
from inspect_ai.solver import solver

record = {record}

@solver
def act():
    async def solve(state, generate):
        if state.sample_id == "t2@none":
            os.kill(os.getpid(), signal.{signal})
            await anyio.sleep(60)
        return state
    return solve

@scorer(metrics={{"reward": [mean()]}}, name="workbench")
def write():
    async def score(state, target):
        own = dict(record, task=state.sample_id.split("@")[0])
        return Score(value={{"reward": 1.0}}, metadata={{"record": own}})
    return score

@task
def quickstart():
    ids = [f"t{{n}}@none" for n in range(5)]
    return Task(dataset=[Sample(input="x", id=i) for i in ids], solver=act(), scorer=write())

signal.signal(signal.SIGINT, signal.default_int_handler)
eval(quickstart(), model="none", display="none", log_dir=sys.argv[1], max_samples=1, log_buffer=1)
"""


@pytest.mark.parametrize(("signal", "status"), [("SIGINT", "cancelled"), ("SIGKILL", "started")])
def test_an_interrupted_run_leaves_what_it_finished_and_the_rest_pending(
    make_record: MakeRecord, tmp_path: Path, signal: str, status: str
) -> None:
    from workbench.reporting.logfile import read_header

    record = repr(make_record("t", "none").model_dump(mode="json"))
    script = tmp_path / "run.py"
    script.write_text(textwrap.dedent(SCRIPT.format(record=record, signal=signal)))
    folder = tmp_path / "logs"
    subprocess.run([sys.executable, str(script), str(folder)], capture_output=True, timeout=120, check=False)
    (log,) = folder.glob("*.eval")
    assert read_header(log).status == status
    trials, notes = read(log)
    assert statuses(trials) == {"scored": 2, "pending": 3}
    assert {task for (task, _, _), trial in trials.items() if trial.status == "scored"} == {"t0", "t1"}
    assert not notes.unreadable


def test_a_run_under_other_limits_is_another_run(
    run_eval: RunEval, make_record: MakeRecord, tmp_path: Path
) -> None:
    """The scored trial without a limit hid the one that the limit ended."""
    from inspect_ai.log import read_eval_log, write_eval_log

    free = run_eval(tmp_path, make_record, arms=("none",))
    log = read_eval_log(str(free))
    log.eval.config.time_limit = 1
    bound = tmp_path / "bound.eval"
    write_eval_log(log, str(bound))
    notes = Notes()
    found = list(read_trials([free, bound], notes))
    assert Counter(trial.log for trial in found) == {free: 2, bound: 2}
    assert notes.superseded == 0
