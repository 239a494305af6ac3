"""The sections of the terminal report; each is ``None`` where it has nothing to say."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from rich.console import Group, RenderableType
from rich.text import Text

from workbench.core.terminal import safe
from workbench.core.types import ConditionName, FunnelStage
from workbench.reporting.drawing import (
    STAGE_STYLES,
    Column,
    Glyphs,
    grid,
    grid_and_line,
    interval_bar,
    natural_width,
    stacked_bar,
)
from workbench.reporting.findings import finding, holm_words, if_missing, stands
from workbench.reporting.numbers import Comparison, Estimate, GoldGap, PassEstimate
from workbench.reporting.schema import ArmSummary, Block, Exclusion, Summary
from workbench.reporting.wording import (
    BY_CHANCE,
    DETECTABLE,
    arm_name,
    ends,
    interval,
    measured,
    missing_range,
    own_size,
    p_value,
    percent,
    percent_interval,
    plural,
    rate,
    share_range,
    signed,
    spread,
    stages,
    takes,
    wrapped,
)

_STYLES: dict[ConditionName, str] = {"none": "default", "gold": "yellow", "routed": "cyan"}
_CAUSES = 3
_DETAIL = 300
_BARS = (11, 41)


def success_title(block: Block) -> str:
    """Says what the number is where rewards are not just 0 and 1."""
    return "Success (mean reward)" if block.fractional else "Success"


def success(block: Block, width: int, glyphs: Glyphs) -> RenderableType:
    """Every arm's success with interval, drawn, and what it is out of."""
    partial = any(arm.scored < arm.planned for arm in block.arms)
    macro = any(arm.macro is not None for arm in block.arms)
    columns = [
        Column("", numeric=False),
        Column("mean", label="success"),
        Column("95% interval", numeric=False),
        Column("scored"),
        *([Column("if missing", numeric=False, label="if missing fail, pass")] if partial else []),
        *([Column("macro", label="mean over subsets")] if macro else []),
    ]
    rows = [[*_success(arm, partial), *([Text(_macro(arm))] if macro else [])] for arm in block.arms]
    room = min(width - natural_width(columns, rows) - 2, _BARS[1])
    if room >= _BARS[0]:
        columns.insert(3, Column(f"0{'1':>{room - 1}}", numeric=False))
        for row, arm in zip(rows, block.arms, strict=True):
            row.insert(3, _bar(arm.success, room, glyphs, _STYLES[arm.condition]))
    return grid(columns, rows, width)


def differences(block: Block, width: int) -> RenderableType | None:
    """Every comparison with interval, p value, tasks won and lost, and what could be seen at all; below
    the table what could not be compared, and what trials not scored leave open."""
    rows = [row for arm in block.arms for row in _comparisons(arm)]
    remarks = [Text(wrapped(line, width), style="yellow") for arm in block.arms for line in _remarks(arm)]
    if not rows:
        return Group(*remarks) if remarks else None
    columns = [
        Column("", numeric=False),
        Column("mean", label="difference"),
        Column("95% interval", numeric=False),
        Column("p"),
        Column("won/lost", numeric=False),
        Column("gap closed", numeric=False, label="gold gap closed"),
        Column("MDE"),
    ]
    found = grid_and_line(columns, rows, width)
    return Group(found, *(Text(wrapped(line, width)) for line in takes(block.arms)), *remarks)


def funnel(block: Block, width: int, glyphs: Glyphs) -> RenderableType | None:
    """Scored trials of arms with skills by the stage they reached: a bar, counts, shares and intervals."""
    arms = [arm for arm in block.arms if arm.condition != "none" and any(arm.funnel.values())]
    if not arms:
        return None
    names = max(len(arm_name(arm.arm)) for arm in arms)
    room = max(10, min(60, width - names - 2))
    bars = [[name_of(arm), stacked_bar(arm.funnel, room, glyphs)] for arm in arms]
    known = stages(arms)
    columns = [Column("", numeric=False)]
    columns += [_stage_column(name, glyphs.stages[stage]) for stage, name in known.items()]
    rows = [[name_of(arm), *(_count(arm, stage) for stage in known)] for arm in arms]
    drawn = grid([Column("", numeric=False), Column("", numeric=False, optional=True)], bars, width)
    return Group(drawn, grid(columns, rows, width))


