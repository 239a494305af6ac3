"""`workbench compare`: the planted is found, the unpaired refused with the reason, exit codes hold."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from workbench.cli.main import run
from workbench.core.errors import UsageError
from workbench.core.record import TrialRecord
from workbench.reporting.cells import group
from workbench.reporting.facts import collect
from workbench.reporting.paired import Question, paired_report
from workbench.reporting.paired_words import row_name, sentence
from workbench.reporting.pairing import Grouped, pair_arms, pair_runs
from workbench.reporting.trial import Trial

Make = Callable[..., TrialRecord]
RunEval = Callable[..., Path]
TASKS = [f"t{n:02d}" for n in range(10)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("compare")


@pytest.fixture
def logs(folder: Path, run_eval: RunEval, make_record: Make) -> dict[str, Path]:
    """weak passes tasks 0 and 1 with bm25, strong 0 to 8; short lacks two tasks; changed has another t03."""

    def log(name: str, solved: int, tasks: list[str], suite: str = "quickstart", digest: str = "d") -> Path:
        target = folder / name
        if target.exists():
            return target

        def behave(task: str, arm: str, epoch: int) -> TrialRecord:
            good = arm == "gold" or (arm == "routed-bm25" and int(task[1:]) < solved)
            record = make_record(task, arm, epoch, float(good), suite=suite)
            return record.model_copy(update={"task_digest": digest if task == "t03" else "same"})

        run_eval(target, behave, tasks=tasks, name=suite, epochs=1)
        return target

    return {
        "weak": log("weak", 2, TASKS),
        "strong": log("strong", 9, TASKS),
        "short": log("short", 2, TASKS[:8]),
        "changed": log("changed", 2, TASKS, digest="other"),
        "foreign": log("foreign", 2, TASKS, suite="skillsbench"),
    }


def test_a_planted_difference_is_found_with_its_tasks_and_tests(
    logs: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "found.json"
    assert (
        run(["compare", str(logs["strong"]), str(logs["weak"]), "--arm", "bm25", "--json", str(target)]) == 0
    )
    assert "bm25 (first) is better than bm25 (second): +0.70 [" in capsys.readouterr().out
    (result,) = json.loads(target.read_text())["results"]
    assert result["comparison"]["difference"]["value"] == pytest.approx(0.7)
    assert result["comparison"]["p_value"] == result["single"]["p_value"] == pytest.approx(2 / 2**7)
    assert (result["single"]["only_first"], result["single"]["only_second"]) == (7, 0)
    assert [c["task"] for c in result["comparison"]["changes"]] == TASKS[2:9]


def test_routed_arms_are_the_family_and_baselines_a_check_beside_it(
    logs: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "found.json"
    assert run(["compare", str(logs["strong"]), str(logs["weak"]), "--json", str(target)]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "(baselines, gold and none, are outside it, their p not corrected)" in said
    report = json.loads(target.read_text())
    found = {r["first"]["arm"]: r for r in report["results"]}
    assert (report["family"], list(found)) == (1, ["routed-bm25", "none", "gold"])
    assert found["routed-bm25"]["comparison"]["p_adjusted"] == pytest.approx(2 / 2**7)
    assert found["routed-bm25"]["comparison"]["p_fdr"] == pytest.approx(2 / 2**7)
    assert [found[arm]["baseline"] for arm in found] == [False, True, True]
    assert found["gold"]["comparison"]["p_fdr"] is None
    assert run(["compare", str(logs["strong"]), str(logs["weak"]), "--require", "better"]) == 0


def test_a_baseline_asked_for_alone_is_the_family(logs: dict[str, Path], tmp_path: Path) -> None:
    target = tmp_path / "found.json"
    asked = ["compare", str(logs["strong"]), str(logs["weak"]), "--arm", "none", "--json", str(target)]
    assert run(asked) == 0
    (result,) = json.loads(target.read_text())["results"]
    assert (result["baseline"], result["comparison"]["p_fdr"]) == (False, 1)
    assert run([*asked, "--require", "better"]) == 2


@pytest.mark.parametrize(
    "names", [("arms", "bm25", "bm25"), ("arms", "bm25", "routed-bm25"), ("agents", "oracle", "oracle")]
)
def test_the_same_thing_twice_is_refused_and_the_others_named(
    logs: dict[str, Path], names: tuple[str, str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    kind, *pair = names
    assert run(["compare", str(logs["weak"]), f"--{kind}", *pair]) == 1
    error = capsys.readouterr().err
    assert f"the same {kind[:-1]} twice" in error
    assert ("the others here are gold, none" if kind == "arms" else "the run has no other") in error


def test_runs_that_share_some_evaluations_are_not_compared(
    logs: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    both = shutil.copytree(logs["weak"], tmp_path / "both")
    shutil.copytree(logs["foreign"], both, dirs_exist_ok=True)
    assert run(["compare", str(both), str(logs["weak"])]) == 1
    assert "have 1 of 2 evaluations in common" in capsys.readouterr().err


def test_arms_of_one_run_are_compared_and_a_misspelt_one_is_named(
    logs: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["compare", str(logs["weak"]), "--arms", "gold", "bm25"]) == 0
    assert "gold is better than bm25: +0.80" in capsys.readouterr().out
    assert run(["compare", str(logs["weak"]), "--arms", "gold", "bm52"]) == 1
    assert "did you mean 'bm25'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        ("short", "2 tasks in one of the two only (t08, t09); --common compares"),
        ("changed", "1 task changed between the two (t03)"),
        ("foreign", "suite quickstart against skillsbench"),
    ],
)
def test_what_is_not_paired_is_refused_with_the_reason(
    logs: dict[str, Path], other: str, reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["compare", str(logs["weak"]), str(logs[other])]) == 1
    assert reason in capsys.readouterr().err


def test_common_tasks_are_compared_when_asked_for_and_every_figure_is_over_them(
    logs: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The rates were once over all tasks, beside a difference over the shared ones."""
    target = tmp_path / "found.json"
    runs = ["compare", str(logs["strong"]), str(logs["short"]), "--common", "--arm", "bm25"]
    assert run([*runs, "--json", str(target)]) == 0
    out = capsys.readouterr().out
    assert "(8 tasks)" in out
    assert "on the tasks of both plans, without 2 others" in out
    (result,) = json.loads(target.read_text())["results"]
    first, second = (result[side]["success"] for side in ("first", "second"))
    assert (first["value"], first["tasks"], second["value"], second["tasks"]) == (1, 8, 0.25, 8)
    assert result["comparison"]["difference"]["value"] == first["value"] - second["value"]
    assert [result[side]["planned"] for side in ("first", "second")] == [8, 8]


