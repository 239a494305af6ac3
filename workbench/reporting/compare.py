"""Arms of one block compared on common tasks, and the corrections over all of a report's comparisons."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from workbench.reporting.cells import Cell, baseline
from workbench.reporting.missing import Filled, filled, share_bounds, unmeasured
from workbench.reporting.numbers import Bounds, Change, Comparison, Estimate, GoldGap, Needed
from workbench.reporting.schema import ArmSummary
from workbench.reporting.wording import arm_name
from workbench.stats.gap import gap_share
from workbench.stats.harm import worse_by_chance
from workbench.stats.interval import Interval
from workbench.stats.multiplicity import benjamini_hochberg, holm
from workbench.stats.paired import difference, task_differences
from workbench.stats.power import (
    Design,
    detectable,
    equal_trials,
    paired_components,
    tasks_needed,
    trials_needed,
)
from workbench.stats.proportion import task_means

TARGET = 0.1
"""The difference for which reports say what finding it takes. Not the one seen: power for that is p again."""

Rewards = Mapping[str, Sequence[float]]


def compared(
    cells: list[Cell], cell: Cell, summary: ArmSummary, level: float, seed: int, family: int = 1
) -> ArmSummary:
    """`summary` with its comparisons: gold and routed arms to none, routed arms to gold.

    Args:
        family: routed arms of the report, which `adjusted` will correct for.
    """
    if cell.arm.condition == "none":
        return summary
    family = family if cell.arm.condition == "routed" else 1
    none = baseline(cells, cell, "none")
    gold = baseline(cells, cell, "gold") if cell.arm.condition == "routed" else None
    return summary.model_copy(
        update={
            "vs_none": None if none is None else comparison(cell, none, level, seed, family),
            "vs_gold": None if gold is None else comparison(cell, gold, level, seed, family),
            "gap": None if none is None or gold is None else _gap(cell, none, gold, level),
        }
    )


def adjusted(arms: Sequence[ArmSummary]) -> list[ArmSummary]:
    """Holm's correction over all routed arms of a report, for each kind of baseline by itself."""
    routed = [arm for arm in arms if arm.condition == "routed"]
    to_none = _holm(arm.vs_none for arm in routed)
    to_gold = _holm(arm.vs_gold for arm in routed)
    changed = {
        id(arm): arm.model_copy(update={"vs_none": none, "vs_gold": gold})
        for arm, none, gold in zip(routed, to_none, to_gold, strict=True)
    }
    return [changed.get(id(arm), arm) for arm in arms]


def _holm(comparisons: Iterable[Comparison | None]) -> list[Comparison | None]:
    listed = list(comparisons)
    corrected = iter(in_family([c for c in listed if c is not None]))
    return [None if c is None else next(corrected) for c in listed]


def in_family(family: Sequence[Comparison]) -> list[Comparison]:
    """One family with its p values after Holm, also of each at its worst, and after Benjamini and Hochberg.

    A comparison that was planned and could not be made stays in the family, as if its p were 1: what
    failed to run makes no other finding surer.
    """
    seen = [1.0 if c.p_value is None else c.p_value for c in family]
    corrected = zip(
        family, holm(seen), benjamini_hochberg(seen), holm([_worst_p(c) for c in family]), strict=True
    )
    return [_corrected(c, p, fdr, worst, len(family)) for c, p, fdr, worst in corrected]


def _corrected(found: Comparison, p_adjusted: float, p_fdr: float, worst: float, family: int) -> Comparison:
    bounds = found.bounds
    if bounds is not None and bounds.p_value is not None:
        bounds = bounds.model_copy(update={"p_adjusted": worst})
    made = found.p_value is not None
    return found.model_copy(
        update={
            "p_adjusted": p_adjusted if made else None,
            "p_fdr": p_fdr if made else None,
            "family": family,
            "bounds": bounds,
        }
    )


def _worst_p(found: Comparison) -> float:
    p = found.p_value if found.bounds is None else found.bounds.p_value
    return 1.0 if p is None else p


def comparison(cell: Cell, base: Cell, level: float, seed: int, family: int = 1) -> Comparison:
    """One cell minus another, on the tasks scored in both; p is uncorrected.

    Args:
        family: comparisons that Holm will be run over; what is `detectable` is so at 5 % / `family`.
    """
    mine, theirs = cell.rewards, base.rewards
    common = sorted(mine.keys() & theirs.keys())
    missing = tuple(sorted((cell.by_task.keys() | base.by_task.keys()) - set(common)))
    extremes = filled(cell, base)
    if not common:
        return _uncompared(cell, base, missing, _bounds(extremes, None, level, seed))
    first, second = [mine[task] for task in common], [theirs[task] for task in common]
    found = difference(first, second, seed, level)
    return Comparison(
        baseline=base.label,
        difference=_estimate(found.estimate, found.interval, found.tasks, "one task has no interval"),
        standard_error=found.standard_error,
        p_value=found.p_value,
        p_adjusted=found.p_value,
        family=1,
        better=found.better,
        worse=found.worse,
        missing=missing,
        detectable=_detectable(first, second, family),
        worse_by_chance=worse_by_chance(first, second, seed),
        needed=_needed(first, second, family),
        changes=changes(common, first, second),
        bounds=_bounds(extremes, found.estimate, level, seed),
    )


