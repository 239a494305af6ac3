"""For papers, issues and pull requests: the same tables in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from workbench.core.terminal import safe
from workbench.core.types import FunnelStage
from workbench.reporting.findings import holm_words, if_missing, stands
from workbench.reporting.gfm import page, table, text
from workbench.reporting.gfm_causes import causes, published, repeated
from workbench.reporting.numbers import Comparison, Estimate, Total
from workbench.reporting.report import Canvas
from workbench.reporting.routing import told
from workbench.reporting.schema import ArmSummary, Block, FrontPoint, Summary
from workbench.reporting.wording import (
    BY_CHANCE,
    DETECTABLE,
    PRICES,
    WORTH,
    amount,
    arm_name,
    bounds_of,
    charged,
    ended,
    gained,
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
    stages,
    standing,
    takes,
    trials,
)


def render(summary: Summary, canvas: Canvas) -> str:
    """GitHub-flavoured Markdown; names from logs are escaped."""
    del canvas
    lines = [f"**Cannot read {text(f.path)}**: {text(f.reason)}\n" for f in summary.logs.unreadable]
    if not summary.blocks:
        lines.append(f"No trials in {plural(len(summary.logs.read), 'log')}.\n")
    for block in summary.blocks:
        lines += [*_block(block), ""]
    if summary.routing:
        lines += ["### Routing alone, each task once", "", *_routing(summary), ""]
    lines += published(summary)
    lines.append(_method(summary))
    return page(lines)


def _block(block: Block) -> Iterator[str]:
    yield f"## {text(block.suite)}: {text(block.model)}, agent {text(block.agent)}"
    yield ""
    yield from (f"**{text(sentence)}**  " for sentence in block.headline)
    yield ""
    size = f"{plural(block.tasks, 'task')} x {trials(block.trials)} in {plural(len(block.arms), 'arm')}"
    yield f"{size}; sandbox {text(', '.join(block.sandboxes) or 'unknown')}."
    yield ""
    yield from (f"> {text(flag)}  " for flag in block.flags)
    yield ""
    yield from table(_OUTCOME, [_outcome(arm) for arm in block.arms])
    yield ""
    yield from table(
        _DIFFERENCE, [row for arm in block.arms for row in _differences(arm)], "Differences, on common tasks"
    )
    yield from (f"{text(line)}\n" for line in takes(block.arms))
    yield from repeated(block)
    known = stages(block.arms)
    yield from table(
        ("arm", *known.values()),
        [_funnel(arm, known) for arm in block.arms if arm.condition != "none"],
        ended(block.arms),
    )
    yield from causes(block)
    used = [_used(arm) for arm in block.arms if arm.load_recall.value is not None]
    yield from table(_USE, used, "Skills used: value [95% interval] (tasks)")
    yield from table(_SPENT, [_spent(arm) for arm in block.arms], "Spent: value [95% interval] (tasks)")
    if block.front is not None:
        rows = [_worth(point, block.front.unit) for point in block.front.points]
        unit = PRICES[block.front.unit]
        heads = ("arm", f"{unit} per trial", "success", "standing", "gain in success", f"extra {unit}")
        yield from table(heads, rows, "Success against price")
        yield WORTH
        yield ""
    yield from table(
        ("cause", "arm", "trials", "example"),
        [row for arm in block.arms for row in _exclusions(arm)],
        "Excluded",
        numeric=False,
    )


_OUTCOME = ("arm", "success", "95% interval", "tasks", "scored", "if missing")
_USE = ("arm", "load precision", "load recall", "gold unused", "loaded others", "turn of first load")
_SPENT = (
    *("arm", "tokens per trial", "seconds per trial", "cost per trial", "cost per success"),
    *("tokens in all", "cost in all", "seconds in all"),
)
_DIFFERENCE = ("", "difference", "95% interval", "p", "won/lost", "gold gap closed", "MDE", "if missing")


def _outcome(arm: ArmSummary) -> Sequence[str]:
    missing = arm.scored < arm.planned
    return (
        arm_name(arm.arm),
        rate(arm.success.value),
        interval(arm.success),
        str(arm.success.tasks),
        f"{arm.scored}/{arm.planned}",
        f"{rate(arm.lowest)}, {rate(arm.highest)}" if missing else "",
    )


def _differences(arm: ArmSummary) -> Iterator[Sequence[str]]:
    for comparison in (arm.vs_none, arm.vs_gold):
        if comparison is not None:
            yield _difference(arm, comparison)


def _difference(arm: ArmSummary, comparison: Comparison) -> Sequence[str]:
    found = comparison.difference
    share = arm.gap.share if arm.gap is not None and comparison is arm.vs_none else None
    closed = ""
    if share is not None and share.value is not None:
        closed = f"{percent(share.value)} {percent_interval(share)}{own_size(share, found)}"
    elif share is not None:
        closed = f"not estimable: {share.reason}"
    return (
        f"{arm_name(arm.arm)} - {arm_name(comparison.baseline)}",
        signed(found.value),
        interval(found),
        p_value(comparison.p_adjusted),
        f"{comparison.better}/{comparison.worse} of {found.tasks}" if found.tasks else "-",
        closed,
        rate(comparison.detectable),
        _missing(comparison, arm),
    )


def _missing(found: Comparison, arm: ArmSummary) -> str:
    """What trials not scored leave open, or why nothing is known."""
    if not found.difference.tasks:
        return f"{found.difference.reason}; in the family of {found.family}"
    shares = share_range(arm.gap) if found is arm.vs_none else ""
    doubt = "" if stands(found) else f"; {if_missing(found)}"
    return missing_range(found.bounds) + (f"; gap {shares}" if shares else "") + doubt


def _funnel(arm: ArmSummary, known: Iterable[FunnelStage]) -> Sequence[str]:
    return (arm_name(arm.arm), *(_share(arm.funnel.get(stage, 0), arm.stages[stage]) for stage in known))


def _share(count: int, share: Estimate) -> str:
    if not count or share.value is None:
        return ""
    return f"{count} ({percent(share.value)} {percent_interval(share)})".replace(" )", ")")


def _exclusions(arm: ArmSummary) -> Iterator[Sequence[str]]:
    for found in arm.exclusions:
        example = f"{found.example} trial {found.epoch}: {' '.join(found.detail.split())}"
        yield (found.cause, arm_name(arm.arm), str(found.count), safe(example, 160))


def _routing(summary: Summary) -> Iterator[str]:
    names = told(summary.routing)
    rows = [
        (
            f"{found.suite} {found.router}",
            stratum.name,
            str(stratum.tasks),
            *(_metric(stratum.metrics.get(n)) for n in names),
        )
        for found in summary.routing
        for stratum in found.strata
    ]
    yield from table(("router", "gold", "tasks", *names), rows)
    depths = " or ".join(str(k) for k in sorted({k for found in summary.routing for k in found.depths}))
    if depths:
        yield f"{depths} skills were given (k). Metrics at other depths look so deep into the ranking."


def _metric(found: Estimate | None) -> str:
    return "" if found is None or found.value is None else _rated(found)


def _rated(found: Estimate) -> str:
    return measured(rate(found.value), interval(found), found.tasks)


def _used(arm: ArmSummary) -> Sequence[str]:
    loads = (arm.load_precision, arm.load_recall, arm.unused_gold, arm.distractors)
    turn = arm.first_load
    return (arm_name(arm.arm), *map(_rated, loads), measured(rate(turn.value), interval(turn), turn.tasks))


def _spent(arm: ArmSummary) -> Sequence[str]:
    each, success = arm.per_trial, arm.per_success
    return (
        arm_name(arm.arm),
        _priced(each.tokens, "tokens"),
        _priced(each.seconds, "seconds"),
        _priced(each.cost_usd, "cost_usd"),
        _priced(success.cost_usd, "cost_usd"),
        _sum(arm.spending.tokens, ",.0f"),
        _sum(arm.spending.cost_usd, ",.2f", "$"),
        _sum(arm.spending.seconds, ",.1f"),
    )


def _worth(point: FrontPoint, unit: str) -> Sequence[str]:
    price, success = _priced(point.price, unit), _rated(point.success)
    return (arm_name(point.arm), price, success, standing(point), gained(point), charged(point, unit))


def _priced(found: Estimate, unit: str) -> str:
    return measured(amount(found.value, unit), bounds_of(found, unit), found.tasks)


def _method(summary: Summary) -> str:
    return (
        f"Intervals: {100 * summary.level:g}%, clustered score intervals over tasks. p: exact sign-flip test"
        f" over tasks{holm_words(summary)}. {DETECTABLE} {BY_CHANCE}"
    )


def _sum(total: Total, form: str, sign: str = "") -> str:
    if total.sum is None:
        return "-"
    known = "" if total.known == total.trials else f" ({total.known} of {total.trials} known)"
    return f"{sign}{total.sum:{form}}{known}"
