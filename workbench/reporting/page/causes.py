"""What goes with success, what it costs, and routing alone."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from workbench.reporting.numbers import Change, Estimate, Total
from workbench.reporting.page.evidence import fewer, part, section
from workbench.reporting.page.figures import figure, pareto
from workbench.reporting.page.markup import Html, el
from workbench.reporting.page.plots import RATE, Scale, axis, interval
from workbench.reporting.page.table import Cell, Head, Row, numbers, table
from workbench.reporting.page.view import Look, View, named
from workbench.reporting.routing import told
from workbench.reporting.schema import Agreement, ArmSummary, Front, FrontPoint, Given, Slice, Summary
from workbench.reporting.wording import (
    AGREEMENT,
    PRICES,
    WORTH,
    amount,
    arm_name,
    bounds_of,
    by_chance,
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


def causes(view: View) -> Html | None:
    """Success by what was given and loaded, by tag, and the agreement with routing metrics."""
    found = (_given(view), _loads(view), _slices(view), _agreement(view))
    parts = [drawn for drawn in found if drawn is not None]
    if not parts:
        return None
    lead = "These are associations, not effects: tasks whose gold is found may be easier anyway."
    return part("What goes with success", lead, parts)


def _given(view: View) -> Html | None:
    rows = [_given_row(view, arm, given) for arm in view.block.arms for given in arm.given]
    if not rows:
        return None
    heads = [
        Head("Arm", numeric=False),
        Head("Gold skills", numeric=False),
        Head(axis(RATE), numeric=False, sortable=False),
        Head("Success"),
        _INTERVAL,
        Head("Tasks"),
        Head("Trials"),
    ]
    caption = view.caption("Success by gold skills given and loaded")
    return table(caption, heads, rows, key=view.key("given"))


def _given_row(view: View, arm: ArmSummary, given: Given) -> Row:
    return [
        view.named(arm),
        met(given),
        interval(given.success, RATE, view.look(arm)),
        *numbers(given.success, rate(given.success.value)),
        given.success.tasks,
        given.trials,
    ]


def _loads(view: View) -> Html | None:
    """How well what was loaded matches gold, where loads could be seen."""
    arms = [arm for arm in view.block.arms if arm.load_recall.value is not None]
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
            view.named(arm),
            *map(_share, (arm.load_precision, arm.load_recall, arm.unused_gold, arm.distractors)),
            _share(arm.first_load),
        ]
        for arm in arms
    ]
    return table(view.caption("Skills loaded against gold"), heads, rows)


def _slices(view: View) -> Html | None:
    block = view.block
    if not block.slices:
        return None
    parts = []
    for by, found in groupby(block.slices, key=lambda one: one.by):
        heads = [Head(by, numeric=False), Head("Tasks"), *(Head(view.named(a)) for a in block.arms)]
        rows = [_slice(one, block.arms) for one in found]
        parts.append(table(view.caption(f"Success by {by}"), heads, rows))
    summary = el("summary", "By tags of tasks")
    return el("details", summary, parts, open=True)


def _slice(one: Slice, arms: Sequence[ArmSummary]) -> Row:
    return [one.value, one.tasks, *(_shaded(one.arms.get(arm.arm), one.tasks) for arm in arms)]


def _shaded(found: Estimate | None, tasks: int) -> Cell:
    if found is None or found.value is None:
        return Cell("-", None)
    span = " ".join((interval_of(found), fewer(found, tasks))).strip()
    shade = el("i", "", class_="shade", style=f"opacity:{0.06 + 0.32 * found.value:.2f}")
    return Cell([shade, el("b", rate(found.value)), el("br"), el("small", span)], found.value)


def _agreement(view: View) -> Html | None:
    block = view.block
    if all(found.tau.value is None for found in block.agreement):
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
        table(view.caption("Agreement of metrics with success"), heads, rows),
    )


def _agreement_row(found: Agreement) -> Row:
    plot = interval(found.tau, _TAU, Look("tone-routed"))
    shown = numbers(found.tau, signed(found.tau.value))
    return [found.metric, plot, *shown, found.routers, found.tau.tasks]


def changes(view: View) -> Html | None:
    """Tasks that skills harm, and those they help, per arm."""
    arms = enumerate(view.block.arms)
    drawn = (_changes(view, arm, view.key(f"changes-{n}")) for n, arm in arms)
    parts = [found for found in drawn if found is not None]
    if not parts:
        return None
    lead = (
        "Tasks whose mean differs from no skills, with the trials of each mean. By chance: how many would"
        " fall, were each task's trials dealt to the two arms at random. One task is little evidence and has"
        " no interval: look at its transcripts. The interval over all tasks stands beside each arm."
    )
    return part("Tasks that skills change", lead, parts)


def _changes(view: View, arm: ArmSummary, key: str) -> Html | None:
    if arm.vs_none is None or not arm.vs_none.changes:
        return None
    found = arm.vs_none.changes
    harmed = [change for change in found if change.first < change.second]
    heads = [Head("Task", numeric=False), Head("With"), Head("Without"), Head("Difference")]
    overall = arm.vs_none.difference
    title = [
        f"{arm_name(arm.arm)}: {len(harmed)} fell ({by_chance(arm.vs_none)}),"
        f" {len(found) - len(harmed)} rose",
        el("small", f" of {plural(overall.tasks, 'task')}: {signed(overall.value)} {interval_of(overall)}"),
    ]
    rows = [_change(change) for change in found]
    body = table(view.caption(f"Tasks changed by {arm_name(arm.arm)}"), heads, rows, key=key)
    return el("details", el("summary", title), body, open=bool(harmed) and len(harmed) <= 12)


def _change(change: Change) -> Row:
    size = change.first - change.second
    word = el("span", signed(size), class_="loss" if size < 0 else "gain")
    means = zip((change.first, change.second), change.trials, strict=True)
    return [change.task, *(_over_trials(mean, trials) for mean, trials in means), Cell(word, size)]


def _over_trials(mean: float, trials: int) -> Cell:
    return Cell([rate(mean), el("small", f" of {plural(trials, 'trial')}")], mean)


def spending(view: View) -> Html:
    """What a trial and a success cost, drawn against success where prices are known."""
    block = view.block
    heads = [
        Head("Arm", numeric=False),
        *(Head(f"{title} a trial") for _, title in _UNITS),
        *(Head(f"{title} a success") for _, title in _UNITS),
        Head("Cost in all"),
        Head("Known for"),
    ]
    rows = [_spending(view, arm) for arm in block.arms]
    lead = (
        "Means with 95% intervals, over so many tasks; a success costs the sum over scored trials divided by"
        " reward."
    )
    drawn = None if block.front is None else _front(view, block.front)
    return part("Cost", lead, drawn, table(view.caption("Cost by arm"), heads, rows))


def _front(view: View, front: Front) -> Html:
    heads = [
        Head("Arm", numeric=False),
        Head(f"{PRICES[front.unit].capitalize()} a trial"),
        Head("Success"),
        Head("Standing", numeric=False),
        Head("Gain in success"),
        Head(f"Extra {PRICES[front.unit]}"),
    ]
    text = f"{WORTH} Filled points are on the front, by the estimates."
    upright = "mean reward" if view.block.fractional else "success"
    drawn = figure(pareto(front, view.looks, upright), text, view.caption("Success against price, drawn"))
    rows = [_worth(view, point, front.unit) for point in front.points]
    return Html(drawn + table(view.caption("Success against price"), heads, rows))


def _worth(view: View, point: FrontPoint, unit: str) -> Row:
    return [
        named(point.arm, view.looks[point.arm]),
        _price(point.price, unit),
        _share(point.success),
        standing(point),
        _more(point.gain, gained(point)),
        _more(point.extra, charged(point, unit)),
    ]


def _more(found: Estimate | None, text: str) -> Cell:
    """A difference from the rival, with its interval and tasks."""
    if found is None or not text:
        return Cell("", None)
    value, _, bounds = text.partition(" ")
    size = plural(found.tasks, "task")
    return Cell([el("b", value), el("br"), el("small", f"{bounds} {size}".strip())], found.value)


def _spending(view: View, arm: ArmSummary) -> Row:
    cost = arm.spending.cost_usd
    return [
        view.named(arm),
        *(_price(getattr(arm.per_trial, unit), unit) for unit, _ in _UNITS),
        *(_price(getattr(arm.per_success, unit), unit) for unit, _ in _UNITS),
        Cell(amount(cost.sum, "cost_usd"), cost.sum),
        _known(cost),
    ]


def _price(found: Estimate, unit: str) -> Cell:
    if found.value is None:
        return Cell(el("span", found.reason or "-", class_="reason"), None)
    span = f"{bounds_of(found, unit)} ({found.tasks})"
    return Cell([el("b", amount(found.value, unit)), el("br"), el("small", span)], found.value)


def _known(total: Total) -> Cell:
    return Cell(f"{total.known:,} of {total.trials:,}", total.known)


def _share(found: Estimate) -> Cell:
    if found.value is None:
        return Cell(el("span", found.reason or "-", class_="reason"), None)
    span = f"{interval_of(found)} {plural(found.tasks, 'task')}"
    return Cell([el("b", rate(found.value)), el("br"), el("small", span)], found.value)


def routing(summary: Summary) -> Html | None:
    """Routing metrics per router and stratum, each task once; those that tell most first."""
    metrics = _ordered(summary)
    if not metrics:
        return None
    heads = [
        Head("Router", numeric=False),
        Head("Suite", numeric=False),
        Head("Gold skills", numeric=False),
        Head("Tasks"),
        *(Head(metric) for metric in metrics),
    ]
    rows: list[Row] = []
    for found in summary.routing:
        for stratum in found.strata:
            if stratum.tasks:
                cells = [_metric(stratum.metrics.get(metric), stratum.tasks) for metric in metrics]
                rows.append([found.router, found.suite, stratum.name, stratum.tasks, *cells])
    given = " or ".join(str(k) for k in sorted({k for found in summary.routing for k in found.depths}))
    depth = f" {given} skills were given (k); metrics at other depths look so deep into the ranking."
    lead = "Rankings against gold in percent, each task once, whatever the models and trials."
    drawn = table("Routing metrics", heads, rows, key="routing")
    return section("Routing alone", lead + (depth if given else ""), drawn)


def _ordered(summary: Summary) -> list[str]:
    """Metrics: those to be shown first, then the others by family and by depth."""
    first = told(summary.routing)
    strata = [stratum for found in summary.routing for stratum in found.strata]
    others = {metric for stratum in strata for metric in stratum.metrics} - set(first)
    return [*first, *sorted(others, key=_depth)]


def _depth(metric: str) -> tuple[str, int, str]:
    """``Recall@10`` after ``Recall@3``; by text alone it would come before."""
    family, _, depth = metric.partition("@")
    return family, int(depth) if depth.isdecimal() else 0, metric


def _metric(found: Estimate | None, tasks: int) -> Cell:
    if found is None or found.value is None:
        return Cell("-", None)
    span = " ".join((percent_interval(found), fewer(found, tasks))).strip()
    return Cell([el("b", percent(found.value)), el("br"), el("small", span)], found.value)