def passes(block: Block, width: int) -> RenderableType | None:
    """pass@k and pass^k for the largest k the plan allows, and how much trials of one task differ."""
    k = min((max((p.k for p in arm.passes), default=0) for arm in block.arms), default=0)
    if k < 2:
        return None
    wanted: list[tuple[Literal["any", "all"], int, str]] = [
        ("any", k, f"pass@{k}"),
        ("all", k, f"pass^{k}"),
    ]
    titles = [*(title for _, _, title in wanted), "variance within tasks"]
    columns = [Column("", numeric=False), *(Column(title, numeric=False) for title in titles)]
    rows = []
    for arm in block.arms:
        found = {(p.kind, p.k): p for p in arm.passes}
        passes = (_pass(found[kind, size]) for kind, size, _ in wanted)
        rows.append([name_of(arm), *passes, Text(spread(arm.within))])
    return Group(grid(columns, rows, width), *_ranges(block, k))


def exclusions(block: Block) -> RenderableType | None:
    """The most frequent causes with one trial each to look at."""
    causes: dict[str, list[tuple[ArmSummary, Exclusion]]] = {}
    for arm in block.arms:
        for exclusion in arm.exclusions:
            causes.setdefault(exclusion.cause, []).append((arm, exclusion))
    if not causes:
        return None
    ordered = sorted(causes.values(), key=lambda found: (-_trials(found), found[0][1].cause))
    parts = [line for found in ordered[:_CAUSES] for line in _cause(found)]
    if rest := sum(_trials(found) for found in ordered[_CAUSES:]):
        parts.append(
            Text(f"and {plural(rest, 'trial')} for other causes (--format json has all)", style="dim")
        )
    return Group(*parts)


def unreadable(summary: Summary) -> Iterator[RenderableType]:
    """Logs whose trials are missing from everything below."""
    for file in summary.logs.unreadable:
        yield Text(
            f"! cannot read {safe(file.path)}: {safe(file.reason)}; its trials are not counted", style="red"
        )


def notes(summary: Summary, width: int, glyphs: Glyphs) -> RenderableType:
    """How the numbers were made, and which files they come from."""
    lines = ["The task is the unit: trials are averaged within it, intervals are clustered score intervals."]
    comparisons = list(_all_comparisons(summary))
    if comparisons:
        lines.append(f"p: exact sign-flip test{holm_words(summary)}. {DETECTABLE}")
    if any(found.bounds for found in comparisons):
        lines.append(BY_CHANCE)
    logs = summary.logs
    parts = [f"{plural(len(logs.read), 'log')} read"]
    parts += [f"{plural(len(logs.foreign), 'other file')} ignored"] if logs.foreign else []
    parts += [f"{plural(logs.superseded, 'older or incomplete trial')} superseded"] if logs.superseded else []
    shown = [wrapped(line, width) for line in (*lines, f" {glyphs.dot} ".join(parts))]
    return Text("\n".join(shown), style="dim")


def _all_comparisons(summary: Summary) -> Iterator[Comparison]:
    for block in summary.blocks:
        for arm in block.arms:
            yield from (found for found in (arm.vs_none, arm.vs_gold) if found is not None)


def _success(arm: ArmSummary, partial: bool) -> list[Text]:
    row = [
        name_of(arm),
        Text(rate(arm.success.value), style="bold"),
        Text(interval(arm.success)),
        Text(f"{arm.scored}/{arm.planned}"),
    ]
    missing = arm.scored < arm.planned
    return [*row, Text(f"{rate(arm.lowest)}, {rate(arm.highest)}" if missing else "")] if partial else row


def _macro(arm: ArmSummary) -> str:
    return "-" if arm.macro is None else f"{rate(arm.macro.value)} {interval(arm.macro)}".rstrip()


def _comparisons(arm: ArmSummary) -> Iterator[list[Text]]:
    for comparison, base in ((arm.vs_none, "none"), (arm.vs_gold, "gold")):
        if comparison is not None and (tasks := comparison.difference.tasks):
            yield [
                Text.assemble(name_of(arm), (f" - {base}", "dim")),
                Text(signed(comparison.difference.value), style=_tone(comparison)),
                Text(interval(comparison.difference)),
                Text(p_value(comparison.p_adjusted)),
                Text(f"{comparison.better}/{comparison.worse} of {tasks}"),
                Text(_closed(arm) if base == "none" else ""),
                Text(rate(comparison.detectable)),
            ]


