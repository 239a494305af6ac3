"""What a report says, typed: every number with its interval and its n. Reports render, never compute.

`None` is "not measured" or "not estimable", with the reason beside it; it is never 0. Rates and
differences are in reward units (0 to 1), intervals are at `Summary.level`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import BaseModel, ConfigDict

from workbench.core.types import ConditionName, FunnelStage

SCHEMA_VERSION = 1


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="null")


class Estimate(_Part):
    """A mean over `tasks` tasks with its interval; `reason` says why something is missing."""

    value: float | None
    low: float | None = None
    high: float | None = None
    tasks: int
    reason: str | None = None


class Total(_Part):
    """A sum over the trials for which it is known: `known` of `trials`."""

    sum: float | None
    known: int
    trials: int


class Spending(_Part):
    """What the trials of an arm used: tokens, US dollars, and seconds of set-up, agent and verifier."""

    tokens: Total
    cost_usd: Total
    seconds: Total


class Exclusion(_Part):
    """Trials excluded for one cause, with one of them to look at."""

    cause: str
    count: int
    example: str
    epoch: int
    log: str
    detail: str


class TrialMark(_Part):
    """One trial to look at: how it ended, and where its transcript is.

    Attributes:
        log, sample: file and sample id, as ``inspect view`` names them.
        stage: the funnel stage at which it ended; ``None`` when it was not scored.
    """

    epoch: int
    status: Literal["scored", "excluded", "pending"]
    reward: float | None
    stage: FunnelStage | None
    cause: str | None
    log: str
    sample: str


class TaskResult(_Part):
    """One task in one arm. `mean` is over scored trials, ``None`` without one."""

    task: str
    planned: int
    scored: int
    excluded: int
    pending: int
    passed: int
    mean: float | None
    trials: tuple[TrialMark, ...] = ()


class Change(_Part):
    """A task on which two arms differ: their means, and how many trials each mean rests on."""

    task: str
    first: float
    second: float
    trials: tuple[int, int]


class Given(_Part):
    """Success of those scored trials of an arm that met something on their way.

    Attributes:
        kind: ``coverage`` (how much of the gold was among the skills given) or ``loads`` (how much of
            it the agent loaded).
        state: ``all``, ``some`` or ``none`` of the gold skills.
        trials: how many there are; `success` averages them within tasks.
    """

    kind: Literal["coverage", "loads"]
    state: Literal["all", "some", "none"]
    trials: int
    success: Estimate


class Slice(_Part):
    """The tasks that share a tag, and every arm's success on them.

    Attributes:
        by, value: e.g. ``difficulty`` and ``hard``, ``gold skills`` and ``2``.
        arms: label -> success.
    """

    by: str
    value: str
    tasks: int
    arms: Mapping[str, Estimate]


class Agreement(_Part):
    """Kendall's tau-b between a routing metric and success, over routers, on tasks that all ran."""

    metric: str
    routers: int
    tau: Estimate


class FrontPoint(_Part):
    """An arm's price per trial and its success; `best` where no other arm is better in both."""

    arm: str
    price: Estimate
    success: Estimate
    best: bool


class Front(_Part):
    """Price against success, in the first unit that is known for all arms and not zero for all."""

    unit: Literal["cost_usd", "tokens", "seconds"]
    points: tuple[FrontPoint, ...]


class Prices(_Part):
    """Tokens, US dollars and seconds: means over tasks where known for a trial, ratios per success."""

    tokens: Estimate
    cost_usd: Estimate
    seconds: Estimate


class PassEstimate(_Part):
    """pass@k (`kind` any) or pass^k (`kind` all).

    `lowest` and `highest` count every trial not scored as failed, as passed. `short` names the
    tasks that have such trials.
    """

    kind: Literal["any", "all"]
    k: int
    estimate: Estimate
    lowest: float | None
    highest: float | None
    short: tuple[str, ...]


class Comparison(_Part):
    """An arm minus a baseline, on the tasks scored in both.

    Attributes:
        p_value: exact sign-flip test over tasks.
        p_adjusted: Holm over the comparisons of routed arms with baselines of this condition.
        family: number of comparisons adjusted for.
        missing: tasks left out because one of the two arms has no scored trial of them.
        detectable: the smallest difference this design finds with 80 % power, by the sign-flip test at 5 %
            divided by the comparisons that Holm corrects for (conservative).
        changes: tasks whose means differ, those that lost most first.
    """

    baseline: str
    difference: Estimate
    standard_error: float | None
    p_value: float | None
    p_adjusted: float | None
    family: int
    better: int
    worse: int
    missing: tuple[str, ...]
    detectable: float | None
    changes: tuple[Change, ...] = ()


class GoldGap(_Part):
    """Share of the gap between no skills and gold skills that a router closes; 1 is as good as gold."""

    share: Estimate
    gap: Estimate


