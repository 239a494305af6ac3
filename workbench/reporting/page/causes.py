"""What goes with success, what it costs, and routing alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby

from workbench.reporting.numbers import Change, Estimate, Total
from workbench.reporting.page.evidence import named, section, tone
from workbench.reporting.page.markup import Html, el
from workbench.reporting.page.plots import RATE, Scale, axis, interval, pareto
from workbench.reporting.page.table import Cell, Head, Row, numbers, table
from workbench.reporting.schema import Agreement, ArmSummary, Block, Front, FrontPoint, Given, Slice, Summary
from workbench.reporting.wording import (
    AGREEMENT,
    PRICES,
    WORTH,
    amount,
    arm_name,
    bounds_of,
    charged,
    gained,
    met,
    percent,
    percent_interval,
    plural,
    rate,
    signed,
    standing,
)
from workbench.reporting.wording import interval as interval_of

_TAU = Scale(-1, 1, (-1, -0.5, 0, 0.5, 1), 0)
_UNITS = (("cost_usd", "Cost"), ("tokens", "Tokens"), ("seconds", "Seconds"))
_INTERVAL = Head("95% interval", numeric=False)


def causes(block: Block, number: int) -> Html | None:
    """Success by what was given and loaded, by tag, and the agreement with routing metrics."""
    found = (_given(block, number), _loads(block), _slices(block), _agreement(block))
    parts = [part for part in found if part is not None]
    if not parts:
        return None
    lead = "These are associations, not effects: tasks whose gold is found may be easier anyway."
    return section("What goes with success", lead, parts)


def _given(block: Block, number: int) -> Html | None:
    rows = [_given_row(arm, given) for arm in block.arms for given in arm.given]
    heads = [
        Head("Arm", numeric=False),
        Head("Gold skills", numeric=False),
        Head(axis(RATE), numeric=False, sortable=False),
        Head("Success"),
        _INTERVAL,
        Head("Tasks"),
        Head("Trials"),
    ]
    return (
        table("Success by gold skills given and loaded", heads, rows, key=f"given-{number}") if rows else None
    )


def _given_row(arm: ArmSummary, given: Given) -> Row:
    return [
        named(arm),
        met(given),
        interval(given.success, RATE, tone(arm.condition)),
        *numbers(given.success, rate(given.success.value)),
        given.success.tasks,
        given.trials,
    ]


def _loads(block: Block) -> Html | None:
    """How well what was loaded matches gold, where loads could be seen."""
    arms = [arm for arm in block.arms if arm.load_recall.value is not None]
    if not arms:
        return None
    heads = [
        Head("Arm", numeric=False),
        Head("Load precision", hint="share of loaded skills that are gold"),
        Head("Load recall", hint="share of gold skills that were loaded"),
        Head("Gold unused", hint="share of gold skills given that were not loaded"),
        Head("Loaded others", hint="share of trials that loaded a skill that is not gold"),
        Head("Turn of first load", hint="0 is what was in the prompt"),
    ]
    rows: list[Row] = [
        [
            named(arm),
            *map(_share, (arm.load_precision, arm.load_recall, arm.unused_gold, arm.distractors)),
            _share(arm.first_load),
        ]
        for arm in arms
    ]
    return table("Skills loaded against gold", heads, rows)


def _slices(block: Block) -> Html | None:
    if not block.slices:
        return None
    parts = []
    for by, found in groupby(block.slices, key=lambda part: part.by):
        heads = [Head(by, numeric=False), Head("Tasks"), *(Head(arm_name(a.arm)) for a in block.arms)]
        rows = [_slice(part, block.arms) for part in found]
        parts.append(table(f"Success by {by}", heads, rows))
    summary = el("summary", "By tags of tasks")
    return el("details", summary, parts, open=True)


def _slice(part: Slice, arms: Sequence[ArmSummary]) -> Row:
    return [part.value, part.tasks, *(_shaded(part.arms.get(arm.arm)) for arm in arms)]


def _shaded(found: Estimate | None) -> Cell:
    if found is None or found.value is None:
        return Cell("-")
    span = "" if found.low is None else f"[{rate(found.low)}, {rate(found.high)}]"
    shade = el("i", "", class_="shade", style=f"opacity:{0.06 + 0.32 * found.value:.2f}")
    return Cell([shade, el("b", rate(found.value)), el("br"), el("small", span)], found.value)


def _agreement(block: Block) -> Html | None:
    if not block.agreement:
        return None
    heads = [
        Head("Routing metric", numeric=False),
        Head(axis(_TAU), numeric=False, sortable=False),
        Head("Kendall's tau"),
        _INTERVAL,
        Head("Routed arms"),
        Head("Tasks"),
    ]
    rows = [_agreement_row(found) for found in block.agreement]
    return el(
        "div",
        el("p", f"{AGREEMENT}.", class_="lead"),
        table("Agreement of metrics with success", heads, rows),
    )


def _agreement_row(found: Agreement) -> Row:
    plot = interval(found.tau, _TAU, "tone-routed")
    shown = numbers(found.tau, signed(found.tau.value))
    return [found.metric, plot, *shown, found.routers, found.tau.tasks]


def changes(block: Block, number: int) -> Html | None:
    """Tasks that skills harm, and those they help, per arm."""
    keys = (f"changes-{number}-{place}" for place in range(len(block.arms)))
    drawn = (_changes(arm, key) for arm, key in zip(block.arms, keys, strict=True))
    parts = [part for part in drawn if part is not None]
    if not parts:
        return None
    lead = "Tasks whose mean differs from no skills. One task is little evidence: look at its transcripts."
    return section("Tasks that skills change", lead, parts)


def _changes(arm: ArmSummary, key: str) -> Html | None:
    if arm.vs_none is None or not arm.vs_none.changes:
        return None
    found = arm.vs_none.changes
    harmed = [change for change in found if change.first < change.second]
    heads = [
        Head("Task", numeric=False),
        Head("With"),
        Head("Without"),
        Head("Difference"),
        Head("Trials", numeric=False),
    ]
    title = f"{arm_name(arm.arm)}: {len(harmed)} harmed, {len(found) - len(harmed)} helped"
    rows = [_change(change) for change in found]
    body = table(f"Tasks changed by {arm_name(arm.arm)}", heads, rows, key=key)
    return el("details", el("summary", title), body, open=bool(harmed) and len(harmed) <= 12)


def _change(change: Change) -> Row:
    size = change.first - change.second
    word = el("span", signed(size), class_="loss" if size < 0 else "gain")
    trials = f"{change.trials[0]} and {change.trials[1]}"
    return [change.task, rate(change.first), rate(change.second), Cell(word, size), trials]


def spending(block: Block) -> Html:
    """What a trial and a success cost, drawn against success where prices are known."""
    heads = [
        Head("Arm", numeric=False),
        *(Head(f"{title} a trial") for _, title in _UNITS),
        *(Head(f"{title} a success") for _, title in _UNITS),
        Head("Cost in all"),
        Head("Known for"),
    ]
    rows = [_spending(arm) for arm in block.arms]
    lead = (
        "Means with 95% intervals, over so many tasks; a success costs the sum over scored trials divided by"
        " reward."
    )
    drawn = None if block.front is None else _front(block, block.front)
    return section("Cost", lead, drawn, table("Cost by arm", heads, rows))


def _front(block: Block, front: Front) -> Html:
    tones = {arm.arm: tone(arm.condition) for arm in block.arms}
    heads = [
        Head("Arm", numeric=False),
        Head(f"{PRICES[front.unit].capitalize()} a trial"),
        Head("Success"),
        Head("Standing", numeric=False),
        Head("Gain in success"),
        Head(f"Extra {PRICES[front.unit]}"),
    ]
    text = f"{WORTH} Filled points are on the front, by the estimates."
    drawn = el("figure", pareto(front, tones), el("figcaption", text), class_="scroll")
    rows = [_worth(point, front.unit) for point in front.points]
    return Html(drawn + table("Success against price", heads, rows))


def _worth(point: FrontPoint, unit: str) -> Row:
    gain, extra = point.gain, point.extra
    return [
        arm_name(point.arm),
        _price(point.price, unit),
        _share(point.success),
        standing(point),
        Cell(gained(point), None if gain is None else gain.value),
        Cell(charged(point, unit), None if extra is None else extra.value),
    ]


def _spending(arm: ArmSummary) -> Row:
    cost = arm.spending.cost_usd
    return [
        named(arm),
        *(_price(getattr(arm.per_trial, unit), unit) for unit, _ in _UNITS),
        *(_price(getattr(arm.per_success, unit), unit) for unit, _ in _UNITS),
        Cell(amount(cost.sum, "cost_usd"), cost.sum),
        _known(cost),
    ]


def _price(found: Estimate, unit: str) -> Cell:
    if found.value is None:
        return Cell(el("span", found.reason or "-", class_="reason"))
    span = f"{bounds_of(found, unit)} ({found.tasks})"
    return Cell([el("b", amount(found.value, unit)), el("br"), el("small", span)], found.value)


def _known(total: Total) -> Cell:
    return Cell(f"{total.known:,} of {total.trials:,}", total.known)


def _share(found: Estimate) -> Cell:
    if found.value is None:
        return Cell(el("span", found.reason or "-", class_="reason"))
    span = f"{interval_of(found)} {plural(found.tasks, 'task')}"
    return Cell([el("b", rate(found.value)), el("br"), el("small", span)], found.value)


def routing(summary: Summary) -> Html | None:
    """Routing metrics per router and stratum, each task once."""
    metrics: Mapping[str, None] = dict.fromkeys(
        metric for found in summary.routing for stratum in found.strata for metric in stratum.metrics
    )
    if not metrics:
        return None
    heads = [
        Head("Suite", numeric=False),
        Head("Router", numeric=False),
        Head("Gold skills", numeric=False),
        Head("Tasks"),
        *(Head(metric) for metric in metrics),
    ]
    rows: list[Row] = []
    for found in summary.routing:
        for stratum in found.strata:
            if stratum.tasks:
                cells = [_metric(stratum.metrics.get(metric)) for metric in metrics]
                rows.append([found.suite, found.router, stratum.name, stratum.tasks, *cells])
    given = " or ".join(str(k) for k in sorted({k for found in summary.routing for k in found.depths}))
    depth = f" {given} skills were given (k); metrics at other depths look so deep into the ranking."
    lead = "Rankings against gold, each task once, whatever the models and trials." + (depth if given else "")
    return section("Routing alone", lead, table("Routing metrics", heads, rows, key="routing"))


def _metric(found: Estimate | None) -> Cell:
    if found is None or found.value is None:
        return Cell("-")
    span = el("small", percent_interval(found))
    return Cell([el("b", percent(found.value)), el("br"), span], found.value)
