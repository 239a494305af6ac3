"""For spreadsheets and data frames: one row per number, with its interval and its n."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from typing import Any

from workbench.core.terminal import safe
from workbench.reporting.numbers import Comparison, Estimate, PassEstimate
from workbench.reporting.published_view import title
from workbench.reporting.report import Canvas
from workbench.reporting.schema import ArmSummary, Beside, Block, Front, Summary
from workbench.reporting.wording import standing

_COLUMNS = (
    "suite",
    "model",
    "agent",
    "arm",
    "baseline",
    "quantity",
    "value",
    "low",
    "high",
    "n",
    "n_of",
    "p",
    "p_adjusted",
    "p_fdr",
    "family",
    "standard_error",
    "mde",
    "reason",
    "table",
)
Row = Mapping[str, Any]


def render(summary: Summary, canvas: Canvas) -> str:
    """Rows under a header; ``n_of`` says what `n` counts (tasks or trials); empty is not measured."""
    del canvas
    target = io.StringIO()
    writer = csv.DictWriter(target, _COLUMNS, restval="", lineterminator="\n")
    writer.writeheader()
    for row in _rows(summary):
        writer.writerow({name: _cell(value) for name, value in row.items()})
    return target.getvalue()


def _rows(summary: Summary) -> Iterator[Row]:
    for block in summary.blocks:
        for arm in block.arms:
            place = {"suite": block.suite, "model": block.model, "agent": block.agent, "arm": arm.arm}
            yield from ({**place, **row} for row in (*_arm(arm, block), *_explained(arm, block)))
        for agreed in block.agreement:
            place = {"suite": block.suite, "model": block.model, "agent": block.agent}
            yield {**place, **_estimate(f"tau of {agreed.metric} with success over routers", agreed.tau)}
    for found in summary.routing:
        for stratum in found.strata:
            for metric, measured in stratum.metrics.items():
                place = {"suite": found.suite, "arm": f"routed-{found.router}"}
                yield {**place, **_estimate(f"routing {metric} ({stratum.name})", measured)}
    for beside in summary.published:
        yield from _published(beside)


def _published(found: Beside) -> Iterator[Row]:
    """A paper's table cell by cell, and ours in it; values are shares, as everywhere, not percent."""
    for printed in found.theirs:
        for column, value in zip(found.columns, printed.values, strict=True):
            if value is not None:
                share = {"value": round(value / 100, 6), "reason": "as printed"}
                model = {} if found.kind == "routing" else {"model": column}
                yield {**share, **model, **_place(found, printed.system, column)}
    for own in found.ours:
        for column, measured in zip(found.columns, own.values, strict=True):
            if measured is not None:
                yield {**_estimate("", measured), **_place(found, own.system, column)}


def _place(found: Beside, system: str, column: str) -> Row:
    metric = column if found.kind == "routing" else "success"
    quantity = f"{metric} in a paper's table"
    return {"suite": found.benchmark, "arm": system, "quantity": quantity, "table": title(found)}


def _arm(arm: ArmSummary, block: Block) -> Iterator[Row]:
    for status in ("planned", "scored", "excluded", "pending"):
        yield _count(status, getattr(arm, status), arm.planned)
    yield _estimate("mean reward" if block.fractional else "success", arm.success)
    yield _over_tasks("success if missing failed", arm.lowest, arm)
    yield _over_tasks("success if missing passed", arm.highest, arm)
    for comparison in (arm.vs_none, arm.vs_gold):
        if comparison is not None:
            yield from _comparison(comparison)
    yield from _gap(arm)
    if arm.condition != "none":
        yield from (_count(f"funnel {stage}", count, arm.scored) for stage, count in arm.funnel.items())
    for exclusion in arm.exclusions:
        yield _count(f"excluded {exclusion.cause}", exclusion.count, arm.planned)
    for found in arm.passes:
        yield from _pass(found, arm)
    yield _estimate("share of variance within tasks", arm.within)
    yield _estimate("load precision", arm.load_precision)
    yield _estimate("load recall", arm.load_recall)
    yield _estimate("gold unused", arm.unused_gold)
    yield _estimate("trials that loaded others than gold", arm.distractors)
    yield _estimate("turn of the first load", arm.first_load)
    if arm.macro is not None:
        yield _estimate("macro mean over subsets", arm.macro)
    for name in ("tokens", "cost_usd", "seconds"):
        total = getattr(arm.spending, name)
        yield {"quantity": f"{name} in all", "value": total.sum, "n": total.known, "n_of": "trials"}