class ArmSummary(_Part):
    """One arm of one block.

    Attributes:
        arm: label, with what tells it from others of the same label, e.g. ``routed-bm25 k=5``.
        success: mean reward over tasks of the mean over their scored trials.
        lowest, highest: success over all planned trials if every one not scored had 0, had 1.
        funnel: scored trials by the stage at which they ended; `stages` their shares.
        blind: the agent was told of no skills (the reference solution, which uses what it is given): no
            trial can end at not shown or not loaded, and ``failed`` is given, but failed.
        load_precision, load_recall: share of loaded skills that are gold, of gold skills that were
            loaded; means over tasks with anything loaded, with gold.
        distractors: share of trials that loaded a skill that is not gold; `unused_gold` share of the
            gold skills given that were not loaded.
        first_load: mean turn of the first load over trials with one, 0 for what was in the prompt.
        macro: success averaged over the suite's subsets, each counting alike; ``None`` without subsets,
            or when one has no scored trial.
        passes: pass@k and pass^k, where trials were repeated.
        given: success by what was routed and what was loaded. Associations, not effects.
        per_trial, per_success: what a trial and a success cost.
        within: share of the variance of rewards that lies between trials of one task.
    """

    arm: str
    condition: ConditionName
    router: str | None
    variant: Mapping[str, str]
    planned: int
    scored: int
    excluded: int
    pending: int
    success: Estimate
    lowest: float
    highest: float
    funnel: Mapping[FunnelStage, int]
    blind: bool
    exclusions: tuple[Exclusion, ...]
    load_precision: Estimate
    load_recall: Estimate
    distractors: Estimate
    unused_gold: Estimate
    first_load: float | None
    macro: float | None
    spending: Spending
    passes: tuple[PassEstimate, ...]
    stages: Mapping[FunnelStage, Estimate]
    given: tuple[Given, ...]
    per_trial: Prices
    per_success: Prices
    within: float | None
    vs_none: Comparison | None = None
    vs_gold: Comparison | None = None
    gap: GoldGap | None = None
    tasks: tuple[TaskResult, ...]


class Block(_Part):
    """Arms that may be compared: one suite, one model, one agent.

    Attributes:
        trials: fewest and most planned trials of a task in an arm.
        headline: what the evidence says, one sentence per comparison, strongest first.
        flags: what a reader must know before believing it.
        sandboxes: kind of sandbox -> trials.
        missing_share: largest share of planned trials of an arm that are excluded or pending.
    """

    suite: str
    model: str
    agent: str
    tasks: int
    trials: tuple[int, int]
    arms: tuple[ArmSummary, ...]
    headline: tuple[str, ...]
    flags: tuple[str, ...]
    sandboxes: Mapping[str, int]
    fractional: bool
    missing_share: float
    slices: tuple[Slice, ...] = ()
    agreement: tuple[Agreement, ...] = ()
    front: Front | None = None


class Stratum(_Part):
    """Means of routing metrics over the tasks of a stratum for which each is defined.

    Attributes:
        name: ``all``, ``single``, ``multi``, the name of a subset, or ``macro``, the unweighted mean
            over subsets.
    """

    name: str
    tasks: int
    metrics: Mapping[str, float]


class RoutingSummary(_Part):
    """Routing alone: each task once, whatever the epochs and models.

    Attributes:
        planned: tasks of the plan.
        routed: tasks for which an answer of the router is known.
        not_in_pool: tasks none of whose gold is in the pool; no router could find it.
    """

    suite: str
    router: str
    variant: Mapping[str, str]
    planned: int
    routed: int
    not_in_pool: tuple[str, ...]
    seconds: float | None
    strata: tuple[Stratum, ...]
    pool_size: int | None = None


class FileNote(_Part):
    """A file that was not used, and why."""

    path: str
    reason: str


class LogNotes(_Part):
    """What was read and what was not."""

    read: tuple[str, ...] = ()
    foreign: tuple[FileNote, ...] = ()
    unreadable: tuple[FileNote, ...] = ()
    superseded: int = 0


class BesideRow(_Part):
    """A system's numbers, in percent; `ours` where they come from these logs."""

    system: str
    ours: bool
    values: tuple[float | None, ...]


class Beside(_Part):
    """A published table with our numbers below it; `differs` says how the settings are unlike."""

    paper: str
    table: str
    benchmark: str
    setting: str
    differs: tuple[str, ...]
    columns: tuple[str, ...]
    rows: tuple[BesideRow, ...]


class Summary(_Part):
    """Everything a report shows.

    Attributes:
        seed: of the Monte-Carlo test that takes over where the exact one is out of reach.
        complete: no log was unreadable, and in no arm more than 2 % of planned trials are excluded or
            pending.
    """

    schema_version: int = SCHEMA_VERSION
    level: float
    seed: int
    planned: int
    scored: int
    excluded: int
    pending: int
    complete: bool
    blocks: tuple[Block, ...]
    routing: tuple[RoutingSummary, ...]
    logs: LogNotes
    published: tuple[Beside, ...] = ()