def test_requirements_are_exit_codes(logs: dict[str, Path], capsys: pytest.CaptureFixture[str]) -> None:
    strong, weak = str(logs["strong"]), str(logs["weak"])
    only = ("--arm", "bm25")
    assert run(["compare", strong, weak, *only, "--require", "better"]) == 0
    assert run(["compare", weak, strong, *only, "--require", "better"]) == 2
    assert run(["compare", strong, weak, *only, "--require", "not-worse", "--margin", "0.05"]) == 0
    assert run(["compare", strong, weak, *only, "--require", "equivalent", "--margin", "0.05"]) == 2
    capsys.readouterr()
    assert run(["compare", strong, weak, "--require", "equivalent"]) == 1
    assert "needs --margin" in capsys.readouterr().err


def test_missing_trials_exit_4(mixed_log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["compare", str(mixed_log), "--arms", "bm25", "none"]) == 4


def test_a_run_is_not_compared_with_itself_nor_with_a_copy(
    logs: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copied = shutil.copytree(logs["weak"], tmp_path / "copy")
    for other in (logs["weak"], copied):
        assert run(["compare", str(logs["weak"]), str(other)]) == 1
        assert "hold the same evaluations" in capsys.readouterr().err


@pytest.mark.parametrize("arms", [[], ["--arms", "bm25", "none"]])
def test_what_could_have_been_found_is_said_at_80_columns(
    logs: dict[str, Path], arms: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    runs = [str(logs["strong"])] if arms else [str(logs["strong"]), str(logs["weak"])]
    assert run(["compare", *runs, *arms]) == 0
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 80
    assert re.search(r" MDE$|^MDE: bm25(?: - none)? 0\.\d\d(,|$)", out, re.MULTILINE)


def test_the_markdown_says_what_the_terminal_says_in_rectangular_tables(
    logs: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "found.md"
    assert run(["compare", str(logs["strong"]), str(logs["weak"]), "--markdown", str(target)]) == 0
    captured = capsys.readouterr()
    text = target.read_text()
    assert f"wrote {target}" in captured.err.replace("\n", "")
    assert "**bm25 (first) is better than bm25 (second): +0.70 [" in text
    assert "| bm25 | 0.90 | 0.20 | +0.70 | [" in text
    assert "### bm25: tasks that changed" in text
    assert [line for line in text.splitlines() if line.startswith("| t0")] == [
        f"| t{n:02d} | 1.00 | 0.00 | +1.00 | 1 and 1 |" for n in range(2, 9)
    ]
    tables = re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE)
    assert all(len({line.count("|") for line in table.splitlines()}) == 1 for table in tables)


def test_two_files_of_a_comparison_may_not_be_one(
    logs: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = str(tmp_path / "x")
    runs = ["compare", str(logs["strong"]), str(logs["weak"])]
    assert run([*runs, "--json", target, "--markdown", target]) == 1
    assert "is named by --markdown and by --json" in capsys.readouterr().err


def test_an_arm_is_paired_with_its_like_where_the_other_run_has_it_at_two_depths(
    make_record: Make, make_trial: Callable[..., Trial]
) -> None:
    """Labels were once compared: `bm25` of one run found neither `bm25 k=5` nor `bm25 k=10` of the other."""

    def run_of(*depths: int) -> Grouped:
        records = [make_record(task, "routed-bm25", 1, 1.0, k=k) for task in TASKS for k in depths]
        return group(collect([make_trial(record) for record in records]).facts)

    def depths_of(first: Grouped, second: Grouped) -> list[tuple[str, str]]:
        pairs = pair_runs(first, second)
        return [(dict(pair.first.variant)["k"], dict(pair.second.variant)["k"]) for pair in pairs]

    both = run_of(5, 10)
    assert depths_of(run_of(5), both) == [("5", "5")]
    assert depths_of(both, run_of(10)) == [("10", "10")]
    assert depths_of(both, both) == [("10", "10"), ("5", "5")]
    assert depths_of(run_of(5), run_of(10)) == [("5", "10")], "alone on either side, k is what is compared"
    with pytest.raises(UsageError, match=r"share no arm: routed-bm25 against routed-bm25 k=10, "):
        pair_runs(run_of(3), both)


def test_two_arms_compared_under_two_agents_say_under_which(
    make_record: Make, make_trial: Callable[..., Trial]
) -> None:
    """Both rows were once called `bm25 - gold`, with results that seemed to contradict each other."""
    trials = [
        make_trial(make_record(task, arm, 1, float(arm == "gold" or agent == "strong"), agent=agent))
        for task in TASKS
        for arm in ("gold", "routed-bm25")
        for agent in ("strong", "weak")
    ]
    pairs = pair_arms(group(collect(trials).facts), "bm25", "gold")
    results = paired_report(pairs, Question()).results
    assert [row_name(result) for result in results] == [
        "agent strong: bm25 - gold",
        "agent weak: bm25 - gold",
    ]
    assert sentence(results[1]).startswith("agent weak: bm25 is worse than gold: -1.00 [")
