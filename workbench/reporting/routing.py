"""Routing alone, from the same logs: each task once per router and pool."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Literal

from workbench.reporting.facts import Collected, Fact, Route, Variant
from workbench.reporting.schema import RoutingSummary, Stratum

StratumName = Literal["all", "single", "multi"]
_STRATA: tuple[StratumName, ...] = ("all", "single", "multi")


def routing_summaries(collected: Collected) -> tuple[RoutingSummary, ...]:
    """One summary per suite, router and variant, in that order."""
    return tuple(_summary(key, routes, collected.facts) for key, routes in sorted(collected.routes.items()))


def _summary(
    key: tuple[str, str, Variant], routes: Mapping[str, Route], facts: Iterable[Fact]
) -> RoutingSummary:
    suite, router, variant = key
    planned = {fact.task for fact in facts if fact.suite == suite and fact.arm.router == router}
    times = [route.seconds for route in routes.values() if route.seconds is not None]
    return RoutingSummary(
        suite=suite,
        router=router,
        variant=dict(variant),
        planned=len(planned),
        routed=len(routes),
        not_in_pool=tuple(sorted(task for task, route in routes.items() if _hopeless(route))),
        seconds=math.fsum(times) / len(times) if times else None,
        strata=(*(_stratum(name, routes) for name in _STRATA), *_subsets(routes)),
        pool_size=next((route.pool_size for route in routes.values()), None),
    )


def _subsets(routes: Mapping[str, Route]) -> Iterable[Stratum]:
    """Each subset of a suite that has some, and their unweighted mean."""
    names = sorted({route.subset for route in routes.values()} - {""})
    if len(names) < 2:
        return
    parts = [_means(name, [r for r in routes.values() if r.metrics and r.subset == name]) for name in names]
    yield from parts
    defined = {metric for part in parts for metric in part.metrics}
    found = {m: [part.metrics[m] for part in parts if m in part.metrics] for m in sorted(defined)}
    metrics = {metric: math.fsum(values) / len(values) for metric, values in found.items()}
    yield Stratum(name="macro", tasks=sum(part.tasks for part in parts), metrics=metrics)


def _hopeless(route: Route) -> bool:
    """Whether no router could have found anything. Such tasks have no routing metrics."""
    return route.gold > 0 and route.gold_in_pool == 0


def _stratum(name: StratumName, routes: Mapping[str, Route]) -> Stratum:
    """A task is single or multi by its gold before it is intersected with the pool."""
    chosen = [
        route
        for route in routes.values()
        if route.metrics and (name == "all" or (name == "single") == (route.gold == 1))
    ]
    return _means(name, chosen)


def _means(name: str, chosen: list[Route]) -> Stratum:
    values: dict[str, list[float]] = {}
    for route in chosen:
        for metric, value in route.metrics.items():
            if not math.isnan(value):
                values.setdefault(metric, []).append(value)
    means = {metric: math.fsum(found) / len(found) for metric, found in values.items()}
    return Stratum(name=name, tasks=len(chosen), metrics=means)
