"""`workbench route`: how good and how fast is a router, without any agent?"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median, quantiles
from typing import TYPE_CHECKING, Any

import click

from workbench.core.errors import UsageError

if TYPE_CHECKING:
    from rich.table import Table

    from workbench.core.types import Ranking
    from workbench.core.workspace import Workspace
    from workbench.metrics.scoring import Relevance
    from workbench.routing.measure import Measured, Routed
    from workbench.routing.router import Query
    from workbench.skills.pool import Pool

SCHEMA_VERSION = 1
_FILE = click.Path(path_type=Path, dir_okay=False)
_FAMILIES = ("Hit", "MRR", "Recall", "FullCoverage", "nDCG", "Precision")
_PLACE = "{router}"


@click.command()
@click.option("--router", "routers", metavar="NAME[,NAME...]", help="Recipes in routers/.")
@click.option("--predictions", type=_FILE, help="Score this file (JSON or TREC run) instead of routing.")
@click.option("--pool", required=True, metavar="NAME|PATH", help="Skills to choose from.")
@click.option("--queries", type=_FILE, help="JSON Lines with task_id and instruction_text.")
@click.option("--qrels", required=True, type=_FILE, help="SkillRouter's relevance.json, or TREC qrels.")
@click.option("--k", default=50, show_default=True, type=click.IntRange(min=1), help="Length of rankings.")
@click.option("--seed", default=0, show_default=True, help="Of drawn routers and of the intervals.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--save-run", type=_FILE, help="Write the rankings as a TREC run.")
@click.option("--save-predictions", type=_FILE, help="Write the rankings as SkillRouter predictions.")
def command(**options: Any) -> None:
    """Score routers on queries with known relevance: quality, and time per query.

    Queries, relevance and pools are read as the SkillRouter benchmark ships them (a pool may be a
    folder of .jsonl.gz shards). Tasks set the denominators: a task without a ranking counts 0.
    With several routers, put {router} into the names of the files to save.
    """
    from workbench.core.workspace import find_workspace
    from workbench.skills.opening import open_pool
    from workbench.skills.progress import shown_progress

    request = _Request(**options)
    workspace = find_workspace()
    request.check_recipes(workspace)
    queries, tasks = request.tasks()
    with shown_progress() as progress, open_pool(request.pool, workspace, progress=progress) as pool:
        results = [
            _Result.of(name, routed, tasks, pool, request)
            for name, routed in request.rankings(pool, queries, workspace, progress)
        ]
        about = {"pool": pool.name, "pool_fingerprint": pool.fingerprint, "pool_size": len(pool)}
    if request.as_json:
        click.echo(
            json.dumps({"schema_version": SCHEMA_VERSION, **about, **_json(results, request)}, indent=2)
        )
        return
    for result in results:
        _print(result, pool, request)


@dataclass(frozen=True)
class _Request:
    """The options of the command, checked together."""

    routers: str | None
    predictions: Path | None
    pool: str
    queries: Path | None
    qrels: Path
    k: int
    seed: int
    as_json: bool
    save_run: Path | None
    save_predictions: Path | None

    def __post_init__(self) -> None:
        if (self.routers is None) == (self.predictions is None):
            raise UsageError("give either --router NAME or --predictions FILE")
        if self.routers is not None and self.queries is None:
            raise UsageError("--router needs --queries FILE, a .jsonl with task_id and instruction_text")
        for path in (self.save_run, self.save_predictions):
            if path and len(self.names) > 1 and _PLACE not in path.name:
                raise UsageError(f"{path}: with several routers put {_PLACE} into the file's name")

    @property
    def names(self) -> list[str]:
        """The routers asked for, each once, in order."""
        return list(dict.fromkeys(name.strip() for name in (self.routers or "").split(",") if name.strip()))

    def check_recipes(self, workspace: Workspace) -> None:
        """Read every recipe now: a typing error must not cost the building of a pool."""
        from workbench.routing.recipe import load_recipe

        for name in self.names:
            load_recipe(workspace.find("routers", name))

    def tasks(self) -> tuple[list[Query], dict[str, Relevance]]:
        """The queries with their gold, and the relevance of each task in the list."""
        from workbench.metrics.scoring import Relevance
        from workbench.routing.runs import read_queries, read_relevance

        relevance = read_relevance(self.qrels)
        if self.queries is None:
            return [], relevance
        queries = read_queries(self.queries)
        tasks = {query.id: relevance.get(query.id, Relevance(())) for query in queries}
        return [replace(query, gold=tasks[query.id].gold) for query in queries], tasks

    def rankings(
        self, pool: Pool, queries: list[Query], workspace: Workspace, progress: Any
    ) -> Iterator[tuple[dict[str, Any], Routed]]:
        """What each router gave, or what the file holds, with a description of where it is from."""
        from workbench.routing.load import load_router
        from workbench.routing.measure import Routed, route_all
        from workbench.routing.runs import read_rankings

        if self.predictions is not None:
            rankings = {task: ranking[: self.k] for task, ranking in read_rankings(self.predictions).items()}
            yield {"predictions": str(self.predictions)}, Routed(rankings, (), 0.0)
        loaded = [
            load_router(name, pool, workspace, seed=self.seed, progress=progress) for name in self.names
        ]
        for router in loaded:
            routed = route_all(router, queries, self.k, progress)
            about = {"fingerprint": router.fingerprint, "index_fingerprint": router.index_fingerprint}
            yield {"router": router.name, **about}, routed
            self._save(router.name, routed.rankings)

    def _save(self, name: str, rankings: Mapping[str, Ranking]) -> None:
        from workbench.routing.runs import write_predictions, write_run

        if self.save_run:
            write_run(_named(self.save_run, name), rankings, tag=name)
        if self.save_predictions:
            write_predictions(_named(self.save_predictions, name), rankings)


@dataclass(frozen=True)
class _Result:
    """One router's (or file's) part of the report.

    Attributes:
        table: stratum -> metric -> (mean, low, high); the bounds are NaN for fewer than two queries.
        counts: stratum -> number of queries.
    """

    about: Mapping[str, Any]
    routed: Routed
    measured: Measured
    table: Mapping[str, Mapping[str, tuple[float, float, float]]]
    counts: Mapping[str, int]
    unknown_tasks: int

    @classmethod
    def of(
        cls,
        about: Mapping[str, Any],
        routed: Routed,
        tasks: Mapping[str, Relevance],
        pool: Pool,
        request: _Request,
    ) -> _Result:
        """Score what was given."""
        from workbench.metrics.scoring import aggregate
        from workbench.routing.measure import measure

        measured = measure(routed.rankings, tasks, pool)
        summaries = aggregate(measured.scores.queries)
        table: dict[str, dict[str, tuple[float, float, float]]] = {}
        for stratum, summary in summaries.items():
            chosen = [q.values for q in measured.scores.queries if stratum in ("all", q.stratum)]
            table[stratum] = {
                name: (mean, *_interval([values[name] for values in chosen], request.seed))
                for name, mean in sorted(summary.means.items(), key=lambda pair: _place(pair[0]))
            }
        counts = {stratum: summary.count for stratum, summary in summaries.items()}
        return cls(about, routed, measured, table, counts, len(routed.rankings.keys() - tasks.keys()))


def _interval(values: list[float], seed: int) -> tuple[float, float]:
    """A 95 % bootstrap interval over queries; NaN for fewer than two."""
    from workbench.stats.bootstrap import bootstrap_mean

    if len(values) < 2:
        return math.nan, math.nan
    interval = bootstrap_mean(values, seed)
    return interval.low, interval.high


def _place(name: str) -> tuple[int, str, int]:
    """Where a metric stands in the table: by family, then by depth."""
    family, _, depth = name.partition("@")
    known = _FAMILIES.index(family) if family in _FAMILIES else len(_FAMILIES)
    return known, family, int(depth) if depth.isdecimal() else 0


def _named(path: Path, router: str) -> Path:
    return path.with_name(path.name.replace(_PLACE, router))


def _milliseconds(seconds: tuple[float, ...]) -> dict[str, float | None]:
    """Median and 95th percentile over queries."""
    if not seconds:
        return {"median": None, "p95": None}
    high = quantiles(seconds, n=20, method="inclusive")[-1] if len(seconds) > 1 else seconds[0]
    return {"median": 1000 * median(seconds), "p95": 1000 * high}


def _json(results: list[_Result], request: _Request) -> dict[str, Any]:
    """The machine-readable report; what is undefined is null."""
    return {
        "qrels": str(request.qrels),
        "queries": str(request.queries) if request.queries else None,
        "k": request.k,
        "seed": request.seed,
        "results": [_result_json(result) for result in results],
    }


def _result_json(result: _Result) -> dict[str, Any]:
    from workbench.metrics.scoring import aggregate

    measured = result.measured
    metrics = {
        stratum: {
            "count": result.counts[stratum],
            **{name: _numbers(mean=mean, low=low, high=high) for name, (mean, low, high) in row.items()},
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
        "unknown_tasks": result.unknown_tasks,
        "ids_outside_pool": measured.strangers,
        "prepare_seconds": result.routed.prepare_seconds if result.routed.seconds else None,
        "query_milliseconds": _milliseconds(result.routed.seconds),
    }


def _numbers(**values: float) -> dict[str, float | None]:
    return {name: None if math.isnan(value) else value for name, value in values.items()}


def _print(result: _Result, pool: Pool, request: _Request) -> None:
    """One table and the notes below it, within 80 columns, plain when piped."""
    from workbench.core.terminal import console, safe

    out = console()
    name = safe(str(result.about.get("router") or request.predictions))
    out.print(
        f"\n{name}: pool {safe(pool.name)}, {len(pool):,} skills, k {request.k}", markup=False, style="bold"
    )
    out.print(_table(result))
    for note in _notes(result):
        out.print(safe(note), markup=False)


def _table(result: _Result) -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("%, mean [95 % interval]")
    for stratum, count in result.counts.items():
        table.add_column(f"{stratum} (n={count})", no_wrap=True)
    for name in result.table["all"]:
        table.add_row(name, *(_cell(*result.table[stratum][name]) for stratum in result.counts))
    return table


def _cell(mean: float, low: float, high: float) -> str:
    if math.isnan(mean):
        return "-"
    return (
        f"{100 * mean:5.1f}" if math.isnan(low) else f"{100 * mean:5.1f} [{100 * low:.0f}, {100 * high:.0f}]"
    )


def _notes(result: _Result) -> Iterator[str]:
    """What must be known to read the numbers; only what applies."""
    measured, scores = result.measured, result.measured.scores
    speed = _milliseconds(result.routed.seconds)
    if speed["median"] is not None:
        yield (
            f"{speed['median']:.1f} ms a query (p95 {speed['p95']:.1f}), "
            f"ready after {result.routed.prepare_seconds:.2f} s"
        )
    if not math.isnan(measured.judged):
        yield f"{100 * measured.judged:.0f} % of the first 10 places are judged; the others count as wrong"
    yield from _alternatives(result)
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


def _alternatives(result: _Result) -> Iterator[str]:
    """Where another reading of the same rankings gives other numbers."""
    from workbench.metrics.scoring import aggregate

    strict = {name: mean for name, (mean, _, _) in result.table["all"].items()}
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
