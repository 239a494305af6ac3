"""What `workbench route` found, put together for printing: one result per router or file of predictions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median, quantiles
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workbench.cli._route_request import Request
    from workbench.metrics.scoring import Relevance, Summary
    from workbench.routing.measure import Measured, Routed
    from workbench.skills.pool import Pool

FAMILIES = ("Hit", "MRR", "MAP", "Recall", "FullCoverage", "SetCompat", "nDCG", "Precision")
MACRO = "(macro average)"


@dataclass(frozen=True)
class Estimate:
    """A mean over the `count` queries for which a metric is defined, with its 95 % bootstrap interval.

    The bounds are NaN for fewer than two queries, the mean for none.
    """

    mean: float
    low: float
    high: float
    count: int


@dataclass(frozen=True)
class Result:
    """One router's (or file's) part of the report.

    Attributes:
        table: stratum -> metric -> its estimate.
        counts: stratum -> number of queries.
        slices: slice -> means over its queries, and ``macro`` over slices; empty without ``--by``.
        compat: stratum -> means by the benchmark authors' own scorer; empty unless asked for.
    """

    about: Mapping[str, Any]
    routed: Routed
    measured: Measured
    table: Mapping[str, Mapping[str, Estimate]]
    counts: Mapping[str, int]
    unknown_tasks: int
    slices: Mapping[str, Summary]
    compat: Mapping[str, Summary]

    @classmethod
    def of(
        cls,
        about: Mapping[str, Any],
        routed: Routed,
        tasks: Mapping[str, Relevance],
        pool: Pool,
        request: Request,
    ) -> Result:
        """Score what was given."""
        from workbench.metrics.scoring import aggregate
        from workbench.routing.measure import measure

        measured = measure(routed.rankings, tasks, pool, request.k)
        summaries = aggregate(measured.scores.queries)
        table: dict[str, dict[str, Estimate]] = {}
        for stratum, summary in summaries.items():
            chosen = [q.values for q in measured.scores.queries if stratum in ("all", q.stratum)]
            table[stratum] = {
                name: _estimate(mean, [values[name] for values in chosen], request.seed)
                for name, mean in sorted(summary.means.items(), key=lambda pair: place(pair[0]))
            }
        counts = {stratum: summary.count for stratum, summary in summaries.items()}
        unknown = len(routed.rankings.keys() - tasks.keys())
        slices = _slices(measured, request)
        compat = _compat(about, measured, routed, tasks, pool) if request.scorer_compat else {}
        return cls(about, routed, measured, table, counts, unknown, slices, compat)

    @property
    def name(self) -> str:
        """The router's name, or the file's."""
        return str(self.about.get("router") or self.about.get("predictions"))


def _estimate(mean: float, values: Sequence[float], seed: int) -> Estimate:
    return Estimate(mean, *interval(values, seed), sum(not math.isnan(value) for value in values))


def interval(values: Sequence[float], seed: int) -> tuple[float, float]:
    """A 95 % bootstrap interval of the mean over queries for which it is defined; NaN for fewer than two."""
    from workbench.stats.bootstrap import bootstrap_mean

    defined = [value for value in values if not math.isnan(value)]
    if len(defined) < 2:
        return math.nan, math.nan
    found = bootstrap_mean(defined, seed)
    return found.low, found.high


def _slices(measured: Measured, request: Request) -> dict[str, Summary]:
    from workbench.metrics.slices import by_slice, macro

    if request.by is None:
        return {}
    found = by_slice(measured.scores.queries, request.slices())
    return {**found, MACRO: macro(found)}


def _compat(
    about: Mapping[str, Any],
    measured: Measured,
    routed: Routed,
    tasks: Mapping[str, Relevance],
    pool: Pool,
) -> dict[str, Summary]:
    """By the authors' rules: a file as it stands, however long; of a router what it was asked for."""
    from workbench.metrics.compat import compat_summaries
    from workbench.routing.runs import read_predicted_ids

    known = frozenset(pool.ids())
    if "predictions" in about:
        return compat_summaries(read_predicted_ids(Path(about["predictions"])), tasks, known)
    ids = {task: [entry.id for entry in ranking] for task, ranking in routed.rankings.items()}
    return {
        stratum: replace(
            summary, means={name: mean for name, mean in summary.means.items() if name not in measured.beyond}
        )
        for stratum, summary in compat_summaries(ids, tasks, known).items()
    }


