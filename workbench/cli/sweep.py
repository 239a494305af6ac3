"""``workbench sweep``: models x routers x settings x trials, resumable, nothing run twice."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from workbench.cli._numbers import Whole
from workbench.core.errors import MachineError, UsageError, suggestion
from workbench.core.terminal import console, filled, print_table, safe

if TYPE_CHECKING:
    from workbench.cli._sweep_lock import Lock
    from workbench.cli._sweep_run import Prepared
    from workbench.cli._sweep_spec import SweepSpec
    from workbench.cli._sweep_tally import Tally

INCOMPLETE = 4
_FILE = click.Path(path_type=Path, dir_okay=False)


class _Sweep(click.Group):
    """``workbench sweep SPEC.yaml`` is ``workbench sweep run SPEC.yaml``."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        known = args and (args[0] in self.commands or args[0] in ctx.help_option_names)
        if args and not known and not Path(args[0]).suffix and not Path(args[0]).exists():
            near = suggestion(args[0], self.commands)
            raise UsageError(f"{args[0]}: no such file, and no command of sweep{near}")
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
    {temperature, ...}, model_base_url, model_args, arguments {verifier, subset, nudge, ...} as for
    inspect's -T, budget (US dollars that one start may spend).
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
    from workbench.cli._sweep_fence import refuse_inner, sole_owner
    from workbench.cli._sweep_lock import lock_of, refuse_doubles, same_suite
    from workbench.cli._sweep_run import Bounds, own_of, prepare
    from workbench.cli._sweep_spec import expand, read_spec
    from workbench.cli._targets import check_targets
    from workbench.core.workspace import find_workspace
    from workbench.evaluation.runs import writable
    from workbench.sandboxing.interrupts import heed

    wanted, source, name = read_spec(spec, flags)
    if pilot is not None and not dry_run:
        raise UsageError("--pilot is for --dry-run, which estimates costs from it")
    if (wanted.k or wanted.pools) and not wanted.routers:
        raise UsageError(
            f"{name}: {'k' if wanted.k else 'pools'} bears on routers alone; give routers, or leave it out"
        )
    folder = out or find_workspace().results / name
    same_suite(folder, wanted.suite)
    jobs = expand(wanted, own_of(wanted))
    if not jobs:
        raise UsageError(f"{name}: nothing to run; every cell is excluded, or there is no router")
    prepared = prepare(wanted, jobs)
    lock = lock_of(wanted, prepared)
    refuse_doubles(prepared, lock)
    refuse_inner(folder)
    if dry_run:
        _forecast(lock, folder, pilot)
        return 0
    check_targets({"html": html}, sorted(folder.glob("*.eval")))
    with sole_owner(writable(folder, "--out")):
        heed()
        complete = _run(wanted, source, prepared, lock, folder, Bounds(max_samples, max_tasks))
    return _finish(lock, folder, complete, html)


@command.command("status", short_help="How far a sweep is.")
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False), metavar="DIR")
def status_command(folder: Path) -> int:
    """Say how far the sweep in DIR is, also while it runs. Exit codes: 0 complete, 4 not."""
    from workbench.cli._sweep_fence import LEDGER
    from workbench.cli._sweep_ledger import repeated
    from workbench.cli._sweep_lock import read_lock
    from workbench.cli._sweep_tally import tally
    from workbench.cli._sweep_view import standing
    from workbench.reporting.wording import plural

    out = console()
    lock = read_lock(folder)
    if lock is None:
        unknown = "no readable sweep.lock, so what is planned is not known; start the sweep"
        out.print(filled(f"{safe(str(folder))}: {unknown}", out.width))
        return INCOMPLETE
    found = tally(lock, folder)
    _backfill(folder, found)
    print_table(standing(found.cells, out.width, live=False))
    twice = repeated(folder / LEDGER)
    out.print(
        f"{plural(found.left, 'trial')} not scored; {plural(twice, 'scored trial')} run twice", style="dim"
    )
    _remark(found)
    return INCOMPLETE if found.left else 0


