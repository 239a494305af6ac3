"""What goes with success, and whom skills harm, at a terminal."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.text import Text

from workbench.core.terminal import safe
from workbench.reporting.drawing import Column, grid
from workbench.reporting.numbers import Estimate
from workbench.reporting.schema import ArmSummary, Block, Given
from workbench.reporting.wording import arm_name, by_chance, interval, met, plural, rate, signed, wrapped

_NAMED = 6


def given(block: Block, width: int) -> RenderableType | None:
    """Success by how much of the gold was given and loaded, where trials differ in that."""
    rows = [
        _row(arm, found)
        for arm in block.arms
        for found in arm.given
        if len({other.state for other in arm.given if other.kind == found.kind}) > 1
    ]
    if not rows:
        return None
    columns = [
        Column("", numeric=False),
        Column("gold skills", numeric=False),
        Column("success"),
        Column("95% interval", numeric=False),
        Column("tasks"),
        Column("trials"),
    ]
    return grid(columns, rows, width)


def agreement(block: Block, width: int) -> RenderableType | None:
    """Kendall's tau of every routing metric with success over the routed arms."""
    columns = [
        Column("", numeric=False),
        Column("tau"),
        Column("95% interval", numeric=False),
        Column("routed arms"),
        Column("tasks"),
    ]
    rows = [
        [
            Text(found.metric),
            Text(signed(found.tau.value), style="bold"),
            Text(interval(found.tau) or found.tau.reason or "-"),
            Text(str(found.routers)),
            Text(str(found.tau.tasks)),
        ]
        for found in block.agreement
        if found.tau.value is not None
    ]
    return grid(columns, rows, width) if rows else None


def harm(block: Block, width: int) -> RenderableType | None:
    """Tasks that an arm solved less often than no skills did, the worst first, beside what chance does."""
    lines = [line for arm in block.arms if (line := _harm(arm, width)) is not None]
    return Group(*lines) if lines else None


def _harm(arm: ArmSummary, width: int) -> Text | None:
    if arm.vs_none is None or not arm.vs_none.worse:
        return None
    worse = [change for change in arm.vs_none.changes if change.first < change.second]
    parts = [f"{safe(c.task)} {signed(c.first - c.second)} ({c.trials[0]}, {c.trials[1]})" for c in worse]
    more = f" and {len(parts) - _NAMED} more (--json has all)" if len(parts) > _NAMED else ""
    name = safe(arm_name(arm.arm))
    size = f"{plural(len(worse), 'task')}, {by_chance(arm.vs_none)}"
    line = Text(wrapped(f"{name}: {size}: {', '.join(parts[:_NAMED])}{more}", width))
    line.stylize("cyan", 0, len(name))
    return line


def _row(arm: ArmSummary, found: Given) -> list[Text]:
    return [
        Text(safe(arm_name(arm.arm)), style="cyan"),
        Text(met(found)),
        Text(rate(found.success.value), style="bold"),
        _interval(found.success),
        Text(str(found.success.tasks)),
        Text(str(found.trials)),
    ]


def _interval(found: Estimate) -> Text:
    return Text(interval(found) or "-")
