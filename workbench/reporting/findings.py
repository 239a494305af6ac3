"""What a comparison amounts to, in one place for every report, sentence and gate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from workbench.reporting.numbers import Comparison, Estimate
from workbench.reporting.schema import Block, Summary
from workbench.reporting.wording import APPROXIMATE, UNCORRECTED, interval, plural, signed, stated

Finding = Literal["better", "worse", "unclear"]
ALPHA = 0.05


def finding(comparison: Comparison) -> Finding:
    """A difference is found where the corrected test finds one; it is exact, the interval is approximate."""
    return _finding(comparison.difference, comparison.p_adjusted)


def stands(comparison: Comparison) -> bool:
    """Whether what is found would be found with every trial not scored counted against it."""
    bounds, found = comparison.bounds, finding(comparison)
    return bounds is None or found in ("unclear", _finding(bounds.against, bounds.p_adjusted))


def interval_alone(comparison: Comparison) -> bool:
    """Whether nothing is found, although the interval, which is of one comparison only, excludes 0."""
    low, high = comparison.difference.low, comparison.difference.high
    return finding(comparison) == "unclear" and low is not None and high is not None and not low <= 0 <= high


def test_alone(comparison: Comparison) -> bool:
    """Whether a difference is found, although the interval, approximate on few tasks, holds 0."""
    low, high = comparison.difference.low, comparison.difference.high
    return finding(comparison) != "unclear" and (low is None or high is None or low <= 0 <= high)


def remark(comparison: Comparison) -> str:
    """Why test and interval may seem to contradict each other; empty where they do not."""
    if interval_alone(comparison):
        corrected = comparison.p_value is not None and comparison.p_value < ALPHA
        return (
            " (the interval is not corrected)" if corrected else " (the interval is approximate: p decides)"
        )
    return " (the interval is approximate on so few tasks)" if test_alone(comparison) else ""


def if_missing(comparison: Comparison) -> str:
    """What trials not scored could change about a finding; empty where there is none or none is missing."""
    bounds = comparison.bounds
    if bounds is None or finding(comparison) == "unclear":
        return ""
    trials = f"the {plural(bounds.trials, 'trial')} not scored went against it"
    if stands(comparison):
        return f"so too if {trials}: {signed(bounds.against.value)}"
    worst = f"{signed(bounds.against.value)} {interval(bounds.against)}".rstrip()
    turned = _finding(bounds.against, bounds.p_adjusted) != "unclear"
    return f"{'reversed' if turned else 'not shown'} if {trials}: {worst}, {stated(bounds.p_adjusted)}"


def family(blocks: Sequence[Block]) -> str:
    """What the routed arms of a report are corrected over: ``4 comparisons (2 routers x 2 agents)``."""
    routed = [(block, arm) for block in blocks for arm in block.arms if arm.condition == "routed"]
    parts = {
        "router": {arm.arm for _, arm in routed},
        "suite": {block.suite for block, _ in routed},
        "model": {block.model for block, _ in routed},
        "agent": {block.agent for block, _ in routed},
    }
    sizes = {noun: len(names) for noun, names in parts.items() if len(names) > 1 or noun == "router"}
    product = 1
    for size in sizes.values():
        product *= size
    listed = plural(len(routed), "comparison")
    if product != len(routed):
        return f"{listed} (every routed arm)"
    return f"{listed} ({' x '.join(plural(count, noun) for noun, count in sizes.items())})"


def holm_words(summary: Summary) -> str:
    """``, after Holm's correction over 4 comparisons (...)``, and which of p and interval decides."""
    routed = [arm for block in summary.blocks for arm in block.arms if arm.condition == "routed"]
    if len(routed) < 2:
        return f". {APPROXIMATE[:-1]}"
    each = ", with none and with gold each by itself" if any(arm.vs_gold for arm in routed) else ""
    return f", after Holm's correction over {family(summary.blocks)}{each}. {UNCORRECTED[:-1]}"


def _finding(difference: Estimate, p_value: float | None) -> Finding:
    if p_value is None or p_value >= ALPHA or not difference.value:
        return "unclear"
    return "better" if difference.value > 0 else "worse"
