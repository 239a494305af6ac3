"""``workbench sweep``: models x routers x settings x trials, resumable, nothing run twice."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from workbench.cli._numbers import Whole
from workbench.core.errors import UsageError
from workbench.core.terminal import console, safe

if TYPE_CHECKING:
    from workbench.cli._sweep_ledger import Cell, Progress
    from workbench.cli._sweep_run import Prepared
    from workbench.cli._sweep_spec import SweepSpec
    from workbench.reporting.schema import Summary

INCOMPLETE = 4
_FILE = click.Path(path_type=Path, dir_okay=False)


class _Sweep(click.Group):
    """``workbench sweep SPEC.yaml`` is ``workbench sweep run SPEC.yaml``."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        known = args and (args[0] in self.commands or args[0] in ctx.help_option_names)
        return super().resolve_command(ctx, args if known else ["run", *args])

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0].startswith("-") and args[0] not in ctx.help_option_names:
            args = ["run", *args]
        return super().parse_args(ctx, args)


@click.group("sweep", cls=_Sweep, short_help="Run a whole comparison: models x routers x k x trials.")
def command() -> None:
    """Run models x agents x routers x k x pools x disclosures, each task several times.

    \b
    workbench sweep SPEC.yaml            run, or go on where it stopped
    workbench sweep SPEC.yaml --dry-run  what it would run and cost
    workbench sweep status DIR           how far it is
    workbench sweep --suite quickstart --routers bm25,random --trials 5

    \b
    A spec:
      suite: quickstart
      models: [litellm/openai/gpt-5.1, litellm/anthropic/claude-sonnet-4-5]
      routers: [bm25, random]
      k: [1, 5]
      trials: 5
      exclude: [{router: random, k: 1}]

    Baselines run once per model and agent and serve all routers. A finished trial never runs again;
    a router or model added to the spec runs alone. Further keys: agents, pools, disclosure,
    conditions, tasks, data, seed, limits {messages, tokens, seconds, cost_usd}, generate
    {temperature, ...}, model_base_url, model_args.
    """


@command.command("run", short_help="Run a sweep, or go on with it (the default).")
@click.argument("spec", type=click.Path(path_type=Path), required=False, metavar="[SPEC.yaml]")
@click.option("--suite", metavar="NAME", help="Instead of a spec: the suite, and the options below.")
@click.option("--models", metavar="NAME[,NAME...]", help="As for inspect's --model.")
@click.option("--agents", metavar="NAME[,NAME...]", help="As for inspect's --solver.")
@click.option("--routers", metavar="NAME[,NAME...]", help="Recipes in routers/.")
@click.option("--k", metavar="N[,N...]", help="Skills given to the agent.")
@click.option("--pools", metavar="NAME[,NAME...]", help="Pools to route in.")
@click.option("--trials", metavar="N", help="Trials of every task in every cell.")
@click.option("--out", type=click.Path(path_type=Path), metavar="DIR", help="Default: results/<spec's name>.")
@click.option("--dry-run", is_flag=True, help="Say what would run and cost; run nothing.")
@click.option("--pilot", type=click.Path(path_type=Path), metavar="RUN", help="Logs to estimate cost from.")
@click.option("--max-samples", type=Whole(1), help="Trials at once in one job.")
@click.option("--max-tasks", type=Whole(1), help="Jobs at once.")
@click.option("--html", type=_FILE, metavar="FILE", help="Write the report as a page at the end.")
def run_command(
    spec: Path | None,
    out: Path | None,
    dry_run: bool,
    pilot: Path | None,
    max_samples: int | None,
    max_tasks: int | None,
    html: Path | None,
    **flags: str | None,
) -> int:
    """Run SPEC.yaml, or what --suite and its options say. Interrupt it at will; the same command goes on.

    Exit codes: 0 complete; 1 the spec is wrong; 3 the machine lacks something; 4 trials are
    incomplete or excluded beyond what a report may bear; 130 interrupted.
    """
    from workbench.cli._sweep_fence import sole_owner
    from workbench.cli._sweep_run import Bounds, planned, prepare
    from workbench.cli._sweep_spec import expand, read_spec
    from workbench.core.workspace import find_workspace
    from workbench.evaluation.runs import writable

    wanted, source, name = read_spec(spec, flags)
    jobs = expand(wanted)
    if not jobs:
        raise UsageError(f"{name}: nothing to run; every cell is excluded, or there is no router")
    folder = out or find_workspace().results / name
    prepared = prepare(wanted, jobs)
    cells = planned(prepared, wanted.trials)
    if dry_run:
        _forecast(cells, folder, pilot)
        return 0
    with sole_owner(writable(folder)):
        complete = _run(wanted, source, prepared, cells, folder, Bounds(max_samples, max_tasks))
    return _finish(folder, complete, html)


