"""Every trial of every task, each a link to its transcript; and what was excluded."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Sequence
from pathlib import PurePath
from urllib.parse import quote

from workbench.core.types import stage_name
from workbench.reporting.page.evidence import part
from workbench.reporting.page.markup import Content, Html, el, markup
from workbench.reporting.page.table import Cell, Head, sorting, table
from workbench.reporting.page.view import View
from workbench.reporting.schema import ArmSummary, Block, Exclusion, TaskResult, TrialMark
from workbench.reporting.wording import rate

VIEWER = "http://127.0.0.1:7575/#/logs"
"""Where ``inspect view`` listens."""
_ACROSS = 44
"""Marks side by side in a row of the grid, over all its arms."""
_HELD = 40
"""Characters of a task's name that stay on one line."""


def trials(view: View) -> Html:
    """A grid: tasks down, arms across, a mark for each trial."""
    arms = view.block.arms
    tasks = sorted({task.task for arm in arms for task in arm.tasks})
    found = {arm.arm: {task.task: task for task in arm.tasks} for arm in arms}
    titles: list[Content] = ["Task", *(view.named(arm) for arm in arms)]
    heads = [el("th", el("button", title, type="button"), scope="col", aria_sort="none") for title in titles]
    folder = folder_of(view.block)
    rows = [_row(task, [found[arm.arm].get(task) for arm in arms], arms, folder) for task in tasks]
    key = view.key("tasks")
    caption = view.caption("Trials by task and arm")
    grid = el(
        "table",
        el("caption", caption, class_="aside"),
        el("thead", el("tr", heads)),
        el("tbody", rows),
        id=key,
        class_="grid",
        style=f"--across:{_across(arms)}",
    )
    lead = [
        "One mark a trial; follow one to its transcript, once this runs: ",
        el("code", f"inspect view --log-dir {shlex.quote(folder)}"),
        ". With the keyboard: Tab to the grid, arrow keys between marks.",
    ]
    region = el("div", grid, class_="scroll tall", role="group", aria_label=caption)
    return part("Every trial", lead, _controls(view), _key(), region)


def _across(arms: Sequence[ArmSummary]) -> int:
    """Marks side by side in a cell: all trials of a task where they fit, else rows of equal length."""
    most = max((len(task.trials) for arm in arms for task in arm.tasks), default=1)
    lines = -(-most * len(arms) // _ACROSS)
    return max(-(-most // max(lines, 1)), 1)


def folder_of(block: Block) -> str:
    """The innermost folder that holds all logs of a block."""
    folders = sorted({str(PurePath(mark.log).parent) for mark in _marks(block)})
    try:
        return os.path.commonpath(folders) or "."
    except ValueError:  # none, or on different drives
        return "."


def _marks(block: Block) -> Iterable[TrialMark]:
    return (mark for arm in block.arms for task in arm.tasks for mark in task.trials)


def _controls(view: View) -> Html:
    key = view.key("tasks")
    label = view.caption("Filter tasks")
    box = el("input", type="search", placeholder="Filter tasks", aria_label=label, data_filter=key)
    choices = (
        ("", "all tasks"),
        ("harmed", "harmed by skills"),
        ("helped", "helped by skills"),
        ("flips", "trials disagree"),
        ("missing", "with excluded or pending trials"),
    )
    options = [el("option", label, value=value) for value, label in choices]
    select = el("select", options, aria_label=view.caption("Which tasks"), data_only=key)
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
    held = "held" if len(task) <= _HELD else None
    return el("tr", el("th", task, scope="row", class_=held), drawn, data_tags=tags or None)


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
    marks = el("span", [_mark(mark, arm, folder) for mark in cell.trials], class_="marks")
    drawn = el("div", el("b", rate(cell.mean)), marks, class_="trials")
    return el("td", drawn, data_sort=sorting(cell.mean))


def _mark(mark: TrialMark, arm: ArmSummary, folder: str) -> Html:
    """Attributes are written by hand: there may be tens of thousands of these."""
    said = markup(f"trial {mark.epoch}: {_ended(mark, arm)}").replace('"', "&quot;")
    path = PurePath(mark.log)
    inside = path.relative_to(folder) if path.is_relative_to(folder) else path
    log = quote(inside.as_posix(), errors="replace")
    sample = quote(mark.sample, safe="", errors="replace")
    place = f"{VIEWER}/{log}/samples/sample/{sample}/{mark.epoch}/"
    return Html(f'<a class="mark {_kind(mark)}" href="{place}" title="{said}"></a>')


def _kind(mark: TrialMark) -> str:
    if mark.status != "scored":
        return "lost" if mark.status == "excluded" else "wait"
    if mark.reward == 1:
        return "pass"
    return "part" if mark.reward and mark.cause is None else "fail"


def _ended(mark: TrialMark, arm: ArmSummary) -> str:
    """``passed``; ``given, failed``; ``failed, not routed``; ``loaded, reward 0.50``: each thing once."""
    kind = _kind(mark)
    if kind in {"lost", "wait"}:
        return f"excluded, {mark.cause}" if kind == "lost" else "pending"
    if kind == "pass":
        return "passed"
    word = f"reward {rate(mark.reward)}" if kind == "part" else "failed"
    cause = "" if mark.cause is None else f", {mark.cause}"
    if mark.stage is None or arm.condition == "none":
        return word + cause
    stage = stage_name(mark.stage, blind=arm.blind)
    if mark.stage == "failed":
        return f"{stage.removesuffix(', failed')}, {word}{cause}"
    return f"{word}{cause}, {stage}"


def exclusions(view: View) -> Html | None:
    """Causes with counts by arm, and an example of each."""
    rows = [_exclusion(view, arm, found) for arm in view.block.arms for found in arm.exclusions]
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
    caption = view.caption("Excluded trials by cause")
    return part("Excluded", lead, table(caption, heads, rows, key=view.key("excluded")))


def _exclusion(view: View, arm: ArmSummary, found: Exclusion) -> list[Cell | Content]:
    example = f"{found.example} trial {found.epoch}"
    detail = el("span", " ".join(found.detail.split())[:240], class_="detail")
    return [found.cause, view.named(arm), found.count, arm.planned, example, detail]
