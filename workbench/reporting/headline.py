"""What the evidence says, in one sentence per comparison, and what a reader must know first."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from workbench.reporting.findings import ALPHA, finding, if_missing, remark, stands
from workbench.reporting.numbers import Comparison, GoldGap
from workbench.reporting.schema import ArmSummary
from workbench.reporting.settings import own
from workbench.reporting.wording import (
    arm_name,
    hopeless,
    interval,
    percent,
    percent_interval,
    plural,
    rate,
    share_range,
    signed,
    tested,
    trials,
)

_FEW = 30
_LEAST_P = 0.001
"""Below it, p values are written alike."""
_POINTS = 0.02
"""Two percentage points: the largest difference in exclusion rates, and the gate on missing trials."""


def headline(arms: Sequence[ArmSummary], design: tuple[int, tuple[int, int]]) -> tuple[str, ...]:
    """Sentences, the strongest evidence first; `design` is (tasks, (fewest, most) trials)."""
    routed = [arm for arm in arms if arm.condition == "routed"] or [a for a in arms if a.condition == "gold"]
    compared = [arm for arm in routed if arm.vs_none is not None and arm.vs_none.difference.tasks > 0]
    if not compared:
        return tuple(_alone(arm) for arm in arms)
    compared.sort(key=_strength)
    rest = [arm for arm in routed if arm not in compared]
    return (*(_sentence(arm, design) for arm in compared), *(_uncompared(arm) for arm in rest))


def flags(
    arms: Sequence[ArmSummary], sandboxes: Mapping[str, int], versions: Mapping[str, int]
) -> tuple[str, ...]:
    """What a reader must know before believing the numbers, the gravest first.

    Args:
        sandboxes, versions: kind of sandbox, version of this package -> trials.
    """
    rates = {arm_name(arm.arm): arm.excluded / arm.planned for arm in arms}
    found = [*unequal_exclusions(rates), *_incomplete(arms), *_unshared(arms), *_unlike(arms)]
    for several, what in (
        (sandboxes, "in different sandboxes"),
        (versions, "by different versions of this package"),
    ):
        if len(several) > 1:
            listed = ", ".join(f"{name} ({count})" for name, count in several.items())
            found.append(f"trials ran {what}: {listed}")
    found += _harmful(arms)
    tasks, family = _compared(arms)
    if (least := min(1.0, family * 2 / 2**tasks)) > ALPHA:
        found.append(hopeless(tasks, family, least))
    elif tasks < _FEW:
        found.append(f"{tasks} tasks are few: intervals are wide, and approximate below some {_FEW}")
    if not any(arm.condition == "none" for arm in arms):
        found.append("there is no arm without skills to compare with")
    return tuple(found)


def _compared(arms: Sequence[ArmSummary]) -> tuple[int, int]:
    """Tasks of the comparison that has most, and comparisons that are corrected together."""
    made = [arm.vs_none for arm in arms if arm.condition == "routed" and arm.vs_none is not None]
    if not made:
        return max(len(arm.tasks) for arm in arms), 1
    return max(each.difference.tasks for each in made), max(each.family for each in made)


def _harmful(arms: Sequence[ArmSummary]) -> list[str]:
    """Gold skills that make success less likely, on which no share of a gap can be had."""
    return [
        f"gold skills are worse than no skills: {signed(arm.vs_none.difference.value)}"
        f" {interval(arm.vs_none.difference)}, {tested(arm.vs_none)}"
        for arm in arms
        if arm.condition == "gold" and arm.vs_none is not None and finding(arm.vs_none) == "worse"
    ]


def missing_share(arm: ArmSummary) -> float:
    """Share of an arm's planned trials that are excluded or pending."""
    return (arm.excluded + arm.pending) / arm.planned


def too_many_missing(share: float) -> bool:
    """Whether the gate on excluded or pending trials (2 %) is failed."""
    return share > _POINTS + 1e-9


def _strength(arm: ArmSummary) -> tuple[float, float, str]:
    assert arm.vs_none is not None
    p, value = arm.vs_none.p_adjusted, arm.vs_none.difference.value
    return (1.0 if p is None else max(p, _LEAST_P), -(value or 0.0), arm.arm)


def _alone(arm: ArmSummary) -> str:
    success = arm.success
    if success.value is None:
        return f"{arm_name(arm.arm)}: {success.reason}."
    size = plural(success.tasks, "task")
    return f"{arm_name(arm.arm)}: success {_joined(rate(success.value), interval(success))} on {size}."


