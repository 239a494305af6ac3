"""What a paired report says in words: a sentence per comparison, what to know before believing it."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.reporting.findings import ALPHA, finding, if_missing, remark, stands
from workbench.reporting.paired import PairedReport, PairedResult, Sameness, Side
from workbench.reporting.wording import (
    APPROXIMATE,
    BY_CHANCE,
    DETECTABLE,
    UNCORRECTED,
    arm_name,
    hopeless,
    interval,
    missing_range,
    needs,
    plural,
    rate,
    signed,
    stated,
    tested,
)


def sentence(result: PairedResult) -> str:
    """What the evidence says of one pair."""
    found = result.comparison
    names = _names(result)
    where = f"{result.place}: " if result.place else ""
    if found.difference.value is None:
        return f"{where}{names[0]} against {names[1]}: {found.difference.reason}."
    bounds = f"{signed(found.difference.value)} {interval(found.difference)}".rstrip()
    size = plural(found.difference.tasks, "task")
    checked = f"{where}baseline: " if result.baseline else where
    if verdict(result) == "equivalent to" and result.sameness is not None:
        return checked + _same(result, result.sameness, names, f"{bounds} ({size})")
    firm = stands(found)
    missing = if_missing(found)
    doubt = f"; {'' if firm else 'but '}{missing}" if missing else ""
    said = f"{names[0]} is {verdict(result)} {names[1]}{'' if firm else ' on what was scored'}"
    return f"{checked}{said}: {bounds}{remark(found)}, {tested(found)} ({size}){doubt}."


def _same(result: PairedResult, same: Sameness, names: tuple[str, str], seen: str) -> str:
    """The sentence for two that are equivalent, and whether they would be whatever is missing."""
    each = ", not corrected" if result.comparison.family > 1 else ""
    test = f"{stated(same.p_equivalent)} of equivalence{each}"
    if (bounds := result.comparison.bounds) is None:
        return f"{names[0]} is equivalent to {names[1]} within {same.margin:.2f}: {seen}, {test}."
    trials = f"the {plural(bounds.trials, 'trial')} not scored went against it"
    if same.worst_equivalent < ALPHA:
        held, doubt = "", f"so too if {trials}: {stated(same.worst_equivalent)}"
    else:
        held, doubt = " on what was scored", f"but not shown if {trials}: {stated(same.worst_equivalent)}"
    return f"{names[0]} is equivalent to {names[1]} within {same.margin:.2f}{held}: {seen}, {test}; {doubt}."


def verdict(result: PairedResult) -> str:
    """``better than``, ``worse than``, ``equivalent to`` or ``not clearly different from``."""
    if (kind := finding(result.comparison)) != "unclear":
        return f"{kind} than"
    if result.sameness is not None and result.sameness.p_equivalent < ALPHA:
        return "equivalent to"
    return "not clearly different from"


def holds(result: PairedResult, requirement: str, *, by_chance: bool) -> bool:
    """Whether the first side is ``better``, ``not-worse`` or ``equivalent``.

    Args:
        by_chance: trials are missing by chance, so that those scored decide. Else it must hold
            also with every trial not scored counted against it.
    """
    if requirement == "better":
        found = result.comparison
        return finding(found) == "better" and (by_chance or stands(found))
    if (same := result.sameness) is None:
        return False
    if requirement == "not-worse":
        return (same.p_not_worse if by_chance else same.worst_not_worse) < ALPHA
    return (same.p_equivalent if by_chance else same.worst_equivalent) < ALPHA


def aside(report: PairedReport) -> Iterator[str]:
    """What a reader must know before believing the sentences."""
    for result in report.results:
        yield from (f"{row_name(result)}: {flag}" for flag in result.flags)
    yield from _hopeless(report)
    if report.unpaired:
        yield f"not compared, for only one side has them: {'; '.join(report.unpaired)}"


def _hopeless(report: PairedReport) -> Iterator[str]:
    """Comparisons on so few tasks that no outcome could be a finding."""
    sizes = {r.comparison.difference.tasks for r in report.results if r.comparison.difference.tasks}
    for tasks in sorted(sizes):
        if (least := min(1.0, report.family * 2 / 2**tasks)) > ALPHA:
            yield hopeless(tasks, report.family, least)


def further(result: PairedResult, margin: float | None) -> list[str]:
    """Sameness, and what it would take to be sure."""
    found = result.comparison
    lines = list(_sameness(result, margin))
    if verdict(result) == "not clearly different from" and found.detectable is not None:
        lines.append(f"MDE {rate(found.detectable)}{_needs(result)}")
    return lines


def cautions(result: PairedResult) -> Iterator[str]:
    """Tasks that were left out, and what the missing trials leave open."""
    found = result.comparison
    if result.left_out:
        yield f"on the tasks of both plans, without {plural(result.left_out, 'other')}"
    if found.missing and found.difference.tasks:
        yield f"without {plural(len(found.missing), 'task')} not scored on both sides"
    if found.bounds is not None:
        size = plural(found.bounds.trials, "trial")
        yield f"with {size} not scored: {missing_range(found.bounds)} if missing"


def _sameness(result: PairedResult, margin: float | None) -> Iterator[str]:
    if (same := result.sameness) is None:
        if margin is not None and result.comparison.difference.tasks == 1:
            yield "one task says nothing of sameness"
        return
    word = "within" if same.p_equivalent < ALPHA else "not shown to be within"
    worse = "not worse by that much" if same.p_not_worse < ALPHA else "not shown to be no worse"
    yield (
        f"{word} {same.margin:.2f} of each other ({stated(same.p_equivalent)});"
        f" {worse} ({stated(same.p_not_worse)}); the tests' 90% interval"
        f" [{signed(same.interval[0])}, {signed(same.interval[1])}]"
    )
    if result.comparison.bounds is not None:
        yield (
            "with trials not scored counted against it:"
            f" {stated(same.worst_equivalent)} and {stated(same.worst_not_worse)}"
        )


def _needs(result: PairedResult) -> str:
    needed = result.comparison.needed
    return "" if needed is None else f"; finding {rate(needed.effect)} takes {needs(needed)}"


def settings(report: PairedReport) -> list[tuple[str, str, str, str]]:
    """Every difference in settings once: name, first, second, and the comparisons that it touches."""
    found: dict[tuple[str, str, str], list[str]] = {}
    for result in report.results:
        for difference in result.unlike:
            found.setdefault(difference.shown, []).append(row_name(result).removesuffix(" (baseline)"))
    everywhere = len(report.results)
    return [
        (*shown, "all" if len(names) == everywhere else ", ".join(names)) for shown, names in found.items()
    ]


def row_name(result: PairedResult) -> str:
    """``bm25``, ``gold - bm25``, ``none (baseline)``, ``agent nop: bm25``."""
    first, second = arm_name(result.first.arm), arm_name(result.second.arm)
    name = f"{first} - {second}" if first != second else first
    where = f"{result.place}: " if result.place else ""
    return f"{where}{name}{' (baseline)' if result.baseline else ''}"


def method(report: PairedReport) -> str:
    """How the numbers were made."""
    checks = sorted({arm_name(result.first.arm) for result in report.results if result.baseline})
    outside = f" (baselines, {' and '.join(checks)}, are outside it, their p not corrected)" if checks else ""
    family = f" the family of {report.family} comparisons" if report.family > 1 else " one comparison"
    corrected = f"; Holm and BH over{family}{outside}"
    sure = UNCORRECTED if report.family > 1 else APPROXIMATE
    missing = f" {BY_CHANCE}" if any(result.comparison.bounds for result in report.results) else ""
    return (
        "Paired by task, first minus second; all figures are over the tasks scored on both sides. p: exact"
        f" sign-flip test over tasks{corrected}. {sure} {DETECTABLE}{missing} Seed {report.seed}."
    )


def _names(result: PairedResult) -> tuple[str, str]:
    """Each side by what tells it from the other."""
    sides = (result.first, result.second)
    differing = [
        field for field in ("model", "agent", "arm") if len({getattr(s, field) for s in sides}) > 1
    ] or ["arm"]
    one, other = (_name(side, differing) for side in sides)
    if one == other:
        return f"{one} (first)", f"{other} (second)"
    if "arm" not in differing:
        arm = arm_name(result.first.arm)
        return f"{arm} with {one}", f"{arm} with {other}"
    return one, other


def _name(side: Side, fields: list[str]) -> str:
    return " ".join(arm_name(side.arm) if field == "arm" else str(getattr(side, field)) for field in fields)
