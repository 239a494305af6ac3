"""What the evidence says: success, differences, where trials ended, repeated trials."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from workbench.core.types import FunnelStage
from workbench.reporting.findings import if_missing, stands
from workbench.reporting.numbers import Comparison, Estimate, PassEstimate
from workbench.reporting.page.figures import Line, curves, figure
from workbench.reporting.page.markup import Content, Html, el
from workbench.reporting.page.plots import RATE, Scale, axis, interval, signed_scale, stack
from workbench.reporting.page.table import Cell, Head, Row, numbers, table, wrapping
from workbench.reporting.page.view import View, differing, place
from workbench.reporting.schema import ArmSummary, Block, Summary
from workbench.reporting.wording import (
    APPROXIMATE,
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
    takes,
)
from workbench.reporting.wording import interval as interval_of

_INTERVAL = Head("95% interval", numeric=False, hint="sorts by the lower end")


def section(title: str, lead: Content, *content: Content) -> Html:
    """A section of the page under a heading, with one sentence on how to read it."""
    return el("section", el("h2", title), el("p", lead, class_="lead"), content)


def part(title: str, lead: Content, *content: Content) -> Html:
    """A section of a block."""
    return el("section", el("h3", title), el("p", lead, class_="lead"), content)


def overview(summary: Summary, shown: Sequence[View]) -> Html | None:
    """Every arm of every block in one table, where there are several blocks."""
    if len(shown) < 2:
        return None
    varying = differing(summary)
    heads = [
        *(Head(name.capitalize(), numeric=False) for name in varying),
        Head("Arm", numeric=False),
        Head(axis(RATE), numeric=False, sortable=False),
        Head("Success"),
        _INTERVAL,
        Head("Over none", hint="paired by task, with its 95% interval and the tasks that both arms scored"),
        Head("p", hint="exact sign-flip test over none, after Holm's correction; below: raw"),
        Head("Scored"),
    ]
    rows = [_overview(view, arm, varying) for view in shown for arm in view.block.arms]
    lead = "All models, agents and suites side by side; each is taken apart below."
    return section("Overview", lead, table("Success of every arm", heads, rows, key="overview"))


def _overview(view: View, arm: ArmSummary, varying: Sequence[str]) -> Row:
    over = arm.vs_none
    return [
        *(wrapping(place(view.block, name)) for name in varying),
        view.named(arm),
        interval(arm.success, RATE, view.look(arm)),
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


def success(view: View) -> Html:
    """Every arm's success with its interval, and the bounds that missing trials leave."""
    block = view.block
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
    rows = [_success(view, arm, partial) for arm in block.arms]
    return part("Success", lead, table(view.caption("Success by arm"), heads, rows))


def _subsets(block: Block) -> bool:
    """Whether the suite has subsets."""
    return any(arm.macro is not None for arm in block.arms)


def _success(view: View, arm: ArmSummary, partial: bool) -> Row:
    bounds = (arm.lowest, arm.highest)
    missing = [Cell(f"{rate(arm.lowest)}, {rate(arm.highest)}", arm.lowest)] if partial else []
    return [
        view.named(arm),
        interval(arm.success, RATE, view.look(arm), bounds),
        *numbers(arm.success, rate(arm.success.value)),
        Cell(arm.success.tasks, arm.success.tasks),
        Cell(f"{arm.scored:,} of {arm.planned:,}", arm.scored),
        *missing,
        *([_macro(arm)] if _subsets(view.block) else []),
        _within(arm.within),
    ]


def _within(found: Estimate) -> Cell:
    if found.value is None:
        return Cell("-", None)
    span = f"{percent_interval(found)} {plural(found.tasks, 'task')}"
    return Cell([el("b", percent(found.value)), el("br"), el("small", span)], found.value)


def _macro(arm: ArmSummary) -> Cell:
    if arm.macro is None:
        return Cell("-", None)
    span = f"{_bounds(arm.macro)} {plural(arm.macro.tasks, 'task')}"
    return Cell([el("b", rate(arm.macro.value)), el("br"), el("small", span)], arm.macro.value)


def differences(view: View) -> Html | None:
    """Every comparison: drawn, tested, corrected, and what could have been seen."""
    block = view.block
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
        Head("p", hint="exact sign-flip test after Holm; below: raw, and after Benjamini and Hochberg"),
        Head("Won, lost", hint="tasks with the higher, the lower mean"),
        Head("Tasks"),
        Head("MDE", hint="least difference this design finds with 80% power"),
        Head("Gold gap closed", numeric=False),
    ]
    rows = [_difference(view, arm, c, scale) for arm, c in pairs]
    sure = UNCORRECTED if any(c.family > 1 for _, c in pairs) else APPROXIMATE
    lead = (
        "Paired by task, on tasks that both arms scored. p: exact sign-flip test after Holm's correction,"
        f" below it raw and Benjamini-Hochberg's. {sure} {DETECTABLE}"
        + (f" {BY_CHANCE} Thin lines show it." if missing else "")
    )
    drawn = table(view.caption("Differences between arms"), heads, rows)
    return part("Differences", lead, drawn, [el("p", line, class_="lead") for line in takes(block.arms)])


