"""`workbench route --speed` and `--diagnose`: one router looked at closely."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import click

from workbench.core.errors import UsageError
from workbench.core.terminal import console, safe
from workbench.core.types import Progress, silent

if TYPE_CHECKING:
    from rich.table import Table

    from workbench.cli._route_request import Request
    from workbench.core.workspace import Workspace
    from workbench.metrics.scoring import Relevance
    from workbench.routing.load import RecipeRouter
    from workbench.routing.recipe import Recipe
    from workbench.routing.router import Query
    from workbench.routing.speed import Speed
    from workbench.skills.pool import Pool

SCHEMA_VERSION = 1
_METRIC = "MRR@10"
_METRICS = ("MRR@10", "Recall@10", "nDCG@10")
"""What a module's gain is told in; the first is that of the partial correlations, as in the paper."""


def print_study(kind: Literal["speed", "diagnosis"], **options: Any) -> None:
    """Open the pool, study every router asked for, and print a table or one JSON object."""
    from workbench.cli._route_request import Request
    from workbench.core.workspace import find_workspace
    from workbench.skills.progress import shown_progress

    if options["routers"] is None:
        raise UsageError("--router is needed here; see: workbench route --help")
    workspace = find_workspace()
    request = Request.of(workspace, **options)
    request.check_recipes(workspace)
    with shown_progress() as progress, request.open_pool(workspace, progress) as pool:
        queries, tasks = request.tasks(pool, workspace)
        bench = Bench(workspace, request, pool, queries, tasks, progress)
        if kind == "diagnosis":
            request.require_gold(tasks, pool)
        study = _speed if kind == "speed" else _diagnosis
        found = {name: study(name, bench) for name in request.names}
    if request.as_json:
        plain = {name: report for name, (report, _) in found.items()}
        click.echo(json.dumps({"schema_version": SCHEMA_VERSION, kind: plain}, indent=2))
        return
    for name, (_, show) in found.items():
        console().print(f"\n{safe(name)}", markup=False, style="bold")
        show()


Study = tuple[dict[str, Any], Callable[[], None]]
"""What was found, for JSON; and how it is shown."""


@dataclass(frozen=True)
class Bench:
    """What every study works with: queries and their relevance, a pool, and who is told how it goes."""

    workspace: Workspace
    request: Request
    pool: Pool
    queries: list[Query]
    tasks: Mapping[str, Relevance]
    progress: Progress

    def recipe(self, name: str) -> Recipe:
        """A router's recipe."""
        from workbench.routing.recipe import load_recipe

        return load_recipe(self.workspace.find("routers", name))

    def maker(self, recipe: Recipe) -> Callable[[Workspace], RecipeRouter]:
        """Makes the router of a recipe, in the workspace (and so the cache) that it is given."""
        from workbench.models.completion import Completer
        from workbench.routing.load import RecipeRouter
        from workbench.routing.stage import RouteContext

        def make(workspace: Workspace) -> RecipeRouter:
            complete = Completer(workspace.cache, self.request.llm, self.request.llm_base_url)
            context = RouteContext(
                self.pool, workspace.cache, self.request.seed, self.progress, complete=complete
            )
            return RecipeRouter(recipe, context)

        return make


def _speed(name: str, bench: Bench) -> Study:
    from workbench.routing.speed import measure_speed

    make = replace(bench, progress=silent).maker(bench.recipe(name))  # drawing takes time as well
    found = measure_speed(make, bench.workspace, bench.queries, bench.request.k)
    return asdict(found), lambda: _show_speed(found, len(bench.pool), len(bench.queries))


def _show_speed(speed: Speed, skills: int, queries: int) -> None:
    table = _table("stage, one query at a time", "median ms", "p95 ms")
    for stage in speed.stages:
        table.add_row(safe(stage.method), f"{stage.median:.2f}", f"{stage.p95:.2f}")
    console().print(table)
    size = f"{skills:,} skills, index {speed.index_bytes / 1e6:.1f} MB"
    rates = f"{speed.single_per_second:.1f} queries/s one at a time, {speed.batched_per_second:.1f}"
    for line in (
        f"cold: ready after {speed.build_seconds:.2f} s, {size}",
        f"warm: ready after {speed.open_seconds:.2f} s, first query {speed.first_milliseconds:.1f} ms",
        f"{rates} in one batch of {queries}",
    ):
        console().print(line, markup=False)


