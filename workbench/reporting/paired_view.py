"""How a paired report is shown at a terminal: a sentence per comparison, a table, the tasks that changed."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.text import Text

from workbench.core.terminal import safe
from workbench.reporting.drawing import Column, grid, grid_and_line
from workbench.reporting.numbers import Change
from workbench.reporting.paired import PairedReport, PairedResult
from workbench.reporting.paired_words import aside, cautions, further, method, row_name, sentence, settings
from workbench.reporting.wording import interval, p_value, plural, rate, signed, wrapped

_TASKS = 12


def build(report: PairedReport, width: int) -> RenderableType:
    """The report as something rich can print."""
    parts: list[RenderableType] = []
    for result in report.results:
        style = "default" if result.baseline else "bold"
        parts += [
            Text(wrapped(safe(sentence(result)), width), style=style),
            *_below(result, report.margin, width),
        ]
    parts += [Text(wrapped(f"! {safe(line)}", width), style="yellow") for line in aside(report)]
    parts += [Text(""), _table(report, width), *_unlike(report, width)]
    for result in report.results:
        parts += _changes(result, width)
    parts += [Text(""), Text(wrapped(method(report), width), style="dim")]
    return Group(*parts)


def _below(result: PairedResult, margin: float | None, width: int) -> Iterator[Text]:
    """What is said below a sentence."""
    for style, lines in (("default", further(result, margin)), ("yellow", cautions(result))):
        for line in lines:
            yield Text("  " + wrapped(line, width - 2).replace("\n", "\n  "), style=style)


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
            Text(safe(row_name(result))),
            Text(rate(result.first.success.value)),
            Text(rate(result.second.success.value)),
            Text(signed(found.difference.value), style="bold"),
            Text(interval(found.difference)),
            Text(p_value(found.p_value)),
            Text(p_value(found.p_adjusted)),
            Text(p_value(found.p_fdr)),
            Text(f"{found.better}/{found.worse} of {found.difference.tasks}"),
        ]
        row += [Text(p_value(result.single.p_value if result.single else None))] if single else []
        rows.append([*row, Text(rate(found.detectable))])
    return grid_and_line(columns, rows, width)


def _unlike(report: PairedReport, width: int) -> list[RenderableType]:
    rows = [[Text(safe(part)) for part in row] for row in settings(report)]
    names = ("what else differs", "first", "second", "in")
    return [Text(""), grid([Column(name, numeric=False) for name in names], rows, width)] if rows else []


def _changes(result: PairedResult, width: int) -> list[RenderableType]:
    changes = result.comparison.changes
    if not changes:
        return []
    shown = sorted(changes, key=lambda change: (-abs(change.first - change.second), change.task))[:_TASKS]
    columns = [
        Column(f"{row_name(result)}: tasks that changed", numeric=False),
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
