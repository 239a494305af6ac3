"""How a paired report is shown at a terminal: a sentence per comparison, a table, the tasks that changed."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.text import Text

from workbench.core.terminal import safe
from workbench.reporting.drawing import Column, grid, grid_and_line
from workbench.reporting.paired import PairedReport, PairedResult, Side
from workbench.reporting.schema import Change
from workbench.reporting.wording import (
    DETECTABLE,
    arm_name,
    interval,
    p_value,
    plural,
    rate,
    signed,
    stated,
    tested,
    wrapped,
)

_ALPHA = 0.05
_TASKS = 12


def build(report: PairedReport, width: int) -> RenderableType:
    """The report as something rich can print."""
    parts: list[RenderableType] = []
    for result in report.results:
        parts += [Text(wrapped(safe(sentence(result)), width), style="bold"), *_further(result)]
    parts += [Text(""), _table(report, width)]
    for result in report.results:
        parts += _changes(result, width)
    parts += [Text(""), Text(wrapped(_method(report), width), style="dim")]
    return Group(*parts)


def sentence(result: PairedResult) -> str:
    """What the evidence says of one pair."""
    found = result.comparison
    names = _names(result)
    if found.difference.value is None:
        return f"{names[0]} against {names[1]}: {found.difference.reason}."
    bounds = f"{signed(found.difference.value)} {interval(found.difference)}".rstrip()
    size = plural(found.difference.tasks, "task")
    return f"{names[0]} is {verdict(result)} {names[1]}: {bounds}, {tested(found)} ({size})."


def verdict(result: PairedResult) -> str:
    """``better than``, ``worse than``, ``equivalent to`` or ``not clearly different from``."""
    found = result.comparison
    low, high = found.difference.low, found.difference.high
    significant = found.p_adjusted is not None and found.p_adjusted < _ALPHA
    if significant and low is not None and high is not None and not low <= 0 <= high:
        return "better than" if (found.difference.value or 0) > 0 else "worse than"
    if result.sameness is not None and result.sameness.p_equivalent < _ALPHA:
        return "equivalent to"
    return "not clearly different from"


def _names(result: PairedResult) -> tuple[str, str]:
    """Each side by what tells it from the other."""
    sides = (result.first, result.second)
    differing = [
        field for field in ("model", "agent", "arm") if len({getattr(s, field) for s in sides}) > 1
    ] or ["arm"]
    one, other = (_name(side, differing) for side in sides)
    if one == other:
        return f"{one} (first)", f"{other} (second)"
    if "arm" not in differing:
        return f"{arm_name(result.first.arm)} with {one}", f"with {other}"
    return one, other


def _name(side: Side, fields: list[str]) -> str:
    return " ".join(arm_name(side.arm) if field == "arm" else str(getattr(side, field)) for field in fields)


def _further(result: PairedResult) -> Iterator[Text]:
    """Sameness, and what it would take to be sure."""
    found = result.comparison
    if (same := result.sameness) is not None:
        word = "within" if same.p_equivalent < _ALPHA else "not shown to be within"
        worse = "not worse by that much" if same.p_not_worse < _ALPHA else "not shown to be no worse"
        yield Text(
            f"  {word} {same.margin:.2f} of each other ({stated(same.p_equivalent)});"
            f" {worse} ({stated(same.p_not_worse)}); 90% interval"
            f" [{signed(same.interval[0])}, {signed(same.interval[1])}]"
        )
    if verdict(result) == "not clearly different from" and found.detectable is not None:
        yield Text(f"  this design finds {rate(found.detectable)} with 80% power{_needs(result)}")
    if found.missing:
        yield Text(f"  without {plural(len(found.missing), 'task')} not scored on both sides", style="yellow")


def _needs(result: PairedResult) -> str:
    if not result.comparison.difference.value:
        return ""
    tasks = "no number of tasks" if result.tasks_for is None else plural(result.tasks_for, "task")
    trials = "" if result.trials_for is None else f", or {plural(result.trials_for, 'trial')} a task"
    return f"; the difference seen would take {tasks}{trials}"


def _table(report: PairedReport, width: int) -> RenderableType:
    single = any(result.single is not None for result in report.results)
    columns = [
        Column("", numeric=False),
        Column("first"),
        Column("second"),
        Column("difference"),
        Column("95% interval", numeric=False),
        Column("p"),
        Column("Holm"),
        Column("BH", optional=True),
        Column("won/lost", numeric=False),
        *([Column("McNemar", optional=True)] if single else []),
        Column("MDE"),
    ]
    rows = []
    for result in report.results:
        found = result.comparison
        row = [
            Text(safe(_row_name(result))),
            Text(rate(result.first.success.value)),
            Text(rate(result.second.success.value)),
            Text(signed(found.difference.value), style="bold"),
            Text(interval(found.difference)),
            Text(p_value(found.p_value)),
            Text(p_value(found.p_adjusted)),
            Text(p_value(result.p_fdr)),
            Text(f"{found.better}/{found.worse} of {found.difference.tasks}"),
        ]
        row += [Text(p_value(result.single.p_value if result.single else None))] if single else []
        rows.append([*row, Text(rate(found.detectable))])
    return grid_and_line(columns, rows, width)


def _row_name(result: PairedResult) -> str:
    first, second = arm_name(result.first.arm), arm_name(result.second.arm)
    return first if first == second else f"{first} - {second}"


def _changes(result: PairedResult, width: int) -> list[RenderableType]:
    changes = result.comparison.changes
    if not changes:
        return []
    shown = sorted(changes, key=lambda change: (-abs(change.first - change.second), change.task))[:_TASKS]
    columns = [
        Column(f"{_row_name(result)}: tasks that changed", numeric=False),
        Column("first"),
        Column("second"),
        Column("difference"),
        Column("trials", numeric=False),
    ]
    table = grid(columns, [_change(change) for change in shown], width)
    more = len(changes) - len(shown)
    rest = [Text(f"and {plural(more, 'more task')} (--json has all)", style="dim")] if more else []
    return [Text(""), table, *rest]


def _change(change: Change) -> list[Text]:
    size = change.first - change.second
    return [
        Text(safe(change.task)),
        Text(rate(change.first)),
        Text(rate(change.second)),
        Text(signed(size), style="green" if size > 0 else "red"),
        Text(f"{change.trials[0]} and {change.trials[1]}"),
    ]


def _method(report: PairedReport) -> str:
    family = max((result.comparison.family for result in report.results), default=0)
    return (
        "Paired by task, first minus second. p: exact sign-flip test over tasks; Holm and BH over"
        f" {plural(family, 'comparison')}. {DETECTABLE} Seed {report.seed}."
    )
