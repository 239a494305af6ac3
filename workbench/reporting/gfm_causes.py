"""What goes with success, repeated trials, and published numbers, in Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from workbench.reporting.gfm import table, text
from workbench.reporting.numbers import Estimate, PassEstimate
from workbench.reporting.published_view import lead, notes, own, printed, title
from workbench.reporting.schema import Agreement, ArmSummary, Block, Given, Slice, Summary
from workbench.reporting.wording import (
    AGREEMENT,
    HARM,
    arm_name,
    by_chance,
    interval,
    measured,
    met,
    plural,
    rate,
    signed,
    spread,
)

_GIVEN = ("arm", "gold skills", "success", "95% interval", "tasks", "trials")
_HARMED = ("task", "arm", "with", "without", "difference", "trials")
_AGREED = ("routing metric", "Kendall's tau", "95% interval", "routed arms", "tasks")


def causes(block: Block) -> Iterator[str]:
    """Success by what was given and loaded, tasks that skills harm, tags, routing metrics that predict."""
    met_with = [_given(arm, found) for arm in block.arms for found in arm.given]
    yield from table(_GIVEN, met_with, "What goes with success (associations, not effects)")
    harmed = [row for arm in block.arms for row in _harmed(arm)]
    yield from table(_HARMED, harmed, HARM)
    fell = [
        f"{text(arm_name(arm.arm))} {plural(arm.vs_none.worse, 'task')}, {by_chance(arm.vs_none)}"
        for arm in block.arms
        if arm.vs_none is not None and arm.vs_none.worse
    ]
    if fell:
        yield f"{'; '.join(fell)}."
        yield ""
    for by, found in groupby(block.slices, key=lambda part: part.by):
        heads = (by, "tasks", *(arm_name(arm.arm) for arm in block.arms))
        yield from table(heads, [_slice(part, block.arms) for part in found], f"Success by {by}")
    yield from table(
        _AGREED, [_agreed(found) for found in block.agreement if found.tau.value is not None], AGREEMENT
    )


def repeated(block: Block) -> Iterator[str]:
    """pass@k and pass^k for every k, and how much trials of one task differ."""
    most = max((found.k for arm in block.arms for found in arm.passes), default=0)
    if most < 2:
        return
    ks = range(1, most + 1)
    rows = [
        (f"{arm_name(arm.arm)} {sign}k", *_passes(arm, kind, ks), spread(arm.within) if kind == "any" else "")
        for arm in block.arms
        for kind, sign in (("any", "pass@"), ("all", "pass^"))
        if arm.passes
    ]
    heads = ("", *(f"k = {k}" for k in ks), "variance within tasks")
    yield from table(heads, rows, "Over repeated trials: value [95% interval] (tasks)")
    if any(found.estimate.value is None for arm in block.arms for found in arm.passes):
        yield "A range counts trials not scored as failed, as passed."
        yield ""


def published(summary: Summary) -> Iterator[str]:
    """The papers' tables with our numbers below them, in percent."""
    if summary.published:
        yield f"### Published numbers\n\n{text(lead(summary))}\n"
    for found in summary.published:
        yield f"#### {text(title(found))}\n"
        yield " ".join(f"{text(note)}." for note in notes(found)) + "\n"
        theirs = [(row.system, *cells) for row, cells in zip(found.theirs, printed(found), strict=True)]
        ours = [(row.system, *map(own, row.values)) for row in found.ours]
        yield from table(("%", *found.columns), [*theirs, *ours])


def _given(arm: ArmSummary, found: Given) -> Sequence[str]:
    success = found.success
    tasks = str(success.tasks)
    return (arm_name(arm.arm), met(found), rate(success.value), interval(success), tasks, f"{found.trials:,}")


def _agreed(found: Agreement) -> Sequence[str]:
    tau = found.tau
    return (
        found.metric,
        signed(tau.value),
        interval(tau) or tau.reason or "",
        str(found.routers),
        str(tau.tasks),
    )


def _harmed(arm: ArmSummary) -> Iterator[Sequence[str]]:
    changes = () if arm.vs_none is None else arm.vs_none.changes
    for change in changes:
        if change.first < change.second:
            yield (
                change.task,
                arm_name(arm.arm),
                rate(change.first),
                rate(change.second),
                signed(change.first - change.second),
                f"{change.trials[0]} and {change.trials[1]}",
            )


def _slice(part: Slice, arms: Sequence[ArmSummary]) -> Sequence[str]:
    found = (part.arms.get(arm.arm) for arm in arms)
    return (part.value, str(part.tasks), *("-" if f is None else _rated(f) for f in found))


def _passes(arm: ArmSummary, kind: str, ks: Sequence[int]) -> Iterator[str]:
    found = {p.k: p for p in arm.passes if p.kind == kind}
    return (_pass(found.get(k)) for k in ks)


def _pass(found: PassEstimate | None) -> str:
    if found is None:
        return ""
    if found.estimate.value is None:
        return f"{rate(found.lowest)} to {rate(found.highest)} ({found.estimate.tasks})"
    return _rated(found.estimate)


def _rated(found: Estimate) -> str:
    return measured(rate(found.value), interval(found), found.tasks)
