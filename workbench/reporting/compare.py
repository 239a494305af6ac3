"""Arms of one block compared on common tasks, and the corrections over all of a report's comparisons."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from workbench.reporting.cells import Cell, baseline
from workbench.reporting.schema import ArmSummary, Change, Comparison, Estimate, GoldGap
from workbench.stats.gap import gap_share
from workbench.stats.interval import Interval
from workbench.stats.multiplicity import holm
from workbench.stats.paired import Difference, difference
from workbench.stats.power import Design, detectable, paired_components
from workbench.stats.proportion import task_means

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
    tested = [c.p_value for c in listed if c is not None and c.p_value is not None]
    corrected = iter(holm(tested))
    return [
        c.model_copy(update={"p_adjusted": next(corrected), "family": len(tested)})
        if c is not None and c.p_value is not None
        else c
        for c in listed
    ]


def comparison(cell: Cell, base: Cell, level: float, seed: int, family: int = 1) -> Comparison:
    """One cell minus another, on the tasks scored in both; p is uncorrected.

    Args:
        family: comparisons that Holm will be run over; what is `detectable` is so at 5 % / `family`.
    """
    mine, theirs = cell.rewards, base.rewards
    common = sorted(mine.keys() & theirs.keys())
    missing = tuple(sorted((cell.by_task.keys() | base.by_task.keys()) - set(common)))
    if not common:
        return _uncompared(base.label, missing)
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
        detectable=_detectable(first, second, found, family),
        changes=changes(common, first, second),
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


def _uncompared(label: str, missing: tuple[str, ...]) -> Comparison:
    reason = "no task was scored in both arms"
    return Comparison(
        baseline=label,
        difference=Estimate(value=None, tasks=0, reason=reason),
        standard_error=None,
        p_value=None,
        p_adjusted=None,
        family=0,
        better=0,
        worse=0,
        missing=missing,
        detectable=None,
    )


def _detectable(
    first: Sequence[Sequence[float]], second: Sequence[Sequence[float]], found: Difference, family: int
) -> float | None:
    if found.tasks < 2:
        return None
    trials = round(sum(map(len, [*first, *second])) / (2 * found.tasks))
    return detectable(paired_components(first, second), found.tasks, trials, corrected_design(family))


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
    return GoldGap(
        share=_estimate(share.estimate, share.interval, share.tasks, share.reason),
        gap=_estimate(share.gap, share.gap_interval, share.tasks, None),
    )


def _estimate(value: float | None, interval: Interval | None, tasks: int, reason: str | None) -> Estimate:
    if interval is None:
        return Estimate(value=value, tasks=tasks, reason=reason)
    return Estimate(value=value, low=interval.low, high=interval.high, tasks=tasks)
