"""``workbench plan``: what can this design see, and how many tasks and trials would it take?"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from workbench.cli._numbers import Finite, Whole
from workbench.core.atomic import write_text
from workbench.core.errors import UsageError
from workbench.core.terminal import console, print_table, safe

if TYPE_CHECKING:
    from rich.console import RenderableType

    from workbench.reporting.pairing import Grouped
    from workbench.reporting.planning import Needed, Plan
    from workbench.stats.power import Design

_SHARE = Finite(0, 1)


@click.command("plan", short_help="Smallest detectable difference; tasks and trials needed.")
@click.argument("pilot", type=click.Path(path_type=Path), required=False, metavar="[PILOT]")
@click.option("--arms", nargs=2, metavar="X Y", help="Two arms of the pilot; default: routers and baselines.")
@click.option("--effect", type=Finite(0, 1, min_open=True), help="Difference that must be found.")
@click.option("--tasks", type=Whole(2), help="Tasks of the design; default: the pilot's.")
@click.option(
    "--rates", type=_SHARE, nargs=2, metavar="P Q", help="Without a pilot: success of the two arms."
)
@click.option(
    "--correlation",
    type=_SHARE,
    default=0.5,
    show_default=True,
    help="Without a pilot: how alike two trials of one task are.",
)
@click.option(
    "--shared",
    type=Finite(-1, 1),
    default=0.5,
    show_default=True,
    help="Without a pilot: how alike tasks are hard for both arms.",
)
@click.option("--power", type=Finite(0.5, 0.999), default=0.8, show_default=True)
@click.option("--alpha", type=Finite(0.0001, 0.5), default=0.05, show_default=True)
@click.option(
    "--comparisons", type=Whole(1), help="Routers to be corrected for; default: the pilot's, else 1."
)
@click.option("--json", "json_file", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE")
@click.pass_context
def command(
    ctx: click.Context,
    pilot: Path | None,
    arms: tuple[str, str] | None,
    effect: float | None,
    tasks: int | None,
    rates: tuple[float, float] | None,
    correlation: float,
    shared: float,
    power: float,
    alpha: float,
    comparisons: int | None,
    json_file: Path | None,
) -> int:
    """Plan a comparison from the variance of PILOT's logs, or from numbers.

    \b
    workbench plan results/pilot --effect 0.1
    workbench plan --rates 0.4 0.5 --tasks 87 --effect 0.1

    More trials shrink only what varies within a task. Power is that of the exact sign-flip test that
    reports use, two-sided at alpha divided by the comparisons (Bonferroni: the worst case of Holm), with
    the variance that an effect of that size implies: exact for one pass-or-fail trial a task, a lower
    bound for more; of rewards in between, for an effect that spreads evenly between none and twice its mean.
    """
    from workbench.cli.compare import read_run
    from workbench.stats.power import Design

    _refuse_mixtures(pilot, rates, arms, ctx)
    if rates is not None:
        design = Design(alpha=alpha / (comparisons or 1), power=power)
        plans = [_assumed(rates, correlation, shared, tasks, effect, design)]
    else:
        assert pilot is not None
        run, _ = read_run(pilot)
        design = Design(alpha=alpha / (comparisons or _routers(run, arms)), power=power)
        plans = _from_pilot(pilot, run, arms, tasks, effect, design)
    for plan in plans:
        _print(plan)
    if json_file is not None:
        body = ",\n".join(plan.model_dump_json(indent=2) for plan in plans)
        write_text(json_file, f"[{body}]\n")
    return 0


def _assumed(
    rates: tuple[float, float],
    correlation: float,
    shared: float,
    tasks: int | None,
    effect: float | None,
    design: Design,
) -> Plan:
    from workbench.reporting.planning import Origin, planned
    from workbench.stats.power import assumed_components

    if tasks is None:
        raise UsageError("--rates needs --tasks N")
    components = assumed_components(*rates, correlation, shared)
    name = f"success {rates[0]:g} against {rates[1]:g}"
    source = f"assumed: correlation {correlation:g} within tasks, {shared:g} between arms"
    return planned(Origin(name, source, True), components, tasks, effect, design)


def _refuse_mixtures(
    pilot: Path | None, rates: tuple[float, float] | None, arms: tuple[str, str] | None, ctx: click.Context
) -> None:
    """What one way of planning has no use for is a slip."""
    if pilot is not None and rates is not None:
        raise UsageError("give a PILOT run or --rates P Q, not both")
    if pilot is None and rates is None:
        raise UsageError("give a PILOT run, or --rates P Q with --tasks N")
    if rates is not None and arms is not None:
        raise UsageError("--arms are of a PILOT run; with --rates there is none")
    for name in ("correlation", "shared"):
        if pilot is not None and ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise UsageError(f"--{name} is for --rates; a PILOT run tells it")


def _routers(run: Grouped, arms: tuple[str, str] | None) -> int:
    """Comparisons that a report of such a run corrects for: its routed arms."""
    routed = sum(cell.arm.condition == "routed" for cells in run.values() for cell in cells)
    return 1 if arms is not None else max(1, routed)


def _from_pilot(
    pilot: Path,
    run: Grouped,
    arms: tuple[str, str] | None,
    tasks: int | None,
    effect: float | None,
    design: Design,
) -> list[Plan]:
    from workbench.reporting.pairing import pair_arms
    from workbench.reporting.planning import Origin, differing, pilot_components, pilot_pairs, planned
    from workbench.reporting.wording import arm_name, plural

    pairs = pilot_pairs(run) if arms is None else pair_arms(run, *arms)
    plans = []
    for pair in pairs:
        found = pilot_components(pair.first, pair.second)
        if found is None:
            continue
        name = f"{arm_name(pair.first.label)} against {arm_name(pair.second.label)}"
        name = f"{differing(pair.first_block, run)}{name}"
        origin = Origin(name, f"{plural(found.tasks, 'task')} of the pilot", False)
        plans.append(planned(origin, found.found, tasks or found.tasks, effect, design, found.limit))
    if not plans:
        raise UsageError(f"{pilot}: no two arms with two tasks in common; give --arms X Y")
    return plans


def _print(plan: Plan) -> None:
    from rich.console import Group
    from rich.text import Text

    from workbench.reporting.wording import wrapped

    width = console().width
    print_table(
        Group(
            *(
                Text(wrapped(part[0], width), style=part[1]) if isinstance(part, tuple) else part
                for part in _parts(plan, width)
            )
        )
    )


def _parts(plan: Plan, width: int) -> Iterator[RenderableType | tuple[str, str]]:
    """Lines, each with its style, and the table."""
    from workbench.reporting.wording import plural

    yield safe(f"{plan.name}, {plural(plan.tasks, 'task')}"), "bold"
    within = "not known (single trials)" if plan.within is None else f"{plan.within:.3f}"
    yield f"variance: {plan.between:.3f} between tasks, {within} within ({safe(plan.source)})", "dim"
    if not plan.between and not plan.within:
        which = "these rates leave" if plan.assumed else "the pilot shows"
        yield f"{which} no variance, so nothing follows about precision", "yellow"
    else:
        yield _grid(plan, width)
        yield _promise(plan), "dim"
        needed = plan.needed
        if needed is not None and plan.within is not None:
            yield _answer(plan, needed), "default"
    yield "", "default"


def _answer(plan: Plan, needed: Needed) -> str:
    """Trials that would find the effect, by the pilot's variance and at its limit."""
    from workbench.reporting.wording import plural

    def trials(count: int | None) -> str:
        return "no number of trials" if count is None else plural(count, "trial")

    sure = "" if plan.assumed else f"; {trials(needed.surely)} surely"
    return (
        f"{trials(needed.trials)} a task would find {needed.effect:g} on {plural(plan.tasks, 'task')}{sure}"
    )


