"""`inspect eval workbench/... --router ...`, word for word, as a user types it."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest
from inspect_ai.log import headline_metric, list_eval_logs, read_eval_log

from tests.integration.evaluation.conftest import BIN, Bench

ONE = ("-T", "tasks=waybill-repair")


def test_the_options_are_shown_under_their_own_heading(local: Bench) -> None:
    for command in ("eval", "eval-set"):
        shown = local.run("inspect", command, "--help").stdout
        ours = shown[shown.index("Workbench Options") :]
        for option in ("--router", "--router-k", "--pool", "--conditions", "--disclosure"):
            assert option in ours


def test_one_command_routes_runs_verifies_records_and_sums_up(local: Bench) -> None:
    done = local.inspect("eval", "workbench/quickstart", "--router", "bm25", "--model", "none", *ONE)
    assert "not isolated" in done.stderr
    assert "Where trials ended" in done.stdout
    records = local.records()
    assert {name: r.outcome.reward for name, r in records.items()} == {
        "waybill-repair@none": 0.0,
        "waybill-repair@gold": 1.0,
        "waybill-repair@routed-bm25": 1.0,
    }
    routed = records["waybill-repair@routed-bm25"]
    assert len(routed.route.ranking) == 50
    assert routed.route.gold == ("northline-waybill-check",)
    assert routed.exposure.routed == tuple(entry.id for entry in routed.route.ranking[:5])
    assert len(routed.exposure.installed) == 5
    assert routed.outcome.funnel == "passed"
    assert routed.outcome.tests
    assert records["waybill-repair@none"].exposure.installed == ()
    assert routed.spend.cost_usd == 0
    assert (routed.agent, routed.sandbox, routed.model) == ("oracle", "local", "none/none")
    (log,) = local.logs()
    shown = headline_metric(log)
    assert shown is not None
    assert (shown.score.name, shown.name, shown.metric.value) == ("reward", "grouped_routed-bm25", 1.0)
    assert "Headline metric" not in done.stdout + done.stderr


def test_options_mean_what_task_arguments_mean(local: Bench) -> None:
    common = ("--model", "none", *ONE)
    local.inspect(
        "eval",
        "workbench/quickstart",
        "--router",
        "bm25,random",
        "--router-k",
        "2",
        "--conditions",
        "routed",
        *common,
    )
    arguments = ("-T", "router=bm25,random", "-T", "router_k=2", "-T", "conditions=routed")
    local.inspect("eval", "workbench/quickstart", *arguments, *common)
    first, second = local.logs()
    assert first.eval.task_args_passed == second.eval.task_args_passed
    assert first.eval.task_version == second.eval.task_version
    assert list(local.records(first)) == list(local.records(second))
    assert {r.route.k for r in local.records(first).values()} == {2}


def test_epochs_and_limit_are_inspects_own(local: Bench) -> None:
    local.inspect("eval", "workbench/quickstart", "--epochs", "2", "--limit", "3", *ONE)
    assert len(local.records()) == 6
    assert {r.epoch for r in local.records().values()} == {1, 2}


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("workbench/quickstart", "--router", "bm52"), "unknown router 'bm52'; did you mean 'bm25'?"),
        (
            ("workbench/quikstart",),
            "unknown suite 'workbench/quikstart'; did you mean 'workbench/quickstart'?",
        ),
        (("workbench/quickstart", "-T", "ruoter=bm25"), "did you mean 'router'?"),
        (("workbench/quickstart", "--pool", "quikstart"), "did you mean 'quickstart'?"),
        (("workbench/quickstart", "-T", "tasks=waybil-repair"), "did you mean 'waybill-repair'?"),
        (("workbench/quickstart", "--conditions", "golden"), "did you mean 'gold'?"),
        (("workbench/quickstart", "--disclosure", "ful"), "did you mean 'full'?"),
        (("workbench/quickstart", "--router", "bm25", "-T", "router=random"), "contradict each other"),
        (("workbench/skillsbench", "--router", "bm25"), "type: workbench fetch skillsbench"),
        (("workbench/quickstart", "--log-dir", "/dev/null/x"), "cannot make /dev/null/x"),
        (("workbench/skillsbench", "-T", "data=/nowhere"), "/nowhere: holds no task folders"),
    ],
)
def test_a_mistake_is_one_message_and_a_non_zero_exit(
    local: Bench, arguments: tuple[str, ...], says: str
) -> None:
    done = local.inspect("eval", *arguments, exits=None)
    assert done.returncode != 0
    output = " ".join((done.stdout + done.stderr).split())
    assert says in output
    assert "Traceback" not in output
    assert not list(local.folder.glob("results/**/*.eval"))


def test_a_broken_recipe_is_named_by_file_and_line(local: Bench) -> None:
    (local.folder / "routers").mkdir()
    (local.folder / "routers" / "mine.yaml").write_text("description: d\nstages:\n  - bm25: {k11: 2}\n")
    done = local.inspect("eval", "workbench/quickstart", "--router", "mine", exits=None)
    assert done.returncode != 0
    assert "mine.yaml:3:" in done.stdout + done.stderr
    assert "did you mean 'k1'?" in " ".join((done.stdout + done.stderr).split())


def test_a_results_folder_that_cannot_be_written_is_one_message(local: Bench) -> None:
    (local.folder / "results").write_text("in the way")
    done = local.inspect("eval", "workbench/quickstart", "--router", "bm25", *ONE, exits=None)
    assert done.returncode != 0
    assert "give --log-dir" in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr


def test_other_inspect_commands_and_other_peoples_tasks_are_untouched(local: Bench) -> None:
    (local.folder / "mine.py").write_text(
        "from inspect_ai import Task, task\nfrom inspect_ai.dataset import Sample\n"
        "@task\ndef mine():\n    return Task(dataset=[Sample(input='q')], solver=[])\n"
    )
    assert "mine" in local.run("inspect", "list", "tasks").stdout
    local.inspect("eval", "mine.py", "--model", "none")
    assert list((local.folder / "logs").glob("*.eval"))
    assert not (local.folder / "results").exists()


def test_start_up_of_python_and_of_inspect_survives_a_broken_workbench(local: Bench) -> None:
    broken = local.folder / "workbench"
    broken.mkdir()
    (broken / "__init__.py").write_text("")
    (broken / "_inspect_options.py").write_text("raise RuntimeError('broken on purpose')\n")
    local.env["PYTHONPATH"] = str(local.folder)
    done = local.run("inspect", "list", "tasks")
    assert "broken on purpose" in done.stderr
    assert "use -T router=" in done.stderr
    assert local.run("python", "-c", "print('fine')").stderr == ""


def test_a_set_that_is_complete_runs_nothing_again(local: Bench) -> None:
    command = ("eval-set", "workbench/quickstart", "--router", "bm25", "--model", "none", *ONE)
    local.inspect(*command)
    before = {s.uuid for log in local.logs() for s in log.samples or []}
    done = local.inspect(*command)
    assert {s.uuid for log in local.logs() for s in log.samples or []} == before
    assert "3 of 3 trials scored" in done.stdout


def test_a_changed_pool_is_not_taken_for_one_that_has_run(local: Bench) -> None:
    skill = local.folder / "pool" / "extra"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\nname: one\ndescription: check digits of waybills\n---\nbody\n")
    command = (
        "eval-set",
        "workbench/quickstart",
        "--router",
        "bm25",
        "--pool",
        "./pool",
        "--conditions",
        "routed",
        *ONE,
    )
    local.inspect(*command)
    (skill / "SKILL.md").write_text(
        "---\nname: two\ndescription: check digits of waybills\n---\nother body\n"
    )
    local.inspect(*command, "--log-dir-allow-dirty")
    fingerprints = {r.route.pool_fingerprint for log in local.logs() for r in local.records(log).values()}
    assert len(fingerprints) == 2


EPOCHS = 12
OWN = ("workbench/own", "--conditions", "gold", "--epochs", str(EPOCHS), "--max-samples", "2")


def _interrupted(local: Bench, suite_of, how: signal.Signals, command: str) -> Path:  # type: ignore[no-untyped-def]
    """Run a suite whose trials leave a mark each, and stop it once some have ended."""
    marks = local.folder / "marks"
    suite_of(local.folder, f'echo run >> "{marks}"\nsleep 0.3\necho done > done.txt\n')
    run = local.start(command, *OWN, "--log-buffer", "1")
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and not (marks.exists() and marks.read_text().count("run") >= 5):
        time.sleep(0.05)
    time.sleep(1)
    run.send_signal(how)
    assert run.wait(60) == (130 if how is signal.SIGINT else -how)
    return marks


@pytest.mark.slow
@pytest.mark.parametrize("command", ["eval", "eval-set"])
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_an_interrupted_run_goes_on_without_running_finished_trials_again(
    local: Bench, suite_of, how, command
) -> None:  # type: ignore[no-untyped-def]
    marks = _interrupted(local, suite_of, how, command)
    (log,) = list_eval_logs(str(local.folder / "results"))
    finished = {s.uuid for s in read_eval_log(log).samples or [] if s.scores}
    ran = marks.read_text().count("run")
    assert 0 < len(finished) < EPOCHS
    if command == "eval":
        local.inspect("eval-retry", log.name.removeprefix("file://"))
    else:
        local.inspect("eval-set", *OWN, "--log-buffer", "1")
    records = local.records()
    assert len(records) == EPOCHS
    assert {r.outcome.reward for r in records.values()} == {1.0}
    assert finished <= {s.uuid for s in local.logs()[-1].samples or []}
    assert marks.read_text().count("run") - ran <= EPOCHS - len(finished)
    assert len({Path(info.name).parent for info in list_eval_logs(str(local.folder / "results"))}) == 1


def test_summary_can_be_had_again_as_text_and_as_data(local: Bench) -> None:
    local.inspect("eval", "workbench/quickstart", "--router", "bm25", *ONE)
    assert "3 of 3 trials scored" in local.run("workbench", "report").stdout
    data = json.loads(local.run("workbench", "report", "--format", "json").stdout)
    assert data["schema_version"] >= 1


@pytest.mark.slow
def test_the_bundled_suite_holds_what_it_promises_without_an_engine(local: Bench) -> None:
    done = local.run("workbench", "check", "quickstart", "--oracle", exits=None)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "12 of 12 tasks hold" in done.stdout


def test_start_up_of_python_is_not_slower(tmp_path: Path) -> None:
    """The fastest of 15 starts with the start-up line, against the fastest without it, taken in turns."""
    (tmp_path / "without").mkdir()
    (tmp_path / "with").mkdir()
    shutil.copy(Path(__file__).parents[3] / "workbench_inspect.pth", tmp_path / "with")
    fastest = dict.fromkeys(("without", "with"), 1e9)
    for _ in range(15):
        for name in fastest:
            code = "import site, sys; sys.argv = ['pytest']; site.addsitedir(sys.orig_argv[-1])"
            command = [str(BIN / "python"), "-I", "-S", "-c", code, str(tmp_path / name)]
            started = time.perf_counter()
            subprocess.run(command, check=True)
            fastest[name] = min(fastest[name], time.perf_counter() - started)
    assert fastest["with"] - fastest["without"] < 0.002, fastest


def test_only_inspect_imports_the_package_at_start_up(local: Bench, tmp_path: Path) -> None:
    code = "import sys; sys.exit(int('workbench' in sys.modules))"
    (tmp_path / "inspect").write_text(code)
    (tmp_path / "other").write_text(code)
    local.run("python", "-c", code, exits=0)
    local.run("python", str(tmp_path / "other"), exits=0)
    local.run("python", str(tmp_path / "inspect"), exits=1)
