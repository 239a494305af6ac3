"""The papers' numbers beside ours: nothing is compared in silence."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from workbench.core.errors import ContentError
from workbench.core.record import TrialRecord
from workbench.core.workspace import find_workspace
from workbench.reporting.published import load_published, with_published
from workbench.reporting.report import Canvas, load_report
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


def test_ours_stand_below_theirs_and_what_differs_is_said(make_record: Make, make_trial: MakeTrial) -> None:
    trials = []
    for n in range(4):
        for arm in ("none", "routed-bm25"):
            record = make_record(f"t{n}", arm, 1, float(arm != "none"), suite="srabench")
            route = record.route.model_copy(update={"metrics": {"Hit@1": 0.5, "Recall@10": 1.0}})
            trials.append(make_trial(record.model_copy(update={"route": route})))
    summary = with_published(summarise(trials), load_published(find_workspace()))
    assert {found.benchmark.split(" ")[0] for found in summary.published} == {"SRA-Bench"}
    table = next(f for f in summary.published if f.paper == "SkillRep")
    assert table.columns == ("Recall@10", "MRR@10", "Hit@1")
    assert table.rows[-1].values == (100.0, None, 50.0)
    assert table.rows[-1].ours
    assert "queries: 5,400 there, 4 here" in table.differs
    success = next(f for f in summary.published if f.table == "5")
    assert {row.system: row.values[-1] for row in success.rows if row.ours} == {
        "none, none/none": 0.0,
        "bm25, none/none": 100.0,
    }
    for name in ("terminal", "html"):
        text = load_report(name).render(summary, Canvas(width=200))
        assert "SkillReason, table 5: SRA-Bench" in text
        assert "5,400 there, 4 here" in text


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