def _remarks(arm: ArmSummary) -> Iterator[str]:
    for comparison, base in ((arm.vs_none, "none"), (arm.vs_gold, "gold")):
        if comparison is None:
            continue
        name = f"{safe(arm_name(arm.arm))} - {base}"
        if not comparison.difference.tasks:
            stays = f", and stays in the family of {comparison.family}" if comparison.family > 1 else ""
            yield f"{name}: {safe(comparison.difference.reason or '')}{stays}"
        elif comparison.bounds is not None:
            yield f"{name} {_open(comparison, arm.gap if base == 'none' else None)}"


def _open(comparison: Comparison, gap: GoldGap | None) -> str:
    """What the missing trials leave open of one comparison."""
    shares = f"; gold gap closed {found}" if (found := share_range(gap)) else ""
    doubt = "" if stands(comparison) else f"; ! {if_missing(comparison)}"
    return f"if missing: {missing_range(comparison.bounds)}{shares}{doubt}"


def _pass(found: PassEstimate) -> Text:
    """The estimate, or the range that the trials not scored leave open."""
    if found.estimate.value is not None:
        return Text(measured(rate(found.estimate.value), interval(found.estimate), found.estimate.tasks))
    return Text(f"{rate(found.lowest)} to {rate(found.highest)} ({found.estimate.tasks})")


def _ranges(block: Block, k: int) -> Iterator[Text]:
    short = sorted(
        {task for arm in block.arms for found in arm.passes if found.k <= k for task in found.short}
    )
    if short:
        listed = ", ".join(safe(task) for task in short[:6]) + (", ..." if len(short) > 6 else "")
        yield Text(
            f"A range counts trials not scored as failed, as passed. Tasks short of trials: {listed}",
            style="dim",
        )


def _tone(comparison: Comparison) -> str:
    """Green or red only where a difference is found, whatever the missing trials were."""
    kind = finding(comparison) if stands(comparison) else "unclear"
    return {"better": "bold green", "worse": "bold red", "unclear": "bold"}[kind]


def _closed(arm: ArmSummary) -> str:
    if arm.gap is None:
        return ""
    share = arm.gap.share
    if share.value is None or share.low is None or arm.vs_none is None:
        return "not estimable"
    return f"{percent(share.value)} {percent_interval(share)}{own_size(share, arm.vs_none.difference)}"


def _count(arm: ArmSummary, stage: FunnelStage) -> Text:
    count, share = arm.funnel.get(stage, 0), arm.stages[stage]
    if not count or share.value is None:
        return Text("-", style="bright_black")
    shown = Text.assemble((str(count), STAGE_STYLES[stage]), f" {percent(share.value):>4}")
    return shown.append(f"\n{percent_interval(share)}", style="bright_black")


def _stage_column(name: str, glyph: str) -> Column:
    above, _, below = name.rpartition(" ")
    return Column(f"{above}\n{glyph} {below}", label=f"{glyph} {name}")


def _bar(found: Estimate, width: int, glyphs: Glyphs, style: str) -> Text:
    if found.value is None:
        return Text("")
    low = found.value if found.low is None else found.low
    high = found.value if found.high is None else found.high
    return interval_bar(found.value, low, high, width, glyphs, style)


def _trials(found: list[tuple[ArmSummary, Exclusion]]) -> int:
    return sum(exclusion.count for _, exclusion in found)


def _cause(found: list[tuple[ArmSummary, Exclusion]]) -> Iterator[Text]:
    example = found[0][1]
    detail = safe(ends(" ".join(example.detail.split()), _DETAIL))
    arms = ", ".join(f"{safe(arm_name(arm.arm))} {exclusion.count}" for arm, exclusion in found)
    yield Text.assemble((f"{_trials(found)} ", "bold"), (safe(example.cause), "red"), f": {arms}")
    yield Text(f"  e.g. {safe(example.example)} trial {example.epoch}: {detail or 'no detail'}")
    yield Text(f"  {safe(example.log)}", style="dim", overflow="fold")


def name_of(arm: ArmSummary) -> Text:
    """An arm's name in the colour of its treatment."""
    return Text(safe(arm_name(arm.arm)), style=_STYLES[arm.condition])