def _run(
    spec: SweepSpec,
    source: str,
    prepared: list[Prepared],
    lock: Lock,
    folder: Path,
    bounds: Any,
) -> bool:
    from workbench.cli import _sweep_run, _sweep_view
    from workbench.cli._sweep_fence import LEDGER, QUARANTINE, SPEC, bring_back, set_aside_stale, tidy
    from workbench.cli._sweep_ledger import Ledger
    from workbench.cli._sweep_lock import moved_endpoints, write_lock
    from workbench.cli._sweep_tally import tally
    from workbench.core.atomic import write_text
    from workbench.reporting.wording import plural

    out = console()
    current = {job.place: job.identity for job in lock.jobs}
    stale = set_aside_stale(folder, current)
    if back := bring_back(folder, current):
        out.print(f"{plural(back, 'log')} brought back from {QUARANTINE}/: what had changed is as it was")
    if aside := [*stale.moved, *tidy(folder).moved]:
        out.print(_sweep_view.moved(aside))
    for line in moved_endpoints(folder, lock):
        out.print(filled(f"! {safe(line)}", out.width), style="yellow")
    changed = write_lock(folder, lock)
    if changed:
        again = "" if back else ", so run again"
        out.print(f"! changed since the last start{again}: {safe(', '.join(changed))}", style="yellow")
    write_text(folder / SPEC, source)
    before = tally(lock, folder)
    _remark(before)
    for count in before.cells.values():
        count.excluded = 0  # they end once more
    ledger = Ledger(folder / LEDGER, before.cells)
    ledger.backfill(before.scored)
    _sweep_run.Watch.ledger = ledger
    try:
        complete = _sweep_run.run(spec, prepared, folder, bounds, _sweep_view.watching(ledger, out))
        ledger.backfill(tally(lock, folder).scored)  # what Inspect recovered without running it
        return complete
    except KeyboardInterrupt:
        out.print(f"{_sweep_view.Board(ledger, out.width).line()}; the same command goes on")
        raise
    finally:
        _sweep_run.Watch.ledger = None


def _finish(lock: Lock, folder: Path, complete: bool, html: Path | None) -> int:
    """Report on what the spec plans; logs of what it planned before lie in the folder too."""
    from workbench.cli._sweep_tally import logs_of, tally
    from workbench.cli._targets import write_target
    from workbench.reporting.announce import print_summary, summary_of
    from workbench.reporting.report import Canvas, load_report

    logs = logs_of(lock, folder)
    sound = print_summary(logs, console())
    found = tally(lock, folder)
    found.beyond = 0  # a report has them
    _remark(found)
    if html is not None:
        write_target(html, load_report("html").render(summary_of(logs), Canvas()))
    return 0 if complete and sound else INCOMPLETE


def _backfill(folder: Path, found: Tally) -> None:
    """Give the ledger the lines that a kill cost it; a sweep that runs has its own still to write."""
    from workbench.cli._sweep_fence import LEDGER, sole_owner
    from workbench.cli._sweep_ledger import Ledger

    with suppress(UsageError, MachineError), sole_owner(folder):
        Ledger(folder / LEDGER).backfill(found.scored)


def _remark(found: Tally) -> None:
    for line in found.remarks():
        out = console()
        out.print(filled(f"! {line}", out.width), style="yellow")


def _forecast(lock: Lock, folder: Path, pilot: Path | None) -> None:
    from workbench.cli._sweep_fence import QUARANTINE, returning
    from workbench.cli._sweep_lock import changes, moved_endpoints, read_lock
    from workbench.cli._sweep_prices import pilot_prices
    from workbench.cli._sweep_tally import tally
    from workbench.cli._sweep_view import forecast
    from workbench.reporting.announce import summary_of
    from workbench.reporting.find import find_logs
    from workbench.reporting.wording import plural

    found = tally(lock, folder)
    logs = sorted(folder.glob("*.eval"))
    if pilot is not None:
        summary_of(find_logs([pilot]))  # which refuses what holds no trial
        logs += find_logs([pilot])
    out = console()
    print_table(forecast(found.cells, pilot_prices(logs, lock), out.width))
    before = read_lock(folder)
    back = len(returning(folder, {job.place: job.identity for job in lock.jobs}))
    lines = (
        [f"{plural(back, 'log')} in {QUARANTINE}/ will be brought back, and not run again"] if back else []
    )
    changed = [] if before is None else list(changes(before, lock))
    lines += [f"changed since the last start: {', '.join(changed)}"] if changed else []
    for line in [*lines, *moved_endpoints(folder, lock)]:
        out.print(filled(f"! {safe(line)}", out.width), style="yellow")
    out.print(f"in {safe(str(folder))}; nothing was run", style="dim")
    _remark(found)
