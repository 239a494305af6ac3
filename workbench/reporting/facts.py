"""Trials condensed to what a summary needs, so that tens of thousands fit in little memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from workbench.core.digest import short
from workbench.core.record import Exposure, RouteInfo, Spend, TrialRecord
from workbench.core.types import Arm, FunnelStage
from workbench.metrics.coverage import FullCoverage
from workbench.metrics.metric import Judged, dedupe
from workbench.metrics.recall import Recall
from workbench.reporting.settings import Named, applying
from workbench.reporting.trial import Status, Trial

NOT_STARTED = "not started"
"""Stands for the agent where no trial got as far as one."""

Variant = Named
"""What tells treatments of one arm apart: (name, value) pairs, e.g. pool and k."""


@dataclass(slots=True)
class Fact:
    """One trial. `agent` and `variant` are ``None`` until `_settle` fills them in; `loaded` is ``None``
    where loads could not be observed; `given` are the skills handed to the trial, `settings` what its
    evaluation set, `version` the package that ran it."""

    suite: str
    model: str
    run: str
    arm: Arm
    task: str
    epoch: int
    status: Status
    sample_id: str
    log: str
    cause: str | None = None
    detail: str = ""
    reward: float | None = None
    funnel: FunnelStage | None = None
    agent: str | None = None
    variant: Variant | None = None
    gold: frozenset[str] = frozenset()
    loaded: frozenset[str] | None = None
    spend: Spend | None = None
    sandbox: str | None = None
    task_digest: str | None = None
    given: frozenset[str] = frozenset()
    group: Mapping[str, str] = field(default_factory=dict)
    first_load: int | None = None
    settings: Named = ()
    version: str | None = None


@dataclass(slots=True)
class Route:
    """One router's answer for one task, without the ranking. `depths`: how many skills were given."""

    gold: int
    gold_in_pool: int
    metrics: dict[str, float]
    seconds: float | None
    pool_size: int
    subset: str = ""
    depths: set[int] = field(default_factory=set)


@dataclass
class Collected:
    """All trials, and the routes once per (suite, router, variant) and task."""

    facts: list[Fact] = field(default_factory=list)
    routes: dict[tuple[str, str, Variant], dict[str, Route]] = field(default_factory=dict)


def collect(trials: Iterable[Trial]) -> Collected:
    """Condense trials; the order in which they come does not matter."""
    collected = Collected()
    for trial in trials:
        collected.facts.append(_fact(trial))
        if trial.route is not None and trial.route.router is not None:
            key = (trial.suite, trial.arm.router or trial.route.router, route_variant(trial.route))
            _add_route(collected.routes.setdefault(key, {}), trial.task, trial.route, trial.record)
    collected.facts.sort(
        key=lambda f: (f.suite, f.model, f.arm.label, f.task, f.epoch, f.run, f.sample_id, f.log)
    )
    _part_changed_tasks(collected.facts)
    _settle(collected.facts)
    return collected


def route_variant(route: RouteInfo) -> Variant:
    """What decides a ranking: recipe and pool."""
    return (
        ("router_fingerprint", route.router_fingerprint or ""),
        ("pool", route.pool),
        ("pool_fingerprint", route.pool_fingerprint),
    )


def _variant(arm: Arm, route: RouteInfo, exposure: Exposure) -> Variant:
    """What decides a treatment: nothing for no skills, how skills are shown for gold."""
    if arm.condition == "none":
        return ()
    nudged = () if exposure.nudge == "neutral" else (("nudge", exposure.nudge),)
    shown = (("disclosure", exposure.disclosure), *nudged)
    return shown if arm.condition == "gold" else (*route_variant(route), ("k", str(route.k)), *shown)


def _fact(trial: Trial) -> Fact:
    fact = Fact(
        suite=trial.suite,
        model=trial.model,
        run=trial.run,
        arm=trial.arm,
        task=trial.task,
        epoch=trial.epoch,
        status=trial.status,
        sample_id=trial.sample_id,
        log=str(trial.log),
        cause=trial.cause,
        detail=trial.detail,
        agent=trial.agent,
        settings=applying(trial.settings, trial.arm.condition),
    )
    if trial.record is not None:
        _add_record(fact, trial.record, trial.agent or trial.record.agent)
    return fact


