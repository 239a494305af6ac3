"""Routing alone, from the same logs: each task once per router and pool."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from workbench.reporting.estimates import average, estimate, macro
from workbench.reporting.facts import Collected, Fact, Route, Variant
from workbench.reporting.numbers import Estimate
from workbench.reporting.schema import RoutingSummary, Stratum

StratumName = Literal["all", "single", "multi"]
_STRATA: tuple[StratumName, ...] = ("all", "single", "multi")


def telling(depths: Iterable[int]) -> tuple[str, ...]:
    """The metrics to show first: what was given, at each of its depths, and how good the order is."""
    given = sorted(set(depths))
    recall, coverage = (tuple(f"{name}@{k}" for k in given) for name in ("Recall", "FullCoverage"))
    return ("Hit@1", "MRR@10", *recall, *coverage, "nDCG@10")


def told(found: Iterable[RoutingSummary]) -> tuple[str, ...]:
    """Those of the `telling` metrics that the summaries have; JSON, CSV and the page have the others too."""
    listed = list(found)
    known = {metric for summary in listed for stratum in summary.strata for metric in stratum.metrics}
    return tuple(m for m in telling(k for summary in listed for k in summary.depths) if m in known)


def routing_summaries(collected: Collected, level: float) -> tuple[RoutingSummary, ...]:
    """One summary per suite, router and variant, in that order."""
    return tuple(
        _summary(key, routes, collected.facts, level) for key, routes in sorted(collected.routes.items())
    )


def _summary(
    key: tuple[str, str, Variant], routes: Mapping[str, Route], facts: Iterable[Fact], level: float
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
        depths=tuple(sorted(set().union(*(route.depths for route in routes.values())))),
        seconds=average(times, level, "not timed"),
        strata=(*(_stratum(name, routes, level) for name in _STRATA), *_subsets(routes, level)),
        pool_size=next((route.pool_size for route in routes.values()), None),
    )


def _subsets(routes: Mapping[str, Route], level: float) -> Iterable[Stratum]:
    """Each subset of a suite that has some, and their unweighted mean."""
    names = sorted({route.subset for route in routes.values()} - {""})
    if len(names) < 2:
        return
    parts = [_values([r for r in routes.values() if r.metrics and r.subset == name]) for name in names]
    sizes = [sum(bool(r.metrics) and r.subset == name for r in routes.values()) for name in names]
    for name, size, part in zip(names, sizes, parts, strict=True):
        yield Stratum(name=name, tasks=size, metrics=_means(part, level))
    defined = sorted({metric for part in parts for metric in part})
    means = {metric: _macro([part[metric] for part in parts if metric in part], level) for metric in defined}
    yield Stratum(name="macro", tasks=sum(sizes), metrics=means)


def _macro(strata: Sequence[Sequence[float]], level: float) -> Estimate:
    """Subsets for which the metric is defined; a single one is its own mean."""
    tasks = [[[value] for value in found] for found in strata]
    return macro(tasks, level) or estimate(tasks[0], level, "")


def _hopeless(route: Route) -> bool:
    """Whether no router could have found anything. Such tasks have no routing metrics."""
    return route.gold > 0 and route.gold_in_pool == 0


def _stratum(name: StratumName, routes: Mapping[str, Route], level: float) -> Stratum:
    """A task is single or multi by its gold before it is intersected with the pool."""
    chosen = [
        route
        for route in routes.values()
        if route.metrics and (name == "all" or (name == "single") == (route.gold == 1))
    ]
    return Stratum(name=name, tasks=len(chosen), metrics=_means(_values(chosen), level))


def _values(chosen: Iterable[Route]) -> dict[str, list[float]]:
    """Metric -> its values over the tasks for which it is defined."""
    values: dict[str, list[float]] = {}
    for route in chosen:
        for metric, value in route.metrics.items():
            if not math.isnan(value):
                values.setdefault(metric, []).append(value)
    return values


def _means(values: Mapping[str, Sequence[float]], level: float) -> dict[str, Estimate]:
    return {metric: estimate([[value] for value in found], level, "") for metric, found in values.items()}