def _bounds(extremes: Filled | None, seen: float | None, level: float, seed: int) -> Bounds | None:
    """The range that missing trials leave, and the test with all of them counted against what was `seen`."""
    if extremes is None:
        return None
    lowest, highest = (
        math.fsum(task_differences(*arms)) / len(arms[0]) for arms in (extremes.low, extremes.high)
    )
    if not seen:
        nothing = Estimate(value=None, tasks=len(extremes.low[0]), reason="no difference was seen")
        return Bounds(
            trials=extremes.trials,
            lowest=lowest,
            highest=highest,
            against=nothing,
            p_value=None,
            p_adjusted=None,
        )
    found = difference(*(extremes.low if seen > 0 else extremes.high), seed, level)
    return Bounds(
        trials=extremes.trials,
        lowest=lowest,
        highest=highest,
        against=_estimate(found.estimate, found.interval, found.tasks, "one task has no interval"),
        p_value=found.p_value,
        p_adjusted=found.p_value,
    )


def changes(
    tasks: Sequence[str], first: Sequence[Sequence[float]], second: Sequence[Sequence[float]]
) -> tuple[Change, ...]:
    """Tasks whose means differ, those that the first arm loses by most first."""
    means = zip(tasks, task_means(first), task_means(second), first, second, strict=True)
    found = [
        Change(task=task, first=a, second=b, trials=(len(x), len(y)))
        for task, a, b, x, y in means
        if abs(a - b) > 1e-12
    ]
    return tuple(sorted(found, key=lambda change: (round(change.first - change.second, 9), change.task)))


def _uncompared(cell: Cell, base: Cell, missing: tuple[str, ...], bounds: Bounds | None) -> Comparison:
    lacking = unmeasured(base)
    reason = unmeasured(cell) or (
        "no task was scored in both arms" if lacking is None else f"{arm_name(base.label)} {lacking}"
    )
    return Comparison(
        baseline=base.label,
        difference=Estimate(value=None, tasks=0, reason=reason),
        standard_error=None,
        p_value=None,
        p_adjusted=None,
        family=1,
        better=0,
        worse=0,
        missing=missing,
        detectable=None,
        bounds=bounds,
    )


def _detectable(
    first: Sequence[Sequence[float]], second: Sequence[Sequence[float]], family: int
) -> float | None:
    if len(first) < 2:
        return None
    trials = equal_trials(first, second)
    return detectable(paired_components(first, second), len(first), trials, corrected_design(family))


def _needed(
    first: Sequence[Sequence[float]], second: Sequence[Sequence[float]], family: int
) -> Needed | None:
    if len(first) < 2:
        return None
    pilot, trials, design = (
        paired_components(first, second),
        equal_trials(first, second),
        corrected_design(family),
    )
    if pilot.variance(trials) == 0:
        return None
    return Needed(
        effect=TARGET,
        tasks=tasks_needed(pilot, TARGET, trials, design),
        trials=trials_needed(pilot, TARGET, len(first), design),
    )


def corrected_design(family: int) -> Design:
    """80 % power at what Holm leaves for certain to each of `family` >= 1 comparisons."""
    return Design(alpha=0.05 / family)


def _gap(cell: Cell, none: Cell, gold: Cell, level: float) -> GoldGap | None:
    arms: list[Rewards] = [cell.rewards, none.rewards, gold.rewards]
    common = sorted(arms[0].keys() & arms[1].keys() & arms[2].keys())
    if len(common) < 2:
        return None
    routed, bare, golden = ([rewards[task] for task in common] for rewards in arms)
    share = gap_share(routed, bare, golden, level)
    missing = any(fact.reward is None for found in (cell, none, gold) for fact in found.facts)
    bounds = share_bounds(cell, none, gold) if missing else None
    return GoldGap(
        share=_estimate(share.estimate, share.interval, share.tasks, share.reason),
        gap=_estimate(share.gap, share.gap_interval, share.tasks, None),
        lowest=None if bounds is None else bounds[0],
        highest=None if bounds is None else bounds[1],
        open=missing and bounds is None,
    )


def _estimate(value: float | None, interval: Interval | None, tasks: int, reason: str | None) -> Estimate:
    if interval is None:
        return Estimate(value=value, tasks=tasks, reason=reason)
    return Estimate(value=value, low=interval.low, high=interval.high, tasks=tasks)