def _add_record(fact: Fact, record: TrialRecord, agent: str) -> None:
    fact.gold = frozenset(record.route.gold)
    fact.variant = _variant(fact.arm, record.route, record.exposure)
    fact.spend = record.spend
    fact.sandbox = record.sandbox
    fact.version = record.workbench
    fact.task_digest = record.task_digest
    fact.group = record.group
    fact.given = frozenset(record.exposure.routed)
    if fact.status == "scored":
        fact.reward = record.outcome.reward
        fact.funnel = record.outcome.funnel
        fact.agent = agent
        fact.loaded = _loaded(record.exposure)
        fact.first_load = None if record.use is None else record.use.first_turn


def _loaded(exposure: Exposure) -> frozenset[str] | None:
    """Ids that were loaded; unknown for an agent that is told of no skills by design, such as the
    reference solution, which uses them without loading."""
    if exposure.blind:
        return None
    return frozenset(load.id for load in exposure.loads)


def _add_route(known: dict[str, Route], task: str, route: RouteInfo, record: TrialRecord | None) -> None:
    """Each task once; of a ranking given at several depths, what each depth holds."""
    if task not in known:
        subset = "" if record is None else record.group.get("subset", "")
        gold, in_pool = len(route.gold), len(route.gold_in_pool)
        known[task] = Route(gold, in_pool, dict(route.metrics), route.seconds, route.pool_size, subset)
    found = known[task]
    if route.k not in found.depths:
        found.depths.add(route.k)
        found.metrics = {**_at(route), **found.metrics}


def _at(route: RouteInfo) -> dict[str, float]:
    """How much of the gold is among the k skills that were given."""
    gold = frozenset(route.gold_in_pool)
    if not gold or not route.ranking:
        return {}
    judged = Judged(dedupe([entry.id for entry in route.ranking]), gold, {})
    return {metric.name: metric(judged) for metric in (Recall(route.k), FullCoverage(route.k))}


def _part_changed_tasks(facts: list[Fact]) -> None:
    """A task whose files differ between runs is not one task: each version gets a name of its own."""
    versions: dict[tuple[str, str], set[str]] = {}
    for fact in facts:
        if fact.task_digest is not None:
            versions.setdefault((fact.suite, fact.task), set()).add(fact.task_digest)
    for fact in facts:
        if fact.task_digest is not None and len(versions[fact.suite, fact.task]) > 1:
            fact.task = f"{fact.task} ({short(fact.task_digest)})"


def _settle(facts: list[Fact]) -> None:
    """Give trials without a record the agent and variant of their run, else of their like; and to the
    variant of each add the settings that it ran under."""
    agents: dict[str, str] = {}
    agents_of_model: dict[tuple[str, str], str] = {}
    variants: dict[tuple[str, str], Variant] = {}
    variants_of_arm: dict[tuple[str, str, str], Variant] = {}
    for fact in facts:
        if fact.agent is not None:
            agents.setdefault(fact.run, fact.agent)
            agents_of_model.setdefault((fact.suite, fact.model), fact.agent)
        if fact.variant is not None:
            variants.setdefault((fact.run, fact.arm.label), fact.variant)
            variants_of_arm.setdefault((fact.suite, fact.model, fact.arm.label), fact.variant)
    for fact in facts:
        if fact.agent is None:
            like = agents_of_model.get((fact.suite, fact.model), NOT_STARTED)
            fact.agent = agents.get(fact.run, like)
        if fact.variant is None:
            same = variants_of_arm.get((fact.suite, fact.model, fact.arm.label), ())
            fact.variant = variants.get((fact.run, fact.arm.label), same)
    for fact in facts:
        fact.variant = (*(fact.variant or ()), *fact.settings)
