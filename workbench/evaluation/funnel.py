"""The failure funnel: at which stage a failed trial lost a gold skill.

    gold not in pool -> not routed -> not shown -> not loaded -> loaded but failed -> passed

A trial stands at the first stage at which at least one gold skill was lost. It tells where to
look first; it does not prove that the loss caused the failure (agents pass without skills too).
"""

from __future__ import annotations

from collections.abc import Iterable

from workbench.core.types import PASS, FunnelStage


def stage(
    reward: float,
    *,
    gold: Iterable[str],
    in_pool: Iterable[str],
    routed: Iterable[str],
    shown: Iterable[str] | None,
    loaded: Iterable[str] | None,
) -> FunnelStage:
    """The stage of one scored trial.

    Args:
        gold: the task's gold ids.
        in_pool: gold ids that could have been routed (all of them where no pool is searched).
        routed: ids given to the trial.
        shown: ids the agent was shown; ``None`` where the agent is shown nothing by design
            (reference solution), which skips that stage. `loaded` likewise.
    """
    if reward >= PASS:
        return "passed"
    needed = set(gold)
    stages: tuple[tuple[FunnelStage, Iterable[str] | None], ...] = (
        ("not_in_pool", in_pool),
        ("not_routed", routed),
        ("not_shown", shown),
        ("not_loaded", loaded),
    )
    for name, present in stages:
        if present is not None and not needed <= set(present):
            return name
    return "failed"
