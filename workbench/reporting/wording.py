"""How numbers and arms are written, in all reports alike. Plain ASCII, so that it survives any pipe."""

from __future__ import annotations

import re
from collections.abc import Iterable

from workbench.core.terminal import filled, safe
from workbench.core.types import FUNNEL, FunnelStage, stage_name
from workbench.reporting.numbers import Bounds, Comparison, Estimate, GoldGap, Needed
from workbench.reporting.schema import ArmSummary, FrontPoint, Given

_HELD = "\u00a0"
"""Stands for a space at which no line ends."""


HARM = "Tasks that fell with skills, and how many would by chance (mean with minus without; trials of both)"
DETECTABLE = (
    "MDE: the least difference this design finds with 80% power, all corrected for "
    "(-: none, or unknown as all tasks differ alike)."
)
PRICES = {"cost_usd": "cost", "tokens": "tokens", "seconds": "seconds"}
WORTH = (
    "On the front: by the estimates, no other arm is as good and costs no more; else an arm is dominated. "
    "Compared with the best arm that costs no more, on the tasks of both; within error: the 95% interval, "
    "not corrected, holds 0."
)
UNCORRECTED = "Intervals are not corrected, so one may exclude 0 where p finds nothing: p decides."
AGREEMENT = "Which routing metric orders the routers as success does (1: alike, -1: reversed)"
APPROXIMATE = "Intervals are approximate: where one excludes 0 and p finds nothing, p decides."
BY_CHANCE = (
    "If missing: the range on all planned tasks, were the trials not scored to go against the first arm, "
    "or for it."
)


def arm_name(label: str) -> str:
    """What people call an arm: ``routed-bm25 k=5`` is ``bm25 k=5``; ``none`` and ``gold`` stay."""
    return label.removeprefix("routed-")


def stages(arms: Iterable[ArmSummary]) -> dict[FunnelStage, str]:
    """The stages at which trials of these arms can end, best first, each with its name."""
    blind = all(arm.blind for arm in arms if arm.condition != "none")
    apply = [s for s in reversed(FUNNEL) if not (blind and s in {"not_shown", "not_loaded"})]
    return {stage: stage_name(stage, blind=blind) for stage in apply}


def rate(value: float | None) -> str:
    """``0.58``; ``-`` where there is none."""
    return "-" if value is None else f"{value:.2f}"


def signed(value: float | None) -> str:
    """``+0.58``; a value that rounds to zero is ``0.00``."""
    if value is None:
        return "-"
    text = f"{value:+.2f}"
    return "0.00" if text in {"+0.00", "-0.00"} else text


def percent(value: float) -> str:
    """``82%``."""
    return f"{_whole(value)}%"


def p_value(value: float | None) -> str:
    """``0.002``, ``< 0.001``, ``1``."""
    if value is None:
        return "-"
    if value < 0.001:
        return "< 0.001"
    return f"{value:.3f}" if value < 0.0995 else f"{value:.2f}".removesuffix(".00")


def interval(estimate: Estimate) -> str:
    """``[0.33, 0.83]``, empty where there is none."""
    if estimate.low is None or estimate.high is None:
        return ""
    return f"[{signed_zero(estimate.low)}, {signed_zero(estimate.high)}]"


def percent_interval(estimate: Estimate) -> str:
    """``[61, 97]``, empty where there is none."""
    if estimate.low is None or estimate.high is None:
        return ""
    return f"[{_whole(estimate.low)}, {_whole(estimate.high)}]"


def own_size(share: Estimate, beside: Estimate) -> str:
    """`` (20 tasks)`` of a share that rests on other tasks than the difference beside it, else empty."""
    return f" ({plural(share.tasks, 'task')})" if share.tasks != beside.tasks else ""


def share_range(gap: GoldGap | None) -> str:
    """``67 to 100%``, the share of the gold gap with what is missing; empty where no trial is."""
    if gap is None or gap.lowest is None or gap.highest is None:
        return "open" if gap is not None and gap.open else ""
    return f"{_whole(gap.lowest)} to {_whole(gap.highest)}%"


def missing_range(bounds: Bounds | None) -> str:
    """``-0.08 to +0.75``, empty where no trial is missing."""
    return "" if bounds is None else f"{signed(bounds.lowest)} to {signed(bounds.highest)}"


def signed_zero(value: float) -> str:
    """Two decimals, never ``-0.00``."""
    text = f"{value:.2f}"
    return "0.00" if text == "-0.00" else text


def tested(comparison: Comparison) -> str:
    """``p=0.002``, and that it is corrected where several comparisons were planned."""
    shown = stated(comparison.p_adjusted)
    return f"{shown} after Holm" if comparison.family > 1 else shown


def stated(value: float | None) -> str:
    """``p=0.002``, ``p<0.001``."""
    text = p_value(value).replace(" ", "")
    return f"p{text}" if text.startswith("<") else f"p={text}"


def amount(value: float | None, unit: str) -> str:
    """``$0.012``, ``3.4``, ``12,300``."""
    if value is None:
        return "-"
    if unit == "cost_usd":
        return f"${value:,.2f}" if value == 0 or value >= 1 else f"${value:#.2g}"
    return f"{value:,.1f}" if unit == "seconds" and value < 100 else f"{value:,.0f}"


