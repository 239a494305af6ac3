"""The papers' numbers beside ours: nothing is compared in silence."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from workbench.core.errors import ContentError
from workbench.core.record import TrialRecord
from workbench.core.workspace import find_workspace
from workbench.reporting.numbers import Estimate
from workbench.reporting.published import load_published, with_published
from workbench.reporting.report import Canvas, load_report
from workbench.reporting.schema import Beside, Summary
from workbench.reporting.summary import summarise
from workbench.reporting.trial import Trial

Make = Callable[..., TrialRecord]
MakeTrial = Callable[..., Trial]


def test_the_four_papers_are_there_with_their_end_to_end_table() -> None:
    papers = {paper.paper: paper for paper in load_published(find_workspace())}
    assert set(papers) == {"SkillRouter", "SkillReason", "SkillRep", "R3-Skill"}
    (table,) = [t for t in papers["SkillReason"].tables if t.kind == "success"]
    assert (table.table, table.benchmark, table.k) == ("5", "SRA-Bench", 1)
    rows = {row.system: row.values for row in table.rows}
    assert rows["No skills"] == (38.81, 50.75, 54.30, 44.17, 42.02)
    assert rows["Gold skills"] == (64.23, 68.84, 70.28, 65.21, 61.42)
    assert len(rows) == 7


SKILLSBENCH = {"a": 1, "b": 2, "c": 3, "d": 1}
"""Task -> how many gold skills it has."""
SETS = {"a": "champ", "b": "toolqa", "c": "toolqa", "d": "toolqa"}


def _beside(trials: Sequence[Trial]) -> Summary:
    return with_published(summarise(trials), load_published(find_workspace()))


def _of(summary: Summary, paper: str, table: str, *, benchmark: str = "") -> Beside:
    found = (f for f in summary.published if (f.paper, f.table) == (paper, table))
    return next(f for f in found if benchmark in f.benchmark)


def _own(found: Beside) -> dict[str, Estimate]:
    """Our numbers of the first row, by column."""
    pairs = zip(found.columns, found.ours[0].values, strict=True)
    return {column: value for column, value in pairs if value is not None}


@pytest.fixture
def routed(make_record: Make, make_trial: MakeTrial) -> Callable[..., list[Trial]]:
    """Four tasks without skills and routed by bm25, each with `metrics`, and in a set where `sets` has it."""

    def make(suite: str, metrics: dict[str, float], sets: Mapping[str, str] | None = None) -> list[Trial]:
        records = [
            make_record(
                task,
                arm,
                1,
                float(arm != "none"),
                suite=suite,
                gold=[f"g{n}" for n in range(size)],
                metrics=metrics,
            ).model_copy(update={"group": {"subset": sets[task]} if sets else {}})
            for task, size in SKILLSBENCH.items()
            for arm in ("none", "routed-bm25")
        ]
        return [make_trial(record) for record in records]

    return make


def test_ours_stand_below_theirs_and_what_differs_is_said(routed: Callable[..., list[Trial]]) -> None:
    summary = _beside(routed("srabench", {"Hit@1": 0.5, "Recall@10": 1.0}))
    assert {found.benchmark.split(" ")[0] for found in summary.published} == {"SRA-Bench"}
    table = _of(summary, "SkillRep", "2", benchmark="official")
    assert table.columns == ("Recall@10", "MRR@10", "Hit@1")
    assert table.theirs[0].values == (69.42, 54.88, 44.61)
    assert [value.value for value in _own(table).values()] == [1.0, None, 0.5]
    assert "queries: 5,400 there, 4 here" in table.differs
    assert "skills in the pool: 26,262 there, 44 here" in table.differs
    success = _of(summary, "SkillReason", "5")
    assert {row.system: row.values[-1] and row.values[-1].value for row in success.ours} == {
        "none, none/none": 0.0,
        "bm25, none/none": 1.0,
    }
    for name in ("terminal", "html", "markdown"):
        text = load_report(name).render(summary, Canvas(width=200))
        assert "SkillReason, table 5: SRA-Bench" in text
        assert "5,400 there, 4 here" in text


@pytest.mark.parametrize("name", ["terminal", "html", "markdown"])
def test_ours_have_interval_and_tasks_and_theirs_are_said_to_have_none(
    name: str, routed: Callable[..., list[Trial]]
) -> None:
    summary = _beside(routed("srabench", {"Hit@1": 0.5}))
    found = _own(_of(summary, "SkillRep", "2"))["Hit@1"]
    assert found.low is not None
    assert found.high is not None
    interval = f"[{100 * found.low:.0f}, {100 * found.high:.0f}]"
    text = load_report(name).render(summary, Canvas(width=80))
    assert text.count("The papers print no intervals") == 1
    if name == "terminal":
        assert re.search(rf"bm25, here +- +- +50\.0 \(4\)\n +{re.escape(interval)}\n", text)
    else:
        assert f"50.0 {interval} (4)" in text
    assert "44.61 [" not in text


def test_numbers_of_papers_keep_their_decimals(routed: Callable[..., list[Trial]]) -> None:
    text = load_report("markdown").render(_beside(routed("skillsbench", {})), Canvas())
    assert "| SkillReason-0.6B | 34.72 | 67.95 | 37.25 |" in text
    assert "| SR-Emb-0.6B x SR-Rank-0.6B | 74.0 |" in text


def test_every_report_at_80_columns_stays_within_them(routed: Callable[..., list[Trial]]) -> None:
    for suite in ("srabench", "skillsbench", "skillret", "r3-skill"):
        text = load_report("terminal").render(_beside(routed(suite, {"Hit@1": 0.5})), Canvas(width=80))
        assert "Published numbers" in text
        assert max(map(len, text.splitlines())) <= 80


def test_the_csv_has_their_numbers_as_printed_and_ours_with_interval_and_n(
    routed: Callable[..., list[Trial]],
) -> None:
    summary = _beside(routed("srabench", {"Recall@10": 0.5}))
    rows = [
        row
        for row in csv.DictReader(io.StringIO(load_report("csv").render(summary, Canvas())))
        if row["table"]
    ]
    here = {"suite": "SRA-Bench (pool official)", "table": "SkillRep, table 2: SRA-Bench (pool official)"}
    rows_there = [row for row in rows if here.items() <= row.items()]
    theirs = next(row for row in rows_there if row["arm"] == "BM25")
    assert (theirs["quantity"], theirs["value"]) == ("Recall@10 in a paper's table", "0.6942")
    assert (theirs["low"], theirs["high"], theirs["n"], theirs["reason"]) == ("", "", "", "as printed")
    ours = [row for row in rows_there if row["arm"] == "bm25, here"]
    assert [(row["quantity"].split()[0], row["value"], row["n"], row["reason"]) for row in ours] == [
        ("Recall@10", "0.5", "4", ""),
        ("MRR@10", "", "0", "not measured here"),
        ("Hit@1", "", "0", "not measured here"),
    ]
    assert float(ours[0]["low"]) < 0.5 < float(ours[0]["high"])
    success = [row for row in rows if row["quantity"] == "success in a paper's table"]
    assert ("No skills", "Qwen3-4B", "0.3881") in {
        (row["arm"], row["model"], row["value"]) for row in success
    }
    assert ("bm25, none/none", "", "1.0") in {(row["arm"], row["model"], row["value"]) for row in success}


def test_pools_and_queries_of_the_papers_are_known(routed: Callable[..., list[Trial]]) -> None:
    summary = _beside([*routed("skillsbench", {"Hit@1": 0.5}), *routed("r3-skill", {"Hit@1": 0.5})])
    for paper, table in (("SkillReason", "10"), ("SkillRep", "3")):
        for tier, size in (("easy", "78,361"), ("hard", "79,141")):
            assert (
                f"skills in the pool: {size} there, 44 here"
                in _of(summary, paper, table, benchmark=tier).differs
            )
    means = _of(summary, "SkillRouter", "text, section 3")
    assert "skills in the pool: mean of 78,361 and 79,141 there, 44 here, each by itself" in means.differs
    differs = _of(summary, "R3-Skill", "4").differs
    assert "queries: 5,696 there, 4 here" in differs
    assert "skills in the pool: 2,050 there, 44 here" in differs
    papers = load_published(find_workspace())
    assert all(table.pool_size for paper in papers for table in paper.tables)
    assert all(table.queries or table.subset for paper in papers for table in paper.tables)


def test_a_column_over_tasks_with_several_gold_skills_is_over_no_others(
    routed: Callable[..., list[Trial]], make_record: Make, make_trial: MakeTrial
) -> None:
    metrics = {"Recall@1": 0.5, "FullCoverage@10": 1.0}
    found = _own(_of(_beside(routed("skillsbench", metrics)), "SkillReason", "10"))
    assert (found["Recall@1"].tasks, found["FullCoverage@10 (multi)"].tasks) == (4, 2)
    single = make_record("a", "routed-bm25", suite="skillsbench", metrics=metrics)
    found = _own(_of(_beside([make_trial(single)]), "SkillReason", "10"))
    assert found["Recall@1"].value == 0.5
    empty = found["FullCoverage@10 (multi)"]
    assert (empty.value, empty.reason) == (None, "no tasks of multi here")


def test_a_column_over_one_set_is_over_no_other(routed: Callable[..., list[Trial]]) -> None:
    sets = {**SETS, "a": "en2zh"}
    summary = _beside(routed("r3-skill", {"Hit@1": 0.5}, sets))
    found = _own(_of(summary, "R3-Skill", "12", benchmark="en2zh"))["Hit@1"]
    assert (found.value, found.tasks) == (0.5, 1)
    absent = _own(_of(summary, "R3-Skill", "12", benchmark="zh2en"))["Hit@1"]
    assert (absent.value, absent.reason) == (None, "no tasks of zh2en here")


def test_a_mean_over_tasks_below_means_over_sets_is_named(
    make_record: Make, make_trial: MakeTrial, routed: Callable[..., list[Trial]]
) -> None:
    named = "mean: over the sets there, over the tasks here"
    plain = _beside(routed("srabench", {"Recall@10": 0.5}))
    assert named in _of(plain, "SkillRep", "2").differs
    assert named in _of(plain, "SkillReason", "5").differs
    records = [
        make_record(
            task,
            "routed-bm25",
            1,
            float(task == "a"),
            suite="srabench",
            metrics={"Recall@10": float(task == "a")},
        )
        for task in SETS
    ]
    records = [r.model_copy(update={"group": {"subset": SETS[r.task]}}) for r in records]
    over_sets = _beside([make_trial(record) for record in records])
    for paper, table, column in (("SkillRep", "2", "Recall@10"), ("SkillReason", "5", "here")):
        found = _of(over_sets, paper, table)
        assert _own(found)[column].value == 0.5
        assert not any(said.startswith("mean:") for said in found.differs)
        assert "sets: 6 there, 2 here" in found.differs
    unknown = _of(over_sets, "SkillReason", "2")
    assert _own(unknown)["Recall@10"].value == 0.25
    assert "mean: over the sets or the tasks, not stated there; over the tasks here" in unknown.differs


def test_the_arms_without_a_mean_over_sets_are_named(make_record: Make, make_trial: MakeTrial) -> None:
    trials = []
    for task, name in SETS.items():
        for arm in ("none", "gold"):
            cause = "verifier_timeout" if (task, arm) == ("a", "gold") else None
            record = make_record(task, arm, suite="srabench", cause=cause)
            trials.append(make_trial(record.model_copy(update={"group": {"subset": name}})))
    found = _of(_beside(trials), "SkillReason", "5")
    assert "mean: over the sets there, over the tasks here for gold" in found.differs


def test_a_router_on_two_pools_is_told_apart(make_record: Make, make_trial: MakeTrial) -> None:
    trials = []
    for pool in ("easy", "hard"):
        record = make_record("a", "routed-bm25", suite="srabench", pool=pool)
        trials.append(make_trial(record, run=f"with {pool}"))
    names = [row.system for row in _of(_beside(trials), "SkillRep", "2").ours]
    assert names == ["bm25 pool=easy, here", "bm25 pool=hard, here"]


def test_labels_other_than_the_benchmarks_are_named(routed: Callable[..., list[Trial]]) -> None:
    (said,) = (
        d for d in _of(_beside(routed("skillret", {})), "SkillReason", "8").differs if d.startswith("gold")
    )
    assert said.endswith("there, the benchmark's labels here")


def test_what_stands_in_an_appendix_is_not_ascribed_to_a_section() -> None:
    papers = {paper.paper: paper for paper in load_published(find_workspace())}
    places = {
        (table.benchmark, row.system, value): table.table
        for table in papers["SkillRouter"].tables
        for row in table.rows
        for value in row.values
    }
    assert places["SkillsBench", "SR-Emb-0.6B x SR-Rank-0.6B", 74.0] == "text on table 24, appendix"
    assert places["SkillBench-Supp", "SkillRouter, 1.2B", 64.1] == "text, section 5.4"
    (upstream,) = [table for table in papers["R3-Skill"].tables if table.table == "11"]
    assert {row.system: row.values[1] for row in upstream.rows}["+ SkillRet-Reranker-0.6B"] == 82.18
    assert {table.subset for table in papers["R3-Skill"].tables if table.table == "12"} == {
        "en2en",
        "en2zh",
        "zh2en",
        "zh2zh",
    }


def test_a_row_of_the_wrong_length_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "results" / "published"
    folder.mkdir(parents=True)
    (folder / "x.yaml").write_text(
        "schema_version: 1\npaper: x\ntitle: x\ntables:\n  - table: '1'\n    kind: routing\n"
        "    benchmark: B\n    columns: [a, b]\n    rows:\n      - {system: s, values: [1.0]}\n"
    )
    (tmp_path / "routers").mkdir()
    (tmp_path / "routers" / "r.yaml").write_text("description: r\nstages: [{bm25: {}}]\n")
    with pytest.raises(ContentError, match=r"x\.yaml.*1 values for 2 columns"):
        load_published(find_workspace(tmp_path))
