"""What goes with success: stages, coverage, loads, tags, routing metrics. Associations, not effects."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal

from workbench.core.types import FUNNEL, FunnelStage
from workbench.reporting.cells import Cell
from workbench.reporting.estimates import estimate
from workbench.reporting.facts import Collected, Fact
from workbench.reporting.numbers import Estimate
from workbench.reporting.routing import telling
from workbench.reporting.schema import Agreement, Given, Slice
from workbench.stats.association import agreement
from workbench.stats.interval import Interval

Kind = Literal["coverage", "loads"]
State = Literal["all", "some", "none"]
_STATES: tuple[State, ...] = ("all", "some", "none")
_ORDER = {"easy": 0, "medium": 1, "hard": 2}
_MOST_VALUES = 12
"""A tag with more values than this, or with fewer than two tasks to a value, groups nothing."""


def stage_shares(cell: Cell, level: float) -> dict[FunnelStage, Estimate]:
    """Share of scored trials that ended at each stage, clustered by task."""
    scored = [[f for f in facts if f.funnel is not None] for facts in cell.by_task.values()]
    tasks = [facts for facts in scored if facts]
    return {
        stage: estimate([[float(f.funnel == stage) for f in facts] for facts in tasks], level, "not scored")
        for stage in FUNNEL
    }


def given(cell: Cell, level: float) -> tuple[Given, ...]:
    """Success by how much of the gold was given (routed arms), and loaded (all arms with skills)."""
    if cell.arm.condition == "none":
        return ()
    kinds: list[tuple[Kind, Callable[[Fact], State | None]]] = [("loads", _loaded)]
    if cell.arm.condition == "routed":
        kinds.insert(0, ("coverage", _covered))
    return tuple(part for kind, of in kinds for part in _given(cell, kind, of, level))


def _given(cell: Cell, kind: Kind, of: Callable[[Fact], State | None], level: float) -> Iterable[Given]:
    for state in _STATES:
        tasks = [
            [f.reward for f in facts if f.reward is not None and of(f) == state]
            for facts in cell.by_task.values()
        ]
        found = [rewards for rewards in tasks if rewards]
        if found:
            yield Given(
                kind=kind, state=state, trials=sum(map(len, found)), success=estimate(found, level, "")
            )


def _covered(fact: Fact) -> State | None:
    return _state(fact.gold & fact.given, fact.gold)


def _loaded(fact: Fact) -> State | None:
    return None if fact.loaded is None else _state(fact.gold & fact.loaded, fact.gold)


def _state(found: frozenset[str], gold: frozenset[str]) -> State | None:
    if not gold:
        return None
    return "all" if found == gold else "some" if found else "none"


def slices(cells: Sequence[Cell], level: float) -> tuple[Slice, ...]:
    """Success by the tags that group tasks, and by the number of gold skills."""
    tags: dict[str, dict[str, str]] = defaultdict(dict)
    for cell in cells:
        for fact in cell.facts:
            for by, value in _tags(fact):
                tags[by][fact.task] = value
    return tuple(part for by in sorted(tags) for part in _slices(by, tags[by], cells, level))


def _tags(fact: Fact) -> Iterable[tuple[str, str]]:
    yield from fact.group.items()
    if fact.gold:
        yield "gold skills", str(len(fact.gold))


def _slices(by: str, of: Mapping[str, str], cells: Sequence[Cell], level: float) -> Iterable[Slice]:
    values = sorted(set(of.values()), key=lambda value: (_ORDER.get(value, len(_ORDER)), value))
    if not 1 < len(values) <= min(_MOST_VALUES, len(of) // 2):
        return
    for value in values:
        chosen = {task for task, tag in of.items() if tag == value}
        arms = {cell.label: _success(cell, chosen, level) for cell in cells}
        yield Slice(by=by, value=value, tasks=len(chosen), arms=arms)


def _success(cell: Cell, chosen: set[str], level: float) -> Estimate:
    rewards = [found for task, found in cell.rewards.items() if task in chosen]
    return estimate(rewards, level, "no trial was scored")


def agreements(cells: Sequence[Cell], collected: Collected, seed: int, level: float) -> tuple[Agreement, ...]:
    """Which routing metric orders the routers as success does? Needs two routers or more."""
    routed = [cell for cell in cells if cell.arm.condition == "routed"]
    if len(routed) < 2:
        return ()
    depths = {int(k) for cell in routed if (k := dict(cell.variant).get("k")) is not None}
    found = (_agreement(metric, routed, collected, seed, level) for metric in telling(depths))
    return tuple(part for part in found if part is not None)


def _agreement(
    metric: str, cells: Sequence[Cell], collected: Collected, seed: int, level: float
) -> Agreement | None:
    values = [_metric(cell, metric, collected) for cell in cells]
    common = sorted(set.intersection(*(set(v) & set(c.rewards) for v, c in zip(values, cells, strict=True))))
    if not common:
        return None
    metrics = [[v[task] for task in common] for v in values]
    success = [[_mean(cell.rewards[task]) for task in common] for cell in cells]
    tau, interval = agreement(metrics, success, seed, level)
    return Agreement(metric=metric, routers=len(cells), tau=_tau(tau, interval, len(common), len(cells)))


def _tau(tau: float | None, interval: Interval | None, tasks: int, routers: int) -> Estimate:
    if interval is not None:
        return Estimate(value=tau, low=interval.low, high=interval.high, tasks=tasks)
    reason = "all routers are equal in one of the two" if tau is None else f"{routers} routers are too few"
    return Estimate(value=tau, tasks=tasks, reason=reason)


def _metric(cell: Cell, metric: str, collected: Collected) -> dict[str, float]:
    """Task -> the routing metric of the cell's own router and pool."""
    suite = cell.facts[0].suite
    variant = dict(cell.variant)
    found: dict[str, float] = {}
    for (of, router, kind), routes in collected.routes.items():
        if of == suite and router == cell.arm.router and dict(kind).items() <= variant.items():
            found |= {t: r.metrics[metric] for t, r in routes.items() if r.metrics.get(metric) is not None}
    return {task: value for task, value in found.items() if value == value}


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