def _grid(plan: Plan, width: int) -> RenderableType:
    from rich.text import Text

    from workbench.reporting.drawing import Column, grid
    from workbench.reporting.wording import rate

    columns = [Column("trials"), Column("detectable"), *([Column("surely")] if plan.surely else [])]
    needed = plan.needed
    if needed is not None:
        columns.append(Column(f"tasks for {needed.effect:g}"))
    rows = []
    for trials, least in plan.detectable.items():
        row = [Text(str(trials)), Text(rate(least), style="bold")]
        row += [Text(rate(plan.surely[trials]))] if plan.surely else []
        if needed is not None:
            count = needed.tasks.get(trials)
            row.append(Text("-" if count is None else f"{count:,}"))
        rows.append(row)
    return grid(columns, rows, width)


def _promise(plan: Plan) -> str:
    """What the table's power means."""
    found = f"found with a power of {plan.power:.0%} at p < {plan.alpha:.3g}"
    if plan.surely:
        found = (
            f"surely: were the variance between tasks at its 80% upper limit. {found[0].upper()}{found[1:]}"
        )
    if not plan.binary:
        return f"{found}, if the effect spreads evenly over tasks, between none and twice its mean"
    if plan.within is None:
        return found
    return f"{found}: exactly with one trial, with more a lower bound"