@command.command("status", short_help="How far a sweep is.")
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False), metavar="DIR")
def status_command(folder: Path) -> int:
    """Say how far the sweep in DIR is, also while it runs. Exit codes: 0 complete, 4 not."""
    from workbench.cli._sweep_fence import LEDGER
    from workbench.cli._sweep_ledger import repeated
    from workbench.cli._sweep_view import standing
    from workbench.reporting.wording import plural

    out = console()
    cells = _standing(folder)
    out.print(standing(cells, out.width))
    left = sum(count.planned - count.scored for count in cells.values())
    twice = repeated(folder / LEDGER)
    out.print(f"{plural(left, 'trial')} not scored; {plural(twice, 'scored trial')} run twice", style="dim")
    return INCOMPLETE if left or not cells else 0


def _run(
    spec: SweepSpec,
    source: str,
    prepared: list[Prepared],
    cells: dict[Cell, Progress],
    folder: Path,
    bounds: Any,
) -> bool:
    from workbench.cli import _sweep_run, _sweep_view
    from workbench.cli._sweep_fence import LEDGER, SPEC, set_aside_stale, tidy
    from workbench.cli._sweep_ledger import Ledger
    from workbench.cli._sweep_lock import lock_of, write_lock
    from workbench.core.atomic import write_text

    out = console()
    stale = set_aside_stale(folder, _sweep_run.identities(prepared, spec))
    if aside := [*stale.moved, *tidy(folder).moved]:
        out.print(_sweep_view.moved(aside))
    changed = write_lock(folder, lock_of(spec, prepared))
    if changed:
        out.print(f"! changed since the last start, so run again: {safe(', '.join(changed))}", style="yellow")
    write_text(folder / SPEC, source)
    _count_done(cells, folder)
    ledger = Ledger(folder / LEDGER, cells)
    _sweep_run.Watch.ledger = ledger
    try:
        return _sweep_run.run(spec, prepared, folder, bounds, _sweep_view.watching(ledger, out))
    except KeyboardInterrupt:
        out.print(f"{_sweep_view.Board(ledger, out.width).line()}; the same command goes on")
        raise
    finally:
        _sweep_run.Watch.ledger = None


def _finish(folder: Path, complete: bool, html: Path | None) -> int:
    from workbench.core.atomic import write_text
    from workbench.reporting.announce import print_summary, summary_of
    from workbench.reporting.find import find_logs
    from workbench.reporting.report import Canvas, load_report

    sound = print_summary([folder], console())
    if html is not None:
        page = load_report("html").render(summary_of(find_logs([folder])), Canvas())
        write_text(html, page)
        console(stderr=True).print(f"wrote {safe(str(html))}")
    return 0 if complete and sound else INCOMPLETE


def _forecast(cells: dict[Cell, Progress], folder: Path, pilot: Path | None) -> None:
    from workbench.cli._sweep_view import forecast, prices

    _count_done(cells, folder)
    summary, turns = _pilot(pilot or folder)
    out = console()
    out.print(forecast(cells, prices(summary, turns), out.width))
    out.print(f"in {safe(str(folder))}; nothing was run", style="dim")


def _pilot(folder: Path) -> tuple[Summary | None, dict[Cell, float]]:
    """Logs summed up, and mean turns by (model, agent, arm)."""
    from workbench.reporting.announce import summary_of
    from workbench.reporting.find import find_logs
    from workbench.reporting.table import TrialTable

    if not folder.exists() or not any(folder.glob("*.eval") if folder.is_dir() else [folder]):
        return None, {}
    table = TrialTable()
    summary = summary_of(find_logs([folder]), table)
    turns: dict[Cell, list[int]] = {}
    for row in table.rows:
        if row.get("turns") is not None:
            cell = (row["model"], row["agent"], row["router"] or row["condition"])
            turns.setdefault(cell, []).append(row["turns"])
    return summary, {cell: sum(found) / len(found) for cell, found in turns.items()}


def _count_done(cells: dict[Cell, Progress], folder: Path) -> None:
    """Count scored trials of earlier starts, so that a view begins where the last one ended."""
    for cell, count in _standing(folder).items():
        if cell in cells:
            cells[cell].scored, cells[cell].reward = count.scored, count.reward
            cells[cell].cost = count.cost


def _standing(folder: Path) -> dict[Cell, Progress]:
    """What the logs say, by cell: every planned trial once."""
    from workbench.cli._sweep_ledger import Progress
    from workbench.cli._sweep_run import arm_of
    from workbench.reporting.logfile import read_header
    from workbench.reporting.read import Notes, read_trials

    logs = sorted(folder.glob("*.eval")) if folder.is_dir() else []
    cells: dict[Cell, Progress] = {}
    headers: dict[Path, Any] = {}
    for trial in read_trials(logs, Notes()):
        header = headers.setdefault(trial.log, None) or read_header(trial.log)
        headers[trial.log] = header
        agent = (header.eval.solver or "auto").removeprefix("workbench/")
        cell = (header.eval.model, agent, arm_of(trial.sample_id, header.eval.task_args_passed or {}))
        count = cells.setdefault(cell, Progress())
        count.planned += 1
        if trial.status == "scored" and trial.record is not None:
            count.scored += 1
            count.reward += trial.record.outcome.reward or 0.0
            if trial.record.spend.cost_usd is not None:
                count.cost = (count.cost or 0.0) + trial.record.spend.cost_usd
        elif trial.status == "excluded":
            count.excluded += 1
    return cells