def _diagnosis(name: str, bench: Bench) -> Study:
    from workbench.routing.ablation import anatomy, variants
    from workbench.routing.diagnose import MEASURES, Diagnosis, correlations

    parts = anatomy(bench.recipe(name))
    recipes = variants(parts)
    routers = {label: bench.maker(recipe)(bench.workspace) for label, recipe in recipes.items()}
    bench.progress(f"{name}: measuring the gap", 0, len(routers) + 1)
    gaps = Diagnosis(routers["encoder"], bench.pool, bench.queries).measure(bench.tasks)
    scores = {}
    for done, (label, router) in enumerate(routers.items(), start=1):
        bench.progress(f"{name}: routing, {label}", done, len(routers) + 1)
        scores[label] = _scores(router, bench)
    values = {label: scored[_METRIC] for label, scored in scores.items()}
    known = [gap for gap in gaps if gap.query in values["encoder"]]
    report = {
        "queries": len(known),
        "measures": {gap.query: {m: _plain(gap.values[m]) for m in MEASURES} for gap in known},
        "means": {m: _plain(_mean([gap.values[m] for gap in known])) for m in MEASURES},
        "scores": {
            label: {metric: _plain(_mean(list(scored[metric].values()))) for metric in _METRICS}
            for label, scored in scores.items()
        },
        "gains": {metric: _gains(scores, parts.modules, metric, bench.request.seed) for metric in _METRICS},
        "partial_correlations": {
            m: {
                key: _plain(value)
                for key, value in correlations(known, values["encoder"], values[f"{m} alone"]).items()
            }
            for m in parts.modules
        },
    }
    return report, lambda: _show_diagnosis(report)


_Scores = Mapping[str, Mapping[str, float]]
"""Metric -> query -> value, for the queries that count."""


def _scores(router: RecipeRouter, bench: Bench) -> _Scores:
    from workbench.metrics.scoring import score_run

    queries = bench.queries
    rankings = dict(zip([q.id for q in queries], router.route(queries, 10), strict=True))
    ids = {task: [entry.id for entry in ranking] for task, ranking in rankings.items()}
    scores = score_run(ids, {q.id: bench.tasks[q.id] for q in queries}, frozenset(bench.pool.ids()))
    return {metric: {score.query: score.values[metric] for score in scores.queries} for metric in _METRICS}


def _gains(
    scores: Mapping[str, _Scores], modules: Sequence[str], metric: str, seed: int
) -> dict[str, dict[str, dict[str, float | None]]]:
    """Module -> what it adds ``alone`` to the bare encoder, and ``last``, to all others."""
    from workbench.cli._route_result import interval

    def gain(before: str, after: str) -> dict[str, float | None]:
        pairs = scores[before][metric], scores[after][metric]
        differences = [pairs[1][query] - value for query, value in pairs[0].items()]
        low, high = interval(differences, seed)
        return {"difference": _plain(_mean(differences)), "low": _plain(low), "high": _plain(high)}

    return {m: {"alone": gain("encoder", f"{m} alone"), "last": gain(f"{m} last", "whole")} for m in modules}


def _show_diagnosis(report: Mapping[str, Any]) -> None:
    names = list(report["means"])
    shown = ("lexical", "semantic", "soft", "B_D gap", "B_Q gap", "dilution")
    table = _table(f"{report['queries']} queries", *shown)
    table.add_row("mean", *(_number(report["means"][name], "{:.3f}") for name in names))
    for module, row in report["partial_correlations"].items():
        table.add_row(safe(f"rho of {module}"), *(_number(row[name], "{:+.2f}") for name in names))
    console().print(table)
    for metric, gains in report["gains"].items():
        shown_gains = _table(f"{metric} x 100 [95 % interval]", "alone", "last")
        ends = [_number(report["scores"][label][metric], "{:.1f}", 100) for label in ("encoder", "whole")]
        shown_gains.add_row("encoder", ends[0], "")
        for module, gain in gains.items():
            shown_gains.add_row(safe(module), _gained(gain["alone"]), _gained(gain["last"]))
        shown_gains.add_row("whole", "", ends[1])
        console().print(shown_gains)


def _gained(gain: Mapping[str, float | None]) -> str:
    """A gain in points, with its paired interval."""
    mean, low, high = (_number(gain[name], "{:+.1f}", 100) for name in ("difference", "low", "high"))
    return mean if low == "-" else f"{mean} [{low}, {high}]"


def _table(first: str, *others: str) -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(first)
    for title in others:
        table.add_column(title, justify="right", no_wrap=True)
    return table


def _number(value: float | None, form: str, times: float = 1) -> str:
    return "-" if value is None else form.format(times * value)


def _plain(value: float) -> float | None:
    return None if math.isnan(value) else value


def _mean(values: list[float]) -> float:
    defined = [value for value in values if not math.isnan(value)]
    return sum(defined) / len(defined) if defined else math.nan
