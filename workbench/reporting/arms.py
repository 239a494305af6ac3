"""One cell's trials -> its summary: success with interval and bounds, funnel, loads, spending."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence

from workbench.core.record import Spend
from workbench.core.types import FUNNEL, PASS
from workbench.reporting.cells import Cell
from workbench.reporting.estimates import average, estimate, macro
from workbench.reporting.explain import given, stage_shares
from workbench.reporting.facts import Fact
from workbench.reporting.missing import unmeasured
from workbench.reporting.numbers import Estimate, PassEstimate, Total
from workbench.reporting.prices import per_success, per_trial, seconds
from workbench.reporting.schema import ArmSummary, Exclusion, Spending, TaskResult, TrialMark
from workbench.stats.passk import Kind, PassK, TaskCount, pass_k
from workbench.stats.variance import trial_share

_MOST_K = 10


def arm_summary(cell: Cell, level: float) -> ArmSummary:
    """Summarise one cell; comparisons are added by `compare`."""
    tasks = tuple(_task(task, facts) for task, facts in cell.by_task.items())
    counts = Counter(fact.status for fact in cell.facts)
    lowest, highest = _bounds(cell)
    stages = Counter(fact.funnel for fact in cell.facts if fact.funnel is not None)
    return ArmSummary(
        arm=cell.label,
        condition=cell.arm.condition,
        router=cell.arm.router,
        variant=dict(cell.variant),
        planned=len(cell.facts),
        scored=counts["scored"],
        excluded=counts["excluded"],
        pending=counts["pending"],
        success=estimate(list(cell.rewards.values()), level, unmeasured(cell) or ""),
        lowest=lowest,
        highest=highest,
        funnel={stage: stages[stage] for stage in FUNNEL},
        blind=bool(stages) and all(fact.loaded is None for fact in cell.facts if fact.funnel is not None),
        exclusions=tuple(_exclusions(cell.facts)),
        load_precision=_loading(cell, level, _precision, "nothing was loaded"),
        load_recall=_loading(cell, level, _recall, "loads could not be observed"),
        distractors=_loading(cell, level, _distracted, "loads could not be observed"),
        unused_gold=_loading(cell, level, _unused, "no gold was given, or loads could not be observed"),
        first_load=_first_load(cell, level),
        macro=_macro(cell, level),
        spending=_spending(cell.facts),
        passes=_passes(tasks, level),
        stages=stage_shares(cell, level),
        given=given(cell, level),
        per_trial=per_trial(cell, level),
        per_success=per_success(cell, level),
        within=_within(cell, level),
        tasks=tasks,
    )


def _task(task: str, facts: Sequence[Fact]) -> TaskResult:
    counts = Counter(fact.status for fact in facts)
    rewards = [fact.reward for fact in facts if fact.reward is not None]
    return TaskResult(
        task=task,
        planned=len(facts),
        scored=counts["scored"],
        excluded=counts["excluded"],
        pending=counts["pending"],
        passed=sum(reward >= PASS for reward in rewards),
        mean=math.fsum(rewards) / len(rewards) if rewards else None,
        trials=tuple(_mark(fact) for fact in facts),
    )


def _mark(fact: Fact) -> TrialMark:
    return TrialMark(
        epoch=fact.epoch,
        status=fact.status,
        reward=fact.reward,
        stage=fact.funnel,
        cause=fact.cause,
        log=fact.log,
        sample=fact.sample_id,
    )


def _within(cell: Cell, level: float) -> Estimate:
    """1 - intraclass correlation, of tasks with a scored trial."""
    rewards = list(cell.rewards.values())
    share, interval = trial_share(rewards, level=level)
    if share is None:
        repeated = any(len(task) > 1 for task in rewards)
        reason = "all rewards are equal" if repeated else "no task has two scored trials"
        return Estimate(value=None, tasks=len(rewards), reason=reason)
    if interval is None:
        return Estimate(value=share, tasks=len(rewards), reason="too few tasks, or trials that all agree")
    return Estimate(value=share, low=interval.low, high=interval.high, tasks=len(rewards))


def _bounds(cell: Cell) -> tuple[float, float]:
    """Success over all planned trials, those not scored counted 0, counted 1."""
    low, high = [], []
    for facts in cell.by_task.values():
        rewards = [fact.reward for fact in facts if fact.reward is not None]
        low.append(math.fsum(rewards) / len(facts))
        high.append((math.fsum(rewards) + len(facts) - len(rewards)) / len(facts))
    return math.fsum(low) / len(low), math.fsum(high) / len(high)


def _exclusions(facts: Sequence[Fact]) -> Iterable[Exclusion]:
    """Most frequent cause first."""
    grouped: dict[str, list[Fact]] = defaultdict(list)
    for fact in facts:
        if fact.status == "excluded" and fact.cause is not None:
            grouped[fact.cause].append(fact)
    for cause, found in sorted(grouped.items(), key=lambda item: (-len(item[1]), item[0])):
        first = found[0]
        yield Exclusion(
            cause=cause,
            count=len(found),
            example=first.sample_id,
            epoch=first.epoch,
            log=first.log,
            detail=first.detail,
        )


def _precision(fact: Fact) -> float | None:
    return len(fact.loaded & fact.gold) / len(fact.loaded) if fact.loaded else None


def _recall(fact: Fact) -> float | None:
    if fact.loaded is None or not fact.gold:
        return None
    return len(fact.loaded & fact.gold) / len(fact.gold)


def _distracted(fact: Fact) -> float | None:
    return None if fact.loaded is None else float(bool(fact.loaded - fact.gold))


def _unused(fact: Fact) -> float | None:
    had = fact.gold & fact.given
    return None if fact.loaded is None or not had else len(had - fact.loaded) / len(had)


def _first_load(cell: Cell, level: float) -> Estimate:
    turns = [
        [fact.first_load for fact in facts if fact.first_load is not None] for facts in cell.by_task.values()
    ]
    return average([math.fsum(found) / len(found) for found in turns if found], level, "nothing was loaded")


def _macro(cell: Cell, level: float) -> Estimate | None:
    """The unweighted mean over subsets of the mean over tasks; trials within a task are averaged first."""
    subset = {fact.task: fact.group["subset"] for fact in cell.facts if "subset" in fact.group}
    found: dict[str, list[list[float]]] = {name: [] for name in subset.values()}
    for task, rewards in cell.rewards.items():
        if task in subset:
            found[subset[task]].append(rewards)
    return macro(list(found.values()), level)


def _loading(cell: Cell, level: float, share: Callable[[Fact], float | None], reason: str) -> Estimate:
    """Mean over tasks of a share of loaded skills; not defined where no skills are installed."""
    if cell.arm.condition == "none":
        return Estimate(value=None, tasks=0, reason="no skills were installed")
    values = [
        [value for fact in facts if fact.status == "scored" and (value := share(fact)) is not None]
        for facts in cell.by_task.values()
    ]
    return estimate([trials for trials in values if trials], level, reason)


def _spending(facts: Sequence[Fact]) -> Spending:
    ran = [fact.spend or Spend() for fact in facts if fact.status != "pending"]
    return Spending(
        tokens=_total([spend.total_tokens for spend in ran]),
        cost_usd=_total([spend.cost_usd for spend in ran]),
        seconds=_total([seconds(spend) for spend in ran]),
    )


def _total(values: Sequence[float | None]) -> Total:
    known = [value for value in values if value is not None]
    return Total(sum=math.fsum(known) if known else None, known=len(known), trials=len(values))


def _passes(tasks: Sequence[TaskResult], level: float) -> tuple[PassEstimate, ...]:
    """For every k from 1 to the trials planned per task, which the plan fixes, not the outcome."""
    planned = min(task.planned for task in tasks)
    if planned < 2:
        return ()
    counts = [TaskCount(task.task, task.planned, task.scored, task.passed) for task in tasks]
    ks = range(1, min(planned, _MOST_K) + 1)
    wanted: list[tuple[Kind, int]] = [*(("any", k) for k in ks), *(("all", k) for k in ks if k > 1)]
    return tuple(_pass_estimate(pass_k(counts, k, kind, level)) for kind, k in wanted)


def _pass_estimate(found: PassK) -> PassEstimate:
    interval = found.interval
    mean = Estimate(
        value=found.estimate,
        low=None if interval is None else interval.low,
        high=None if interval is None else interval.high,
        tasks=found.tasks,
        reason=found.reason,
    )
    return PassEstimate(
        kind=found.kind, k=found.k, estimate=mean, lowest=found.low, highest=found.high, short=found.short
    )
