"""Skills used, what was spent, and routing alone, at a terminal: each number with its interval and its n."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.text import Text

from workbench.core.terminal import safe
from workbench.reporting.drawing import Column, grid, grid_and_line
from workbench.reporting.numbers import Estimate
from workbench.reporting.routing import told
from workbench.reporting.schema import ArmSummary, Block, RoutingSummary, Stratum, Summary
from workbench.reporting.sections import name_of
from workbench.reporting.wording import (
    PRICES,
    WORTH,
    amount,
    bounds_of,
    charged,
    gained,
    measured,
    percent,
    percent_interval,
    plural,
    rate,
    standing,
    wrapped,
)

_HEADERS = {"FullCoverage": "Full\nCoverage"}


def use(block: Block, width: int) -> RenderableType | None:
    """How what was loaded compares with gold; below each number its interval, in brackets its tasks."""
    arms = [arm for arm in block.arms if any(_loads(arm)[n].value is not None for n in range(4))]
    if not arms:
        return None
    columns = [
        Column("", numeric=False),
        Column("load\nprecision"),
        Column("load\nrecall"),
        Column("gold\nunused"),
        Column("loaded\nothers"),
        Column("turn of\nfirst load"),
    ]
    rows = []
    for arm in arms:
        cells = [_share(found) for found in _loads(arm)]
        rows.append([name_of(arm), *cells, _turn(arm.first_load)])
    return grid(columns, rows, width)


def spending(block: Block, width: int) -> RenderableType:
    """Tokens, time and cost a trial, cost a success, and what it all came to."""
    columns = [
        Column("", numeric=False),
        Column("tokens\nper trial"),
        Column("seconds\nper trial"),
        Column("cost\nper trial"),
        Column("cost\nper success"),
        Column("cost in all\n(known for)", label="Cost in all (trials whose cost is known)"),
    ]
    rows = []
    for arm in block.arms:
        cost = arm.spending.cost_usd
        rows.append(
            [
                name_of(arm),
                _amount(arm.per_trial.tokens, "tokens"),
                _amount(arm.per_trial.seconds, "seconds"),
                _amount(arm.per_trial.cost_usd, "cost_usd"),
                _amount(arm.per_success.cost_usd, "cost_usd"),
                Text(f"{amount(cost.sum, 'cost_usd')}\n{cost.known:,}/{cost.trials:,}"),
            ]
        )
    return grid_and_line(columns, rows, width)


def worth(block: Block, width: int) -> RenderableType | None:
    """Every arm's price and success, and whether it is worth more than the best arm that costs no more."""
    if block.front is None:
        return None
    columns = [
        Column("", numeric=False),
        Column(f"{PRICES[block.front.unit]}\nper trial"),
        Column("success"),
        Column("standing", numeric=False),
        Column("gain in success\n95% interval", numeric=False, label="gain in success"),
        Column(f"extra {PRICES[block.front.unit]}\n95% interval", numeric=False, optional=True),
    ]
    arms = {arm.arm: arm for arm in block.arms}
    rows = []
    for point in sorted(block.front.points, key=lambda point: (point.price.value or 0, point.arm)):
        gain, extra = gained(point), charged(point, block.front.unit)
        cells = (
            amount(point.price.value, block.front.unit),
            rate(point.success.value),
            safe(standing(point)).replace(", ", ",\n"),
            gain.replace(" [", "\n["),
            extra.replace(" [", "\n["),
        )
        rows.append([name_of(arms[point.arm]), *map(Text, cells)])
    return Group(grid(columns, rows, width), Text(wrapped(WORTH, width), style="dim"))


def routing(summary: Summary, width: int) -> RenderableType | None:
    """Routing metrics per router and stratum, in percent; what was given at the depth it was given."""
    if not summary.routing:
        return None
    several = len({found.suite for found in summary.routing}) > 1
    depths = sorted({k for found in summary.routing for k in found.depths})
    shown = told(summary.routing)
    columns = [
        Column("", numeric=False),
        Column("gold", numeric=False),
        Column("tasks"),
        *(Column(_header(metric), label=metric) for metric in shown),
    ]
    rows = []
    for found in summary.routing:
        name = f"{found.suite} {found.router}" if several else found.router
        for stratum in _strata(found):
            cells = [_metric(stratum, metric) for metric in shown]
            label = safe(name) if stratum.name == "all" else ""
            rows.append([Text(label, style="cyan"), Text(stratum.name), Text(str(stratum.tasks)), *cells])
    return Group(grid(columns, rows, width), *_depth(depths, width), *_unrouted(summary, width))


def _loads(arm: ArmSummary) -> list[Estimate]:
    return [arm.load_precision, arm.load_recall, arm.unused_gold, arm.distractors]


def _share(found: Estimate) -> Text:
    shown = "-" if found.value is None else percent(found.value)
    return _cell(shown, percent_interval(found), found)


def _turn(found: Estimate) -> Text:
    if found.value is None:
        return Text("-")
    bounds = "" if found.low is None or found.high is None else f"[{found.low:.1f}, {found.high:.1f}]"
    return _cell(f"{found.value:.1f}", bounds, found)


def _amount(found: Estimate, unit: str) -> Text:
    return _cell(amount(found.value, unit), bounds_of(found, unit), found)


def _cell(number: str, bounds: str, found: Estimate) -> Text:
    return Text(measured(number, bounds, found.tasks, apart="\n").rstrip())


def _metric(stratum: Stratum, metric: str) -> Text:
    """In percent; with its own n where it is not defined for all tasks of the stratum."""
    found = stratum.metrics.get(metric)
    if found is None or found.value is None:
        return Text("-")
    size = "" if found.tasks == stratum.tasks else f" ({found.tasks})"
    return Text(f"{100 * found.value:.1f}{size}\n{percent_interval(found)}".rstrip())


def _header(metric: str) -> str:
    family, _, depth = metric.partition("@")
    return f"{_HEADERS.get(family, family)}@{depth}"


def _strata(found: RoutingSummary) -> Iterator[Stratum]:
    """Those with tasks; single and multi only where both have some."""
    sizes = {stratum.name: stratum.tasks for stratum in found.strata}
    for stratum in found.strata:
        alone = stratum.name in ("single", "multi") and stratum.tasks == sizes["all"]
        if stratum.name == "all" or (stratum.tasks and not alone):
            yield stratum


def _depth(depths: list[int], width: int) -> Iterator[RenderableType]:
    given = " or ".join(map(str, depths))
    if given:
        text = f"In percent. {given} skills were given (k); @10 looks as deep into the ranking as 10."
        yield Text(wrapped(text, width), style="dim")


def _unrouted(summary: Summary, width: int) -> Iterator[RenderableType]:
    for found in summary.routing:
        if found.routed < found.planned:
            missing = plural(found.planned - found.routed, "task")
            text = f"! {safe(found.router)}: no answer is known for {missing}"
            yield Text(wrapped(text, width), style="yellow")
        if found.not_in_pool:
            outside = plural(len(found.not_in_pool), "task")
            text = f"{safe(found.router)}: {outside} not scored, for the pool holds none of the gold"
            yield Text(wrapped(text, width), style="dim")
