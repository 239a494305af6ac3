"""The law of reports, over every report there is; and the terminal report at every width."""

from __future__ import annotations

import csv
import io
import json
import re
import unicodedata
from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest

from workbench.core.errors import UnknownNameError
from workbench.core.record import TrialRecord
from workbench.reporting.read import Notes
from workbench.reporting.report import Canvas, load_report, report_names
from workbench.reporting.schema import Summary
from workbench.reporting.summary import summarise
from workbench.reporting.trial import Trial
from workbench.reporting.wording import wrapped

Make = Callable[..., TrialRecord]
MakeTrial = Callable[..., Trial]

HOSTILE = (
    "=cmd|'/c calc'!A1 \x1b[31mred\x1b[0m [bold]x[/bold] \u202egnp.exe | `a` <b>\r\n"
    "![i](http://x) \ud800\u2603"
)


@pytest.fixture
def summary(make_record: Make, make_trial: MakeTrial) -> Summary:
    """Two models, three routers (one with a long name), exclusions, repeated trials, a task lost."""

    def trial(task: str, label: str, epoch: int, model: str) -> Trial:
        lost = (task, label) == ("t03", "routed-bm25")
        good = label == "gold" or (label != "none" and task < "t10")
        changes = (
            {"cause": "infra:start", "detail": "no container\nafter 60 s"}
            if lost
            else {"reward": float(good)}
        )
        return make_trial(
            make_record(task, label, epoch, loaded=(f"gt/{task}",), **changes), run=model, model=model
        )

    labels = ("none", "gold", "routed-bm25", "routed-random", "routed-skillrouter-0.6b-rerank-long")
    tasks = [f"t{n:02d}" for n in range(12)]
    trials = [trial(*parts) for parts in product(tasks, labels, (1, 2), ("none/none", "openai/gpt-5"))]
    return summarise(trials)


@pytest.fixture
def hostile(make_record: Make, make_trial: MakeTrial) -> Summary:
    """Every text that can come from a log tries to be more than text."""
    record = make_record("t", "routed-bm25", suite=HOSTILE, agent=HOSTILE, sandbox=HOSTILE, pool=HOSTILE)
    record = record.model_copy(update={"task": HOSTILE, "router": HOSTILE})
    lost = make_record("u", "none", suite=HOSTILE, cause="api", detail=HOSTILE)
    return summarise([make_trial(record, model=HOSTILE), make_trial(lost, model=HOSTILE)])


def test_there_are_the_reports_the_command_names() -> None:
    assert {"terminal", "json", "csv", "markdown"} <= set(report_names())
    with pytest.raises(UnknownNameError, match="did you mean 'markdown'"):
        load_report("markdwn")


@pytest.mark.parametrize("name", report_names())
@pytest.mark.parametrize("which", ["summary", "hostile", "empty"])
def test_every_report_keeps_the_law(name: str, which: str, request: pytest.FixtureRequest) -> None:
    shown = summarise([]) if which == "empty" else request.getfixturevalue(which)
    report = load_report(name)
    text = report.render(shown, Canvas())
    assert text == report.render(shown, Canvas())
    assert text.endswith("\n")
    assert not text.endswith("\n\n")
    assert "\x1b" not in text
    controls = {c for c in text if unicodedata.category(c) in {"Cc", "Cf", "Cs"} and c != "\n"}
    assert not controls
    assert text.encode("utf-8")


@pytest.mark.parametrize("name", report_names())
def test_every_report_shows_every_block_and_arm(name: str, summary: Summary) -> None:
    text = load_report(name).render(summary, Canvas(width=200)).replace("\\", "")
    for block in summary.blocks:
        assert block.model in text or (block.model == "none/none" and "no model" in text)
    for arm in ("none", "gold", "bm25", "random", "skillrouter-0.6b-rerank-long"):
        assert arm in text
    assert "infra:start" in text


@pytest.mark.parametrize("which", ["summary", "hostile"])
@pytest.mark.parametrize("width", [20, 40, 80, 120, 200])
@pytest.mark.parametrize("unicode", [True, False])
def test_the_terminal_report_fits_every_width(
    width: int, unicode: bool, which: str, request: pytest.FixtureRequest
) -> None:
    text = load_report("terminal").render(
        request.getfixturevalue(which), Canvas(width=width, unicode=unicode)
    )
    assert max(len(line) for line in text.splitlines()) <= width
    assert not re.search(r" +$", text, re.MULTILINE)


def test_without_unicode_it_is_ascii_and_without_colour_plain(summary: Summary) -> None:
    report = load_report("terminal")
    assert report.render(summary, Canvas(width=80, unicode=False)).isascii()
    coloured = report.render(summary, Canvas(width=80, colour=True))
    assert "\x1b[" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured).split() == report.render(summary, Canvas(width=80)).split()


def test_the_first_sentence_says_what_the_evidence_says(summary: Summary) -> None:
    lines = load_report("terminal").render(summary, Canvas(width=200)).splitlines()
    said = next(line for line in lines if "closes" in line)
    share = r"\S+ closes \d+% \[-?\d+, \d+\] of the gold gap: "
    assert re.match(share + r"\+0\.\d\d \[0\.\d\d, 0\.\d\d\] over no skills, p=0\.\d+ after Holm", said)


