"""What the evidence says: success, differences, where trials ended, repeated trials."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from workbench.core.types import ConditionName, FunnelStage
from workbench.reporting.findings import if_missing, stands
from workbench.reporting.numbers import Comparison, Estimate, PassEstimate
from workbench.reporting.page.markup import Content, Html, el
from workbench.reporting.page.plots import (
    RATE,
    Scale,
    axis,
    curves,
    interval,
    signed_scale,
    stack,
)
from workbench.reporting.page.table import Cell, Head, Row, numbers, table
from workbench.reporting.schema import ArmSummary, Block, Summary
from workbench.reporting.wording import (
    BY_CHANCE,
    DETECTABLE,
    UNCORRECTED,
    arm_name,
    missing_range,
    own_size,
    p_value,
    percent,
    percent_interval,
    plural,
    rate,
    share_range,
    signed,
    stages,
)
from workbench.reporting.wording import interval as interval_of

_INTERVAL = Head("95% interval", numeric=False, hint="sorts by the lower end")
_PLACES = ("suite", "model", "agent")


def tone(condition: ConditionName) -> str:
    """The CSS class that colours a treatment."""
    return f"tone-{condition}"


def named(arm: ArmSummary) -> Cell:
    """An arm's name with its colour."""
    return Cell([el("i", "", class_=f"swatch {tone(arm.condition)}"), _wrapping(arm_name(arm.arm))])


def _wrapping(name: str) -> Html:
    """A name that may break over lines where a table is narrow."""
    return el("span", name, class_="wrap")


def section(title: str, lead: Content, *content: Content) -> Html:
    """A section under a heading, with one sentence on how to read it."""
    return el("section", el("h3", title), el("p", lead, class_="lead"), content)


def overview(summary: Summary) -> Html | None:
    """Every arm of every block in one table, where there are several blocks."""
    if len(summary.blocks) < 2:
        return None
    varying = [name for name in _PLACES if len({getattr(b, name) for b in summary.blocks}) > 1]
    heads = [
        *(Head(name.capitalize(), numeric=False) for name in varying),
        Head("Arm", numeric=False),
        Head(axis(RATE), numeric=False, sortable=False),
        Head("Success"),
        _INTERVAL,
        Head("Over none", hint="paired by task, with its 95% interval and the tasks that both arms scored"),
        Head("p", hint="exact sign-flip test over none, after Holm's correction (raw in brackets)"),
        Head("Scored"),
    ]
    rows = [_overview(block, arm, varying) for block in summary.blocks for arm in block.arms]
    lead = "All models, agents and suites side by side; each is taken apart below."
    return section("Overview", lead, table("Success of every arm", heads, rows, key="overview"))


def _overview(block: Block, arm: ArmSummary, varying: Sequence[str]) -> Row:
    over = arm.vs_none
    return [
        *(_wrapping(getattr(block, name)) for name in varying),
        named(arm),
        interval(arm.success, RATE, tone(arm.condition)),
        *numbers(arm.success, rate(arm.success.value)),
        _over(over.difference) if over else "",
        _tested(over) if over else "",
        Cell(f"{arm.scored}/{arm.planned}", arm.scored),
    ]


def _over(found: Estimate) -> Cell:
    size = plural(found.tasks, "task")
    return Cell(
        [el("b", signed(found.value)), el("br"), el("small", f"{interval_of(found)} {size}")], found.value
    )


def success(block: Block) -> Html:
    """Every arm's success with its interval, and the bounds that missing trials leave."""
    partial = any(arm.scored < arm.planned for arm in block.arms)
    heads = [
        Head("Arm", numeric=False),
        Head(axis(RATE), numeric=False, sortable=False),
        Head("Mean reward" if block.fractional else "Success"),
        _INTERVAL,
        Head("Tasks"),
        Head("Trials scored"),
        *([Head("If missing failed, passed", numeric=False)] if partial else []),
        *([Head("Mean over sets", hint="each subset of the suite counts alike")] if _subsets(block) else []),
        Head("Within tasks", hint="share of the variance that lies between trials of one task"),
    ]
    lead = "Mean over tasks of the mean over trials. Bars are 95% intervals clustered by task" + (
        "; thin lines run from all missing trials failed to all passed." if partial else "."
    )
    rows = [_success(arm, partial, _subsets(block)) for arm in block.arms]
    return section("Success", lead, table("Success by arm", heads, rows))


def _subsets(block: Block) -> bool:
    """Whether the suite has subsets."""
    return any(arm.macro is not None for arm in block.arms)


