"""Scores by slice: a property of the task, such as its subset, its domain or its language."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from workbench.metrics.scoring import QueryScore, Summary, mean_defined, summarise

NO_SLICE = "(none)"
"""The slice of a query that has no value."""


def by_slice(queries: Iterable[QueryScore], slices: Mapping[str, str]) -> dict[str, Summary]:
    """Slice -> means over its queries, slices sorted; every query is in exactly one.

    Args:
        slices: task -> its slice.
    """
    parts: dict[str, list[QueryScore]] = {}
    for query in queries:
        parts.setdefault(slices.get(query.query) or NO_SLICE, []).append(query)
    return {name: summarise(parts[name]) for name in sorted(parts)}


def macro(summaries: Mapping[str, Summary]) -> Summary:
    """Means over slices, each slice weighing the same however many queries it has (SkillRep, section 4).

    `count` is the number of queries in all.
    """
    names = list(dict.fromkeys(name for summary in summaries.values() for name in summary.means))
    means = {name: mean_defined(s.means[name] for s in summaries.values()) for name in names}
    return Summary(sum(summary.count for summary in summaries.values()), means)
