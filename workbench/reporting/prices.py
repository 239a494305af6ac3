"""What a trial and a success cost."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal

from workbench.core.record import Spend
from workbench.reporting.cells import Cell
from workbench.reporting.estimates import average
from workbench.reporting.facts import Fact
from workbench.reporting.numbers import Estimate, Prices
from workbench.stats.ratio import ratio

Unit = Literal["cost_usd", "tokens", "seconds"]
Amount = Callable[[Spend], float | None]
UNKNOWN = "not known for any trial"
UNITS: tuple[Unit, ...] = ("cost_usd", "tokens", "seconds")


def seconds(spend: Spend) -> float | None:
    """Set-up, agent and verifier together, as far as known."""
    parts = (spend.setup_seconds, spend.agent_seconds, spend.verify_seconds)
    known = [part for part in parts if part is not None]
    return math.fsum(known) if known else None


AMOUNTS: Mapping[Unit, Amount] = {
    "cost_usd": lambda spend: spend.cost_usd,
    "tokens": lambda spend: spend.total_tokens,
    "seconds": seconds,
}


def per_trial(cell: Cell, level: float) -> Prices:
    """Mean over tasks of a trial's mean amount, with Student's t interval."""
    return _prices(cell, lambda tasks: average([amount for amount, _ in tasks], level, UNKNOWN))


def per_success(cell: Cell, level: float) -> Prices:
    """Amount over reward, both summed over scored trials, with Fieller's interval."""
    return _prices(cell, lambda tasks: _ratio(tasks, level))


Tasks = Sequence[tuple[float, float]]
"""Per task: mean amount and mean reward of the scored trials for which the amount is known."""


def _prices(cell: Cell, estimate: Callable[[Tasks], Estimate]) -> Prices:
    found = {unit: estimate(list(amounts_of(cell, amount).values())) for unit, amount in AMOUNTS.items()}
    return Prices(tokens=found["tokens"], cost_usd=found["cost_usd"], seconds=found["seconds"])


def amounts_of(cell: Cell, amount: Amount) -> dict[str, tuple[float, float]]:
    """Task -> mean amount and mean reward, of the scored trials for which the amount is known."""
    found = {}
    for task, facts in cell.by_task.items():
        known = [pair for fact in facts if (pair := _pair(fact, amount)) is not None]
        if known:
            found[task] = (_average(a for a, _ in known), _average(r for _, r in known))
    return found


def _pair(fact: Fact, amount: Amount) -> tuple[float, float] | None:
    if fact.reward is None or fact.spend is None:
        return None
    value = amount(fact.spend)
    return None if value is None else (float(value), fact.reward)


def _average(values: Iterable[float]) -> float:
    listed = list(values)
    return math.fsum(listed) / len(listed)


def _ratio(tasks: Tasks, level: float) -> Estimate:
    if not tasks:
        return Estimate(value=None, tasks=0, reason=UNKNOWN)
    found = ratio([amount for amount, _ in tasks], [reward for _, reward in tasks], level)
    reason = "no trial succeeded" if found.estimate is None else found.reason
    if found.interval is None:
        return Estimate(value=found.estimate, tasks=len(tasks), reason=reason)
    low, high = max(found.interval.low, 0.0), found.interval.high
    return Estimate(value=found.estimate, low=low, high=high, tasks=len(tasks))