def _difference(view: View, arm: ArmSummary, found: Comparison, scale: Scale) -> Row:
    name = [view.named(arm), el("small", f" over {arm_name(found.baseline)}"), _open(found)]
    least = Cell(rate(found.detectable), found.detectable)
    bounds = None if found.bounds is None else (found.bounds.lowest, found.bounds.highest)
    return [
        name,
        interval(found.difference, scale, view.look(arm), bounds),
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
    others = [f"raw {plain}"] if plain != shown else []
    others += [f"BH {p_value(found.p_fdr)}"] if found.p_fdr is not None and found.family > 1 else []
    lines = [part for line in others for part in (el("br"), el("small", line))]
    return Cell([el("b", shown), *lines], found.p_adjusted)


def _closed(arm: ArmSummary) -> Cell:
    if arm.gap is None:
        return Cell("", None)
    share = arm.gap.share
    if share.value is None or share.low is None:
        return Cell(el("span", share.reason, class_="reason"), share.value)
    open_to = [el("br"), el("small", f"if missing: {shares}")] if (shares := share_range(arm.gap)) else []
    size = own_size(share, arm.vs_none.difference) if arm.vs_none is not None else ""
    return Cell([el("b", percent(share.value)), f" {percent_interval(share)}{size}", *open_to], share.value)


def funnel(view: View) -> Html | None:
    """Where scored trials ended: a bar, and every stage's count, share and interval."""
    arms = [arm for arm in view.block.arms if arm.condition != "none" and any(arm.funnel.values())]
    if not arms:
        return None
    bars = [
        Head("Arm", numeric=False),
        Head("Scored trials by where they ended", numeric=False, sortable=False),
        Head("Trials"),
    ]
    known = stages(arms)
    drawn: list[Row] = [
        [view.named(arm), stack(_counts(arm, known)), sum(arm.funnel.values())] for arm in arms
    ]
    heads = [
        Head("Arm", numeric=False),
        *(Head(_stage_title(*item)) for item in known.items()),
        Head("Trials"),
        Head("Tasks"),
    ]
    rows: list[Row] = [
        [view.named(arm), *(_share(arm, stage) for stage in known), sum(arm.funnel.values()), _tasks(arm)]
        for arm in arms
    ]
    lead = "At which step the gold skills were lost: in the pool, routed, shown, loaded, and then used well."
    if all(arm.blind for arm in arms):
        lead = (
            "At which step the gold skills were lost: in the pool, routed, and then used well. This agent is "
            "told of no skills, so none is shown or loaded."
        )
    return part(
        "Where trials ended",
        lead,
        legend(known),
        table(view.caption("Trials by stage, drawn"), bars, drawn),
        table(view.caption("Trials by stage, with shares and 95% intervals"), heads, rows),
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
    """A stage's count and share; a count of 0 is one, and has an interval too."""
    count, share = arm.funnel.get(stage, 0), arm.stages[stage]
    if share.value is None:
        return Cell(el("span", share.reason or "-", class_="reason"), None)
    return Cell([el("b", count), " ", percent(share.value), el("br"), _aside(share)], count)


def _tasks(arm: ArmSummary) -> int:
    return max(share.tasks for share in arm.stages.values())


def _aside(share: Estimate) -> Html:
    return el("small", percent_interval(share))


def passes(view: View) -> Html | None:
    """pass@k and pass^k as curves and as a table."""
    arms = [arm for arm in view.block.arms if arm.passes]
    most = max((found.k for arm in arms for found in arm.passes), default=0)
    if most < 2:
        return None
    ks = range(1, most + 1)
    kinds = (("any", "pass@"), ("all", "pass^"))
    heads = [
        Head("Arm", numeric=False),
        Head("Of k trials", numeric=False),
        Head("Tasks"),
        *(Head(f"k = {k}") for k in ks),
    ]
    rows = [_passes(view, arm, kind, sign, ks) for arm in arms for kind, sign in kinds]
    lead = (
        "pass@k: at least one of k trials passes. pass^k: all of them do. Unbiased estimates, with their"
        " interval and tasks; a range instead of a number counts trials not scored as failed, as passed."
    )
    said = (
        "pass@k on the left, pass^k on the right, each line named where it ends. Where one ends before the"
        " last k, ranges stand in for numbers and are drawn upright."
    )
    drawn = curves([Line(arm_name(arm.arm), view.look(arm), arm.passes) for arm in arms])
    shown = figure(drawn, said, view.caption("pass@k and pass^k, drawn"))
    return part("Over repeated trials", lead, shown, table(view.caption("pass@k and pass^k"), heads, rows))


def _passes(view: View, arm: ArmSummary, kind: str, sign: str, ks: Iterable[int]) -> Row:
    found = {p.k: p for p in arm.passes if p.kind == kind}
    tasks = max((p.estimate.tasks for p in found.values()), default=0)
    return [view.named(arm), f"{sign}k", tasks, *(_pass(found.get(k), tasks) for k in ks)]


def _pass(found: PassEstimate | None, tasks: int) -> Cell:
    if found is None:
        return Cell("", None)
    size = fewer(found.estimate, tasks)
    if found.estimate.value is None:
        span = f"{rate(found.lowest)} to {rate(found.highest)}"
        return Cell([span, el("br"), el("small", size)], found.lowest)
    bounds = el("small", f"{_bounds(found.estimate)} {size}".strip())
    return Cell([el("b", rate(found.estimate.value)), el("br"), bounds], found.estimate.value)


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


def fewer(found: Estimate, tasks: int) -> str:
    """``(9 tasks)`` of a number that rests on other tasks than its row says, else empty."""
    return "" if found.tasks == tasks else f"({plural(found.tasks, 'task')})"
