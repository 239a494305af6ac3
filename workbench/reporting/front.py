"""Which arms are worth their price: the Pareto front, and the evidence for each step."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from workbench.reporting.cells import Cell
from workbench.reporting.estimates import change
from workbench.reporting.numbers import Estimate
from workbench.reporting.prices import AMOUNTS, UNITS, Unit, amounts_of
from workbench.reporting.schema import ArmSummary, Front, FrontPoint
from workbench.stats.paired import difference, t_interval


@dataclass(frozen=True)
class _Priced:
    """An arm with both estimates, `price` per trial."""

    cell: Cell
    arm: ArmSummary
    price: Estimate

    @property
    def at(self) -> tuple[float, float]:
        """(cheapness, success): more is better in both."""
        return -(self.price.value or 0.0), self.arm.success.value or 0.0


def front(cells: Sequence[Cell], arms: Sequence[ArmSummary], level: float, seed: int) -> Front | None:
    """Price per trial against success; ``None`` where no unit is known for two arms.

    Args:
        cells: those that `arms` summarise, in the same order.
    """
    measured = [(cell, arm) for cell, arm in zip(cells, arms, strict=True) if arm.success.value is not None]
    for unit in UNITS:
        found = [_Priced(cell, arm, getattr(arm.per_trial, unit)) for cell, arm in measured]
        known = all(priced.price.value is not None for priced in found)
        if len(found) >= 2 and known and any(priced.price.value for priced in found):
            return Front(unit=unit, points=tuple(_point(one, found, unit, level, seed) for one in found))
    return None


def _point(one: _Priced, others: Sequence[_Priced], unit: Unit, level: float, seed: int) -> FrontPoint:
    """An arm beside the best of those that cost no more."""
    beaten = any(o.at != one.at and o.at[0] >= one.at[0] and o.at[1] >= one.at[1] for o in others)
    point = FrontPoint(arm=one.arm.arm, price=one.price, success=one.arm.success, best=not beaten)
    rivals = [other for other in others if other is not one and other.at[0] >= one.at[0]]
    if not rivals:
        return point
    rival = max(rivals, key=lambda other: (other.at[1], other.at[0]))
    return point.model_copy(
        update={
            "rival": rival.arm.arm,
            "gain": _gain(one.cell, rival.cell, level, seed),
            "extra": _extra(one.cell, rival.cell, unit, level),
        }
    )


def _gain(one: Cell, rival: Cell, level: float, seed: int) -> Estimate:
    """Difference in success, paired over the tasks scored in both."""
    mine, theirs = one.rewards, rival.rewards
    common = sorted(mine.keys() & theirs.keys())
    if not common:
        return Estimate(value=None, tasks=0, reason="no task was scored in both")
    found = difference([mine[task] for task in common], [theirs[task] for task in common], seed, level)
    return change(found.estimate, found.interval, found.tasks)


def _extra(one: Cell, rival: Cell, unit: Unit, level: float) -> Estimate:
    """Difference in price per trial, paired over the tasks for which it is known in both."""
    mine, theirs = amounts_of(one, AMOUNTS[unit]), amounts_of(rival, AMOUNTS[unit])
    values = [mine[task][0] - theirs[task][0] for task in sorted(mine.keys() & theirs.keys())]
    if not values:
        return Estimate(value=None, tasks=0, reason="known for no task of both")
    interval = t_interval(values, level) if len(values) > 1 else None
    return change(math.fsum(values) / len(values), interval, len(values))