def _success(arm: ArmSummary, partial: bool, subsets: bool) -> Row:
    bounds = (arm.lowest, arm.highest)
    missing = [Cell(f"{rate(arm.lowest)}, {rate(arm.highest)}", arm.lowest)] if partial else []
    return [
        named(arm),
        interval(arm.success, RATE, tone(arm.condition), bounds),
        *numbers(arm.success, rate(arm.success.value)),
        Cell(arm.success.tasks, arm.success.tasks),
        Cell(f"{arm.scored:,} of {arm.planned:,}", arm.scored),
        *missing,
        *([_macro(arm)] if subsets else []),
        _within(arm.within),
    ]


def _within(found: Estimate) -> Cell:
    if found.value is None:
        return Cell("-")
    return Cell([el("b", percent(found.value)), el("br"), _aside(found)], found.value)


def _macro(arm: ArmSummary) -> Cell:
    if arm.macro is None:
        return Cell("-")
    return Cell([el("b", rate(arm.macro.value)), el("br"), el("small", _bounds(arm.macro))], arm.macro.value)


def differences(block: Block) -> Html | None:
    """Every comparison: drawn, tested, corrected, and what could have been seen."""
    pairs = [(arm, c) for arm in block.arms for c in (arm.vs_none, arm.vs_gold) if c is not None]
    if not pairs:
        return None
    missing = any(c.bounds is not None for _, c in pairs)
    scale = signed_scale(c.difference for _, c in pairs if c.difference.tasks)
    heads = [
        Head("Comparison", numeric=False),
        Head(axis(scale), numeric=False, sortable=False),
        Head("Difference"),
        _INTERVAL,
        Head("p", hint="exact sign-flip test, after Holm's correction (raw in brackets)"),
        Head("Won, lost", hint="tasks with the higher, the lower mean"),
        Head("Tasks"),
        Head("MDE", hint="least difference this design finds with 80% power"),
        Head("Gold gap closed", numeric=False),
    ]
    rows = [_difference(arm, c, scale) for arm, c in pairs]
    lead = (
        "Paired by task, on tasks that both arms scored. p: exact sign-flip test after Holm's correction, raw"
        f" in brackets. {UNCORRECTED} {DETECTABLE}" + (f" {BY_CHANCE} Thin lines show it." if missing else "")
    )
    return section("Differences", lead, table("Differences between arms", heads, rows))


def _difference(arm: ArmSummary, found: Comparison, scale: Scale) -> Row:
    name = [named(arm).content, el("small", f" over {arm_name(found.baseline)}"), _open(found)]
    least = Cell(rate(found.detectable), found.detectable)
    bounds = None if found.bounds is None else (found.bounds.lowest, found.bounds.highest)
    return [
        Cell(name),
        interval(found.difference, scale, tone(arm.condition), bounds),
        *numbers(found.difference, signed(found.difference.value)),
        _tested(found),
        Cell(f"{found.better}, {found.worse}", found.better - found.worse),
        found.difference.tasks,
        least,
        _closed(arm) if found is arm.vs_none else "",
    ]


def _open(found: Comparison) -> Html | None:
    """What the trials not scored leave open, or why nothing could be compared."""
    if not found.difference.tasks:
        text = f"{found.difference.reason}; stays in the family of {found.family}"
    elif found.bounds is None:
        return None
    else:
        doubt = "" if stands(found) else f"; {if_missing(found)}"
        text = f"if missing: {missing_range(found.bounds)}{doubt}"
    return Html(el("br") + el("span", text, class_="reason"))


def _tested(found: Comparison) -> Cell:
    """The corrected p, and the raw one where they differ."""
    shown, plain = p_value(found.p_adjusted), p_value(found.p_value)
    raw = f" ({plain})" if plain != shown else ""
    return Cell([el("b", shown), el("small", raw)], found.p_adjusted)


def _closed(arm: ArmSummary) -> Cell:
    if arm.gap is None:
        return Cell("")
    share = arm.gap.share
    if share.value is None or share.low is None:
        return Cell(el("span", share.reason, class_="reason"), share.value)
    open_to = [el("br"), el("small", f"if missing: {shares}")] if (shares := share_range(arm.gap)) else []
    size = own_size(share, arm.vs_none.difference) if arm.vs_none is not None else ""
    return Cell([el("b", percent(share.value)), f" {percent_interval(share)}{size}", *open_to], share.value)