def test_at_80_columns_tables_stay_tables_and_bars_are_drawn(
    make_record: Make, make_trial: MakeTrial
) -> None:
    labels = ("none", "gold", "routed-bm25", "routed-random")
    trials = [
        make_trial(make_record(f"t{n}", label, epoch, float(label != "none")))
        for n, label, epoch in product(range(12), labels, (1, 2, 3))
    ]
    text = load_report("terminal").render(summarise(trials), Canvas(width=80))
    assert re.search(r"^gold +1\.00  \[0\.71, 1\.00\]  ·+━+●  +36/36$", text, re.MULTILINE)
    assert re.search(r"^bm25 - none +\+1\.00 .* 12/0 of 12 +100% \[", text, re.MULTILINE)


@pytest.mark.parametrize("name", ["bm25", "a-router-whose-name-is-rather-long"])
def test_what_could_have_been_found_is_said_at_80_columns(
    make_record: Make, make_trial: MakeTrial, name: str
) -> None:
    labels = ("none", "gold", f"routed-{name}")
    trials = [
        make_trial(make_record(f"t{n:02d}", label, 1, float(label == "gold" or (label != "none" and n < 6))))
        for n, label in product(range(12), labels)
    ]
    text = load_report("terminal").render(summarise(trials), Canvas(width=80))
    assert re.search(r"MDE$|^MDE: ", text, re.MULTILINE)
    assert re.search(rf"{name} - none( .*)? 0\.\d\d", " ".join(text.split()))


def test_a_long_cause_is_shown_with_its_beginning_and_its_end(
    make_record: Make, make_trial: MakeTrial
) -> None:
    detail = f"the image cannot be built: {'Collecting a-package ' * 60} No space left on device"
    lost = make_trial(make_record("t", "gold", cause="infra:build", detail=detail))
    text = " ".join(load_report("terminal").render(summarise([lost]), Canvas(width=80)).split())
    assert "the image cannot be built: Collecting" in text
    assert "No space left on device" in text


@pytest.mark.parametrize("width", [30, 55, 80])
def test_sentences_are_indented_where_they_go_on_and_intervals_stay_whole(width: int) -> None:
    said = "bm25 closes 83% [47, 121] of the gold gap: +0.83 [0.27, 0.96] over no skills, p=0.004 (12 x 1)."
    lines = wrapped(said, width).splitlines()
    assert " ".join(line.strip() for line in lines) == said
    assert all(len(line) <= width and line.count("[") == line.count("]") for line in lines)
    assert all(line.startswith("  ") for line in lines[1:])


def test_an_unreadable_log_is_said_first_in_reports_for_people() -> None:
    notes = Notes(unreadable=[(Path("runs/cut.eval"), "File is not a zip file")])
    shown = summarise([], notes)
    assert not shown.complete
    for name in ("terminal", "markdown"):
        first = load_report(name).render(shown, Canvas()).splitlines()[0]
        assert "runs/cut.eval" in first
        assert "File is not a zip file" in first


def test_json_is_the_summary_and_holds_no_nan(summary: Summary) -> None:
    text = load_report("json").render(summary, Canvas())
    assert Summary.model_validate(json.loads(text, parse_constant=pytest.fail)) == summary


def test_csv_has_one_number_a_row_with_its_interval_and_n(summary: Summary) -> None:
    rows = list(csv.DictReader(io.StringIO(load_report("csv").render(summary, Canvas()))))
    arm = next(a for a in summary.blocks[0].arms if a.arm == "routed-bm25")
    (row,) = [
        r for r in rows if (r["model"], r["arm"], r["quantity"]) == ("none/none", "routed-bm25", "success")
    ]
    assert float(row["value"]) == arm.success.value
    assert float(row["low"]) == arm.success.low
    assert (row["n"], row["n_of"]) == (str(arm.success.tasks), "tasks")
    compared = [r for r in rows if r["quantity"] == "difference" and r["arm"] == "routed-bm25"]
    assert {r["baseline"] for r in compared} == {"none", "gold"}
    assert all(float(r["p"]) <= float(r["p_adjusted"]) for r in compared)


def test_csv_cells_are_never_formulas(hostile: Summary) -> None:
    rows = list(csv.reader(io.StringIO(load_report("csv").render(hostile, Canvas()))))
    numbers = re.compile(r"-?\d+(\.\d+)?(e-?\d+)?")
    assert all(
        not cell.startswith(("=", "+", "-", "@")) or numbers.fullmatch(cell) for row in rows for cell in row
    )


def test_markdown_tables_are_rectangular_and_names_are_escaped(hostile: Summary, summary: Summary) -> None:
    for shown in (hostile, summary):
        width = 0
        for line in load_report("markdown").render(shown, Canvas()).splitlines():
            cells = len(re.findall(r"(?<!\\)\|", line))
            assert cells in (0, width) or width == 0
            width = cells
    text = load_report("markdown").render(hostile, Canvas())
    assert "![i](" not in text
    assert "<b>" not in text.replace("\\<b\\>", "")
