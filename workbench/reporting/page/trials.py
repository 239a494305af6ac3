"""Every trial of every task, each a link to its transcript; and what was excluded."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import PurePath
from urllib.parse import quote

from workbench.core.types import stage_name
from workbench.reporting.page.evidence import section
from workbench.reporting.page.markup import Content, Html, el, markup
from workbench.reporting.page.table import Cell, Head, table
from workbench.reporting.schema import ArmSummary, Block, Exclusion, TaskResult, TrialMark
from workbench.reporting.wording import arm_name, rate

VIEWER = "http://127.0.0.1:7575/#/logs"
"""Where ``inspect view`` listens."""


def trials(block: Block, number: int) -> Html:
    """A grid: tasks down, arms across, a mark for each trial."""
    tasks = sorted({task.task for arm in block.arms for task in arm.tasks})
    found = {arm.arm: {task.task: task for task in arm.tasks} for arm in block.arms}
    heads = [el("th", el("button", "Task", type="button"), scope="col", aria_sort="none")]
    heads += [
        el("th", el("button", arm_name(a.arm), type="button"), scope="col", aria_sort="none")
        for a in block.arms
    ]
    folder = folder_of(block)
    rows = [
        _row(task, [found[arm.arm].get(task) for arm in block.arms], block.arms, folder) for task in tasks
    ]
    key = f"tasks-{number}"
    caption = "Trials by task and arm"
    grid = el(
        "table",
        el("caption", caption, class_="aside"),
        el("thead", el("tr", heads)),
        el("tbody", rows),
        id=key,
        class_="grid",
    )
    lead = [
        "One mark a trial; follow one to its transcript, once this runs: ",
        el("code", f"inspect view --log-dir {folder}"),
        ". With the keyboard: Tab to the grid, arrow keys between marks.",
    ]
    region = el("div", grid, class_="scroll tall", role="region", aria_label=caption)
    return section("Every trial", lead, _controls(key), _key(), region)


def folder_of(block: Block) -> str:
    """The innermost folder that holds all logs of a block."""
    folders = sorted({str(PurePath(mark.log).parent) for mark in _marks(block)})
    try:
        return os.path.commonpath(folders) or "."
    except ValueError:  # none, or on different drives
        return "."


def _marks(block: Block) -> Iterable[TrialMark]:
    return (mark for arm in block.arms for task in arm.tasks for mark in task.trials)


def _controls(key: str) -> Html:
    box = el("input", type="search", placeholder="Filter tasks", aria_label="Filter tasks", data_filter=key)
    choices = (
        ("", "all tasks"),
        ("harmed", "harmed by skills"),
        ("helped", "helped by skills"),
        ("flips", "trials disagree"),
        ("missing", "with excluded or pending trials"),
    )
    options = [el("option", label, value=value) for value, label in choices]
    select = el("select", options, aria_label="Which tasks", data_only=key)
    return el("p", box, select, el("span", "", class_="count", role="status"), class_="filter")


def _key() -> Html:
    kinds = (
        ("pass", "passed"),
        ("part", "part of the reward"),
        ("fail", "failed"),
        ("lost", "excluded"),
        ("wait", "pending"),
    )
    items = [el("li", el("span", "", class_=f"mark {kind}"), text) for kind, text in kinds]
    return el("ul", items, class_="legend")


def _row(task: str, cells: Sequence[TaskResult | None], arms: Sequence[ArmSummary], folder: str) -> Html:
    tags = " ".join(sorted(_tags(cells, arms)))
    drawn = [_cell(cell, arm, folder) for cell, arm in zip(cells, arms, strict=True)]
    return el("tr", el("th", task, scope="row"), drawn, data_tags=tags or None)


def _tags(cells: Sequence[TaskResult | None], arms: Sequence[ArmSummary]) -> set[str]:
    """What the row can be chosen by."""
    found = {"missing" for cell in cells if cell is not None and cell.scored < cell.planned}
    found |= {"flips" for cell in cells if cell is not None and 0 < cell.passed < cell.scored}
    means = [(arm.condition, cell.mean) for arm, cell in zip(arms, cells, strict=True) if cell is not None]
    bare = next((mean for condition, mean in means if condition == "none"), None)
    if bare is None:
        return found
    others = [mean for condition, mean in means if condition == "routed" and mean is not None]
    found |= {"harmed" for mean in others if mean < bare - 1e-9}
    return found | {"helped" for mean in others if mean > bare + 1e-9}


def _cell(cell: TaskResult | None, arm: ArmSummary, folder: str) -> Html:
    if cell is None:
        return el("td", "-")
    marks = [_mark(mark, arm, folder) for mark in cell.trials]
    return el("td", el("b", rate(cell.mean)), " ", marks, data_sort="" if cell.mean is None else cell.mean)


def _mark(mark: TrialMark, arm: ArmSummary, folder: str) -> Html:
    """Attributes are written by hand: there may be tens of thousands of these."""
    kind, word = _kind(mark)
    stage = (
        ""
        if mark.stage is None or arm.condition == "none"
        else f", {stage_name(mark.stage, blind=arm.blind)}"
    )
    said = markup(f"trial {mark.epoch}: {word}{stage if word != 'passed' else ''}").replace('"', "&quot;")
    path = PurePath(mark.log)
    inside = path.relative_to(folder) if path.is_relative_to(folder) else path
    log = quote(inside.as_posix(), errors="replace")
    sample = quote(mark.sample, safe="", errors="replace")
    place = f"{VIEWER}/{log}/samples/sample/{sample}/{mark.epoch}/"
    return Html(f'<a class="mark {kind}" href="{place}" title="{said}" tabindex="-1"></a>')


def _kind(mark: TrialMark) -> tuple[str, str]:
    if mark.status == "excluded":
        return "lost", f"excluded, {mark.cause}"
    if mark.status == "pending":
        return "wait", "pending"
    if mark.reward == 1:
        return "pass", "passed"
    if mark.cause is not None:
        return "fail", f"failed, {mark.cause}"
    return ("part", f"reward {rate(mark.reward)}") if mark.reward else ("fail", "failed")


def exclusions(block: Block, number: int) -> Html | None:
    """Causes with counts by arm, and an example of each."""
    rows = [_exclusion(arm, found) for arm in block.arms for found in arm.exclusions]
    if not rows:
        return None
    heads = [
        Head("Cause", numeric=False),
        Head("Arm", numeric=False),
        Head("Trials"),
        Head("Of planned"),
        Head("For example", numeric=False),
        Head("What was seen", numeric=False),
    ]
    lead = "Trials without a score, by cause. They never leave a denominator in silence."
    return section("Excluded", lead, table("Excluded trials by cause", heads, rows, key=f"excluded-{number}"))


def _exclusion(arm: ArmSummary, found: Exclusion) -> list[Cell | Content]:
    example = f"{found.example} trial {found.epoch}"
    detail = el("span", " ".join(found.detail.split())[:240], class_="detail")
    return [found.cause, arm_name(arm.arm), found.count, arm.planned, example, detail]