def bounds_of(found: Estimate, unit: str) -> str:
    """The interval of an amount: ``[$0.010, $0.014]``, empty where there is none."""
    if found.low is None or found.high is None:
        return ""
    return f"[{amount(found.low, unit)}, {amount(found.high, unit)}]"


def spread(within: Estimate) -> str:
    """``37% [12, 70] (20)``, the share of the variance that lies between trials of one task."""
    if within.value is None:
        return "-"
    return measured(percent(within.value), percent_interval(within), within.tasks)


def met(found: Given) -> str:
    """``all given``, ``some loaded``: how much of the gold trials met on their way."""
    return f"{found.state} {'given' if found.kind == 'coverage' else 'loaded'}"


def by_chance(found: Comparison) -> str:
    """``4.2 expected by chance``: how many tasks would have fallen had skills changed nothing."""
    return "" if found.worse_by_chance is None else f"{found.worse_by_chance:.1f} expected by chance"


def ended(arms: Iterable[ArmSummary]) -> str:
    """The funnel's title: where tasks have unequal trials, shares are not what counts come to."""
    unequal = any(len({task.scored for task in arm.tasks if task.scored}) > 1 for arm in arms)
    return "Where trials ended (shares are means over tasks)" if unequal else "Where trials ended"


def hopeless(tasks: int, family: int, least: float) -> str:
    """That so few tasks cannot show anything; `least` is the smallest p there could be."""
    after = f" after Holm over {family} comparisons" if family > 1 else ""
    return f"with {plural(tasks, 'task')} no result can reach p < 0.05{after} (the least is {p_value(least)})"


def needs(found: Needed) -> str:
    """``104 tasks, or 21 trials a task``."""
    tasks = "more than a million tasks" if found.tasks is None else plural(found.tasks, "task")
    trials = "" if found.trials is None else f", or {plural(found.trials, 'trial')} a task"
    return f"{tasks}{trials}"


def takes(arms: Iterable[ArmSummary]) -> list[str]:
    """What finding a difference from no skills takes, as one sentence; empty where nothing varies."""
    found = [
        (arm_name(arm.arm), arm.vs_none.needed)
        for arm in arms
        if arm.condition == "routed" and arm.vs_none is not None and arm.vs_none.needed is not None
    ]
    if not found:
        return []
    parts = "; ".join(f"{safe(name)} {needs(needed)}" for name, needed in found)
    return [f"Finding {rate(found[0][1].effect)} over none with 80% power takes: {parts}."]


def standing(point: FrontPoint) -> str:
    """``cheapest``, ``on the front``, ``dominated by gold``, and whether that is ``within error``."""
    if point.rival is None:
        return "cheapest"
    said = "on the front" if point.best else f"dominated by {arm_name(point.rival)}"
    if point.gain is not None and point.gain.low is None:
        return said
    if not point.clear:
        return f"{said}, within error of {arm_name(point.rival)}" if point.best else f"{said}, within error"
    better = point.gain is not None and (point.gain.value or 0) > 0
    return said if better == point.best else f"{said}, not so on the tasks of both"


def gained(point: FrontPoint) -> str:
    """``+0.20 [0.05, 0.35]``, more success than the rival's; empty for the cheapest."""
    return "" if point.gain is None else f"{signed(point.gain.value)} {interval(point.gain)}".rstrip()


def charged(point: FrontPoint, unit: str) -> str:
    """``+$0.010 [$0.004, $0.016]``, more than the rival's price; empty for the cheapest."""
    extra = point.extra
    if extra is None or extra.value is None:
        return ""
    bounds = ""
    if extra.low is not None and extra.high is not None:
        bounds = f" [{_more(extra.low, unit)}, {_more(extra.high, unit)}]"
    return _more(extra.value, unit) + bounds


def _more(value: float, unit: str) -> str:
    shown = amount(abs(value), unit)
    if not any(digit in shown for digit in "123456789"):
        return shown
    return f"{'-' if value < 0 else '+'}{shown}"


def measured(number: str, bounds: str, tasks: int, *, apart: str = " ") -> str:
    """``0.83 [0.59, 0.95] (12)``: a number, its interval and its tasks; the interval comes after `apart`."""
    if number == "-":
        return number
    if apart != " ":
        return f"{number} ({tasks}){apart}{bounds}"
    return f"{number} {bounds} ({tasks})" if bounds else f"{number} ({tasks})"


def wrapped(text: str, width: int) -> str:
    """`text` in lines of at most `width`, the later ones indented; brackets stay on one line."""
    held = re.sub(r"[\[(][^\[\]()]{1,30}[\])]", lambda found: found[0].replace(" ", _HELD), text)
    return filled(held, width).replace(_HELD, " ")


def ends(text: str, limit: int) -> str:
    """A long text cut in the middle: its beginning says what failed, its end why."""
    if len(text) <= limit:
        return text
    head = limit // 3
    return f"{text[:head].rstrip()} ... {text[len(text) - limit + head :].lstrip()}"


def plural(count: int, noun: str) -> str:
    """``1 task``, ``12 tasks``."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def trials(bounds: tuple[int, int]) -> str:
    """``3 trials``, ``1 to 3 trials``."""
    fewest, most = bounds
    return plural(most, "trial") if fewest == most else f"{fewest} to {most} trials"


def _whole(share: float) -> str:
    return "0" if (text := f"{100 * share:.0f}") == "-0" else text