def _uncompared(arm: ArmSummary) -> str:
    """An arm that was to be compared and could not be."""
    if arm.vs_none is None or arm.success.value is None:
        return _alone(arm)
    return f"{arm_name(arm.arm)}: not compared with no skills: {arm.vs_none.difference.reason}."


def _sentence(arm: ArmSummary, design: tuple[int, tuple[int, int]]) -> str:
    comparison = arm.vs_none
    assert comparison is not None
    tasks, count = design
    shared = comparison.difference.tasks
    size = plural(tasks, "task") if shared == tasks else f"{shared} of {plural(tasks, 'task')}"
    missing = if_missing(comparison)
    doubt = f"; {'' if stands(comparison) else 'but '}{missing}" if missing else ""
    return f"{arm_name(arm.arm)}{_verdict(comparison, arm.gap)} ({size} x {trials(count)}){doubt}."


def _verdict(comparison: Comparison, gap: GoldGap | None) -> str:
    found = comparison.difference
    number = _joined(signed(found.value), interval(found))
    test = tested(comparison)
    kind, firm = finding(comparison), stands(comparison)
    if kind == "unclear":
        return f": no clear difference from no skills, {number}{remark(comparison)}, {test}"
    number += remark(comparison)
    scored = "" if firm else " on what was scored"
    if kind == "worse" or gap is None or not firm:
        return f": {kind} than no skills{scored}, {number}, {test}"
    share = gap.share
    if share.value is None or share.low is None:
        return (
            f": better than no skills, {number}, {test}; share of the gold gap not estimable, {share.reason}"
        )
    closed = _joined(percent(share.value), percent_interval(share))
    open_to = f" ({shares} with what is missing)" if (shares := share_range(gap)) else ""
    on = f" on the {plural(share.tasks, 'task')} with gold" if share.tasks != found.tasks else ""
    return f" closes {closed} of the gold gap{on}{open_to}: {number} over no skills, {test}"


def unequal_exclusions(rates: Mapping[str, float]) -> list[str]:
    """A flag where shares of excluded trials, by arm, differ by more than two points."""
    if not rates or max(rates.values()) - min(rates.values()) <= _POINTS:
        return []
    shown = ", ".join(f"{name} {value:.1%}" for name, value in rates.items())
    return [f"exclusion rates differ between arms ({shown}): differences may come from what is missing"]


def _incomplete(arms: Sequence[ArmSummary]) -> list[str]:
    planned = sum(arm.planned for arm in arms)
    counts = (("excluded", sum(a.excluded for a in arms)), ("pending", sum(a.pending for a in arms)))
    parts = [f"{count} {name}" for name, count in counts if count]
    return [f"{' and '.join(parts)} of {plural(planned, 'planned trial')}"] if parts else []


def _unshared(arms: Sequence[ArmSummary]) -> list[str]:
    """Tasks left out of an arm's comparisons."""
    found = []
    for arm in arms:
        left_out = [c.missing for c in (arm.vs_none, arm.vs_gold) if c is not None and c.difference.tasks]
        if names := sorted(set().union(*left_out)):
            listed = ", ".join(names[:6]) + (", ..." if len(names) > 6 else "")
            found.append(f"{arm_name(arm.arm)} is compared without {plural(len(names), 'task')}: {listed}")
    return found


def _unlike(arms: Sequence[ArmSummary]) -> list[str]:
    """Settings under which only some trials ran, and arms that no baseline shares them with."""
    found = []
    names = {name for arm in arms for name in own(arm.variant)}
    values = {name: {arm.variant.get(name) for arm in arms} for name in sorted(names)}
    differing = [f"{name} {_either(several)}" for name, several in values.items() if len(several) > 1]
    if differing:
        found.append(
            f"not all trials ran under the same settings ({'; '.join(differing)}):"
            " they are counted apart, and compared where these agree"
        )
    for condition in ("none", "gold"):
        alone = [
            arm_name(arm.arm)
            for arm in arms
            if arm.condition not in ("none", condition)
            and (arm.vs_none if condition == "none" else arm.vs_gold) is None
        ]
        if alone and any(arm.condition == condition for arm in arms):
            found.append(
                f"no baseline '{condition}' of the same settings, so not compared with it: {', '.join(alone)}"
            )
    return found


def _either(values: Collection[str | None]) -> str:
    """``60 or not set``."""
    given = sorted(value for value in values if value is not None)
    return " or ".join([*given, *(["not set"] if None in values else [])])


def _joined(number: str, bounds: str) -> str:
    return f"{number} {bounds}".rstrip()