def place(name: str) -> tuple[int, str, int]:
    """Where a metric stands in the table: by family, then by depth."""
    family, _, depth = name.partition("@")
    known = FAMILIES.index(family) if family in FAMILIES else len(FAMILIES)
    return known, family, int(depth) if depth.isdecimal() else 0


def milliseconds(seconds: tuple[float, ...]) -> dict[str, float | None]:
    """Median and 95th percentile over queries."""
    if not seconds:
        return {"median": None, "p95": None}
    high = quantiles(seconds, n=20, method="inclusive")[-1] if len(seconds) > 1 else seconds[0]
    return {"median": 1000 * median(seconds), "p95": 1000 * high}


@dataclass(frozen=True)
class Gain:
    """One metric, second minus first: mean paired difference, its 95 % bootstrap interval over queries,
    the sign-flip p, on how many queries the second is better and worse, and on how many both are defined."""

    metric: str
    mean: float
    low: float
    high: float
    p: float
    better: int
    worse: int
    count: int


@dataclass(frozen=True)
class Comparison:
    """Two rankings on the same queries."""

    first: str
    second: str
    rows: tuple[Gain, ...]


def compared(results: Sequence[Result], seed: int) -> list[Comparison]:
    """Every further result against the first."""
    from workbench.metrics.paired import paired

    found = []
    for other in results[1:]:
        pairs = paired(results[0].measured.scores.queries, other.measured.scores.queries)
        rows = [_gain(name, pairs[name].differences, seed) for name in sorted(pairs, key=place)]
        found.append(Comparison(results[0].name, other.name, tuple(rows)))
    return found


def _gain(metric: str, differences: Sequence[float], seed: int) -> Gain:
    from workbench.metrics.paired import Paired
    from workbench.stats.permutation import sign_flip

    one = Paired(metric, tuple(differences))
    mean = math.fsum(differences) / len(differences) if differences else math.nan
    p = sign_flip(list(differences), seed) if differences else math.nan
    return Gain(metric, mean, *interval(differences, seed), p, one.better, one.worse, len(differences))


def report_json(results: list[Result], request: Request) -> dict[str, Any]:
    """The machine-readable report; what is undefined is null."""
    return {
        "suite": request.suite,
        "qrels": str(request.qrels) if request.qrels else None,
        "queries": str(request.queries) if request.queries else None,
        "k": request.k,
        "seed": request.seed,
        "results": [_result_json(result) for result in results],
        "compared_with_first": [_comparison_json(each) for each in compared(results, request.seed)],
    }


def _result_json(result: Result) -> dict[str, Any]:
    from workbench.metrics.scoring import aggregate

    measured = result.measured
    metrics = {
        stratum: {
            "count": result.counts[stratum],
            **{
                name: {**_numbers(mean=e.mean, low=e.low, high=e.high), "count": e.count}
                for name, e in row.items()
            },
        }
        for stratum, row in result.table.items()
    }
    return {
        **result.about,
        "metrics": metrics,
        "equal_bodies_merged": _numbers(**aggregate(measured.merged)["all"].means),
        "tie_bounds": {name: list(bounds) for name, bounds in measured.bounds.items()},
        "judged@10": _numbers(share=measured.judged)["share"],
        "missing": list(measured.scores.missing),
        "not_in_pool": list(measured.scores.not_in_pool),
        "not_counted": list(measured.scores.not_counted),
        "not_measured": list(measured.beyond),
        "slices": {name: _summary_json(summary) for name, summary in result.slices.items()},
        "scorer_compat": {name: _summary_json(summary) for name, summary in result.compat.items()},
        "unknown_tasks": result.unknown_tasks,
        "ids_outside_pool": measured.strangers,
        "prepare_seconds": result.routed.prepare_seconds if result.routed.seconds else None,
        "query_milliseconds": milliseconds(result.routed.seconds),
    }


def _numbers(**values: float) -> dict[str, float | None]:
    return {name: None if math.isnan(value) else value for name, value in values.items()}


def _summary_json(summary: Summary) -> dict[str, Any]:
    return {"count": summary.count, **_numbers(**summary.means)}


def _comparison_json(comparison: Comparison) -> dict[str, Any]:
    return {
        "first": comparison.first,
        "second": comparison.second,
        "metrics": {row.metric: _gain_json(row) for row in comparison.rows},
    }


def _gain_json(row: Gain) -> dict[str, Any]:
    numbers = _numbers(difference=row.mean, low=row.low, high=row.high, p=row.p)
    return {**numbers, "better": row.better, "worse": row.worse, "count": row.count}