def funnel(block: Block) -> Html | None:
    """Where scored trials ended: a bar, and every stage's count, share and interval."""
    arms = [arm for arm in block.arms if arm.condition != "none" and any(arm.funnel.values())]
    if not arms:
        return None
    bars = [
        Head("Arm", numeric=False),
        Head("Scored trials by where they ended", numeric=False, sortable=False),
        Head("Trials"),
    ]
    known = stages(arms)
    drawn: list[Row] = [[named(arm), stack(_counts(arm, known)), sum(arm.funnel.values())] for arm in arms]
    heads = [Head("Arm", numeric=False), *(Head(_stage_title(*item)) for item in known.items())]
    rows: list[Row] = [[named(arm), *(_share(arm, stage) for stage in known)] for arm in arms]
    lead = "At which step the gold skills were lost: in the pool, routed, shown, loaded, and then used well."
    if all(arm.blind for arm in arms):
        lead = (
            "At which step the gold skills were lost: in the pool, routed, and then used well. This agent is "
            "told of no skills, so none is shown or loaded."
        )
    return section(
        "Where trials ended",
        lead,
        legend(known),
        table("Trials by stage, drawn", bars, drawn),
        table("Trials by stage, with shares and 95% intervals", heads, rows),
    )


def legend(known: Mapping[FunnelStage, str]) -> Html:
    """The colours of the stages."""
    items = [el("li", el("i", "", class_=f"swatch stage-{stage}"), name) for stage, name in known.items()]
    return el("ul", items, class_="legend")


def _counts(arm: ArmSummary, known: Iterable[FunnelStage]) -> list[tuple[FunnelStage, int]]:
    return [(stage, arm.funnel.get(stage, 0)) for stage in known]


def _stage_title(stage: FunnelStage, name: str) -> list[Content]:
    return [el("i", "", class_=f"swatch stage-{stage}"), name]


def _share(arm: ArmSummary, stage: FunnelStage) -> Cell:
    count, share = arm.funnel.get(stage, 0), arm.stages[stage]
    if not count or share.value is None:
        return Cell(el("span", "-", class_="reason"), 0)
    return Cell([el("b", count), " ", percent(share.value), el("br"), _aside(share)], count)


def _aside(share: Estimate) -> Html:
    return el("small", percent_interval(share))


def passes(block: Block) -> Html | None:
    """pass@k and pass^k as curves and as a table."""
    arms = [arm for arm in block.arms if arm.passes]
    most = max((found.k for arm in arms for found in arm.passes), default=0)
    if most < 2:
        return None
    ks = range(1, most + 1)
    kinds = (("any", "pass@"), ("all", "pass^"))
    heads = [
        Head("Arm", numeric=False),
        Head("", numeric=False, sortable=False),
        *(Head(f"k = {k}") for k in ks),
    ]
    rows = [_passes(arm, kind, sign, ks) for arm in arms for kind, sign in kinds]
    lead = (
        "pass@k (solid): at least one of k trials passes. pass^k (dashed): all of them do. Unbiased"
        " estimates; a range instead of a number counts trials not scored as failed, as passed."
    )
    drawn = curves([(arm_name(arm.arm), tone(arm.condition), arm.passes) for arm in arms])
    figure = el("figure", drawn, class_="scroll")
    return section("Over repeated trials", lead, figure, table("pass@k and pass^k", heads, rows))


def _passes(arm: ArmSummary, kind: str, sign: str, ks: Iterable[int]) -> Row:
    found = {p.k: p for p in arm.passes if p.kind == kind}
    return [named(arm), f"{sign}k", *(_pass(found.get(k)) for k in ks)]


def _pass(found: PassEstimate | None) -> Cell:
    if found is None:
        return Cell("")
    if found.estimate.value is None:
        return Cell(f"{rate(found.lowest)} to {rate(found.highest)}", found.lowest)
    span = el("small", _bounds(found.estimate))
    return Cell([el("b", rate(found.estimate.value)), el("br"), span], found.estimate.value)


def _bounds(found: Estimate) -> str:
    return "" if found.low is None else f"[{rate(found.low)}, {rate(found.high)}]"


def verdict(block: Block) -> list[Html]:
    """The sentences, and what must be known before believing them."""
    said: Sequence[Html] = [el("p", sentence) for sentence in block.headline]
    flags = [el("li", flag) for flag in block.flags]
    return [
        el("div", said, class_="verdict"),
        *([el("ul", flags, class_="flags", aria_label="Before you believe it")] if flags else []),
    ]