def _pass(found: PassEstimate, arm: ArmSummary) -> Iterator[Row]:
    name = f"pass{'@' if found.kind == 'any' else '^'}{found.k}"
    yield _estimate(name, found.estimate)
    if found.short and found.lowest is not None and found.highest is not None:
        yield _over_tasks(f"{name} if missing failed", found.lowest, arm)
        yield _over_tasks(f"{name} if missing passed", found.highest, arm)


def _explained(arm: ArmSummary, block: Block) -> Iterator[Row]:
    """What goes with success, and what it costs."""
    if arm.condition != "none":
        yield from (_estimate(f"share {stage}", share) for stage, share in arm.stages.items())
    for given in arm.given:
        yield _estimate(f"success given {given.kind} {given.state}", given.success)
    for part in block.slices:
        if arm.arm in part.arms:
            yield _estimate(f"success where {part.by} is {part.value}", part.arms[arm.arm])
    for unit in ("tokens", "cost_usd", "seconds"):
        yield _estimate(f"{unit} per trial", getattr(arm.per_trial, unit))
        yield _estimate(f"{unit} per success", getattr(arm.per_success, unit))
    if block.front is not None:
        yield from _worth(block.front, arm)


def _worth(front: Front, arm: ArmSummary) -> Iterator[Row]:
    """An arm against the best that costs no more."""
    for point in front.points:
        if point.arm == arm.arm and point.gain is not None and point.extra is not None:
            place = {"baseline": point.rival, "reason": standing(point)}
            yield {**_estimate("success over what costs no more", point.gain), **place}
            yield {**_estimate(f"{front.unit} over what costs no more", point.extra), **place}


def _gap(arm: ArmSummary) -> Iterator[Row]:
    if arm.gap is None:
        return
    yield _estimate("share of gold gap closed", arm.gap.share)
    for end, value in (("lowest", arm.gap.lowest), ("highest", arm.gap.highest)):
        if value is not None:
            yield _over_tasks(f"share of gold gap closed at {end} if missing", value, arm)


def _over_tasks(quantity: str, value: float, arm: ArmSummary) -> Row:
    return {"quantity": quantity, "value": value, "n": len(arm.tasks), "n_of": "tasks"}


def _count(quantity: str, count: int, trials: int) -> Row:
    return {"quantity": quantity, "value": count, "n": trials, "n_of": "trials"}


def _estimate(quantity: str, found: Estimate) -> Row:
    return {
        "quantity": quantity,
        "value": found.value,
        "low": found.low,
        "high": found.high,
        "n": found.tasks,
        "n_of": "tasks",
        "reason": found.reason,
    }


def _comparison(found: Comparison) -> Iterator[Row]:
    """The difference, and where trials are missing its ends and its test at the worst."""
    place = {"baseline": found.baseline, "family": found.family}
    tested = {
        "p": found.p_value,
        "p_adjusted": found.p_adjusted,
        "p_fdr": found.p_fdr,
        "standard_error": found.standard_error,
        "mde": found.detectable,
    }
    yield {**_estimate("difference", found.difference), **tested, **place}
    for name in ("better", "worse", "worse_by_chance"):
        quantity = f"tasks {name.replace('_', ' ')}"
        tasks = {"n": found.difference.tasks, "n_of": "tasks"}
        yield {"quantity": quantity, "value": getattr(found, name), **tasks, **place}
    if (needed := found.needed) is not None:
        for name in ("tasks", "trials"):
            quantity = f"{name} to find {needed.effect:g}"
            yield {"quantity": quantity, "value": getattr(needed, name), **place}
    if (bounds := found.bounds) is None:
        return
    size = {"n": bounds.trials, "n_of": "missing trials"}
    yield {"quantity": "difference at lowest if missing", "value": bounds.lowest, **size, **place}
    yield {"quantity": "difference at highest if missing", "value": bounds.highest, **size, **place}
    worst = {"p": bounds.p_value, "p_adjusted": bounds.p_adjusted}
    yield {**_estimate("difference if missing went against it", bounds.against), **worst, **place}


def _cell(value: Any) -> str:
    """Text without control characters, and never one that a spreadsheet takes for a formula."""
    if value is None:
        return ""
    if isinstance(value, float) and abs(value) < 1e-12:
        return "0.0"
    if not isinstance(value, str):
        return repr(value)
    text = safe(value).replace("\n", " ")
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t")) else text
