"""How `workbench route` shows what it found: within 80 columns, plain when piped."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from workbench.cli._route_result import milliseconds, place

if TYPE_CHECKING:
    from rich.table import Table

    from workbench.cli._route_request import Request
    from workbench.cli._route_result import Comparison, Estimate, Result
    from workbench.metrics.scoring import Summary
    from workbench.skills.pool import Pool

_SHOWN = ("Hit@1", "MRR@10", "Recall@10", "FullCoverage@10", "nDCG@10")


def print_result(result: Result, pool: Pool, request: Request) -> None:
    """One table and the notes below it, within 80 columns, plain when piped."""
    from workbench.core.terminal import console, safe

    out = console()
    name = safe(result.name)
    out.print(
        f"{name}: pool {safe(pool.name)}, {len(pool):,} skills, k {request.k}", markup=False, style="bold"
    )
    out.print(_table(result))
    for title, summaries in (
        ("by the benchmark authors' scorer", result.compat),
        (f"by {request.by}", result.slices),
    ):
        if summaries:
            out.print(f"\n{safe(title)}", markup=False, style="bold")
            out.print(_summaries(summaries))
    for note in _notes(result):
        out.print(safe(note), markup=False)


def _table(result: Result) -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("%, mean [95 % interval]")
    for stratum, count in result.counts.items():
        table.add_column(f"{stratum} (n={count})", no_wrap=True)
    for name in result.table["all"]:
        table.add_row(name, *(_cell(result.table[of][name], count) for of, count in result.counts.items()))
    return table


def _cell(found: Estimate, count: int) -> str:
    """Mean and interval; with its own n where a metric is not defined for all `count` queries."""
    if math.isnan(found.mean):
        return "-"
    bounds = "" if math.isnan(found.low) else f" [{100 * found.low:.0f}, {100 * found.high:.0f}]"
    return f"{100 * found.mean:5.1f}{bounds}{f' n={found.count}' if found.count < count else ''}"


def _notes(result: Result) -> Iterator[str]:
    """What must be known to read the numbers; only what applies."""
    measured, scores = result.measured, result.measured.scores
    speed = milliseconds(result.routed.seconds)
    if speed["median"] is not None:
        yield (
            f"{speed['median']:.1f} ms a query (p95 {speed['p95']:.1f}), "
            f"ready after {result.routed.prepare_seconds:.2f} s"
        )
    if not math.isnan(measured.judged):
        yield f"{100 * measured.judged:.0f} % of the first 10 places are judged; the others count as wrong"
    if measured.beyond:
        yield f"not measured, beyond --k: {', '.join(sorted(measured.beyond, key=place))}"
    yield from _alternatives(result)
    yield from result.about.get("notes", ())
    for what, tasks in (
        ("without a ranking, counted 0", scores.missing),
        ("not counted: none of their gold is in the pool", scores.not_in_pool),
        ("not counted: without gold, or generic", scores.not_counted),
    ):
        if tasks:
            yield f"tasks {what} ({len(tasks)}): {', '.join(tasks[:5])}{', ...' if len(tasks) > 5 else ''}"
    if result.unknown_tasks:
        yield f"rankings for tasks not in the list, ignored: {result.unknown_tasks}"
    if measured.strangers:
        yield f"ranked ids that are not in the pool, counted as wrong: {measured.strangers}"


def _alternatives(result: Result) -> Iterator[str]:
    """Where another reading of the same rankings gives other numbers."""
    from workbench.metrics.scoring import aggregate

    strict = {name: found.mean for name, found in result.table["all"].items()}
    shown = [name for name in ("Hit@1", "Recall@10", "nDCG@10") if name in strict]
    merged = aggregate(result.measured.merged)["all"].means
    if any(abs(merged[name] - strict[name]) > 5e-4 for name in shown):
        values = ", ".join(f"{name} {100 * merged[name]:.1f}" for name in shown)
        yield f"taking skills of equal body for one: {values}"
    bounds = result.measured.bounds
    open_ = [name for name in shown if name in bounds and bounds[name][1] - bounds[name][0] > 5e-4]
    if open_:
        values = ", ".join(
            f"{name} {100 * bounds[name][0]:.1f} to {100 * bounds[name][1]:.1f}" for name in open_
        )
        yield f"equal scores in another order: {values}"


def _summaries(summaries: Mapping[str, Summary]) -> Table:
    """A row per stratum or slice, the leading metrics in columns."""
    from rich.table import Table

    from workbench.core.terminal import safe

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for column in ("%", "n", *_SHOWN):
        table.add_column(column, no_wrap=column != "%", justify="left" if column == "%" else "right")
    for name, summary in summaries.items():
        cells = [_percent(summary.means.get(metric, math.nan)) for metric in _SHOWN]
        table.add_row(safe(name), str(summary.count), *cells)
    return table


def _percent(value: float) -> str:
    return "-" if math.isnan(value) else f"{100 * value:.1f}"


def print_comparison(comparison: Comparison) -> None:
    """Second minus first, in points, for every metric."""
    from rich.table import Table

    from workbench.core.terminal import console, safe

    out = console()
    title = f"\n{safe(comparison.second)} minus {safe(comparison.first)}, query by query"
    out.print(title, markup=False, style="bold")
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for column in ("points [95 % interval]", "", "p", "better", "worse"):
        table.add_column(column, no_wrap=True, justify="right" if column in ("better", "worse") else "left")
    most = max((row.count for row in comparison.rows), default=0)
    for row in comparison.rows:
        if math.isnan(row.mean):
            continue
        bounds = "" if math.isnan(row.low) else f" [{100 * row.low:+.1f}, {100 * row.high:+.1f}]"
        name = row.metric if row.count == most else f"{row.metric} (n={row.count})"
        p = "<0.001" if row.p < 0.001 else f"{row.p:.3f}"
        table.add_row(name, f"{100 * row.mean:+5.1f}{bounds}", p, str(row.better), str(row.worse))
    out.print(table)
