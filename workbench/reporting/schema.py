"""What a report says, typed: every number with its interval and its n. Reports render, never compute.

`None` is "not measured" or "not estimable", with the reason beside it; it is never 0. Rates and
differences are in reward units (0 to 1), intervals are at `Summary.level`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from workbench.core.types import ConditionName, FunnelStage
from workbench.reporting.numbers import Comparison, Estimate, GoldGap, Part, PassEstimate, Prices, Total

SCHEMA_VERSION = 3


class Spending(Part):
    """What the trials of an arm used: tokens, US dollars, and seconds of set-up, agent and verifier."""

    tokens: Total
    cost_usd: Total
    seconds: Total


class Exclusion(Part):
    """Trials excluded for one cause, with one of them to look at."""

    cause: str
    count: int
    example: str
    epoch: int
    log: str
    detail: str


class TrialMark(Part):
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


class TaskResult(Part):
    """One task in one arm. `mean` is over scored trials, ``None`` without one."""

    task: str
    planned: int
    scored: int
    excluded: int
    pending: int
    passed: int
    mean: float | None
    trials: tuple[TrialMark, ...] = ()


class Given(Part):
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


class Slice(Part):
    """The tasks that share a tag, and every arm's success on them.

    Attributes:
        by, value: e.g. ``difficulty`` and ``hard``, ``gold skills`` and ``2``.
        arms: label -> success.
    """

    by: str
    value: str
    tasks: int
    arms: Mapping[str, Estimate]


class Agreement(Part):
    """Kendall's tau-b between a routing metric and success, on tasks that all ran.

    Attributes:
        routers: routed arms it is over; a router at two settings is two.
    """

    metric: str
    routers: int
    tau: Estimate


class FrontPoint(Part):
    """An arm's price per trial and its success, beside the arm to beat.

    Attributes:
        best: on the front by the estimates: no other arm is at least as good and costs no more.
        rival: of the arms that cost no more by the estimates, the one with most success; ``None`` for
            the cheapest.
        gain, extra: success and price per trial, this arm minus its rival, paired over tasks. Intervals are
            not corrected.
    """

    arm: str
    price: Estimate
    success: Estimate
    best: bool
    rival: str | None = None
    gain: Estimate | None = None
    extra: Estimate | None = None

    @property
    def clear(self) -> bool:
        """Whether the difference in success from the rival is beyond error."""
        gain = self.gain
        return (
            gain is not None
            and gain.low is not None
            and gain.high is not None
            and not gain.low <= 0 <= gain.high
        )


class Front(Part):
    """Price against success, in the first unit that is known for all arms and not zero for all."""

    unit: Literal["cost_usd", "tokens", "seconds"]
    points: tuple[FrontPoint, ...]


class ArmSummary(Part):
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
        first_load: mean turn of the first load over trials with one, within and then over tasks; 0 for
            what was in the prompt.
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
    first_load: Estimate
    macro: Estimate | None
    spending: Spending
    passes: tuple[PassEstimate, ...]
    stages: Mapping[FunnelStage, Estimate]
    given: tuple[Given, ...]
    per_trial: Prices
    per_success: Prices
    within: Estimate
    vs_none: Comparison | None = None
    vs_gold: Comparison | None = None
    gap: GoldGap | None = None
    tasks: tuple[TaskResult, ...]


class Block(Part):
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


class Stratum(Part):
    """Means of routing metrics over the tasks of a stratum for which each is defined, with intervals.

    Attributes:
        name: ``all``, ``single``, ``multi``, the name of a subset, or ``macro``, the unweighted mean
            over subsets.
    """

    name: str
    tasks: int
    metrics: Mapping[str, Estimate]


class RoutingSummary(Part):
    """Routing alone: each task once, whatever the epochs and models.

    Attributes:
        planned: tasks of the plan.
        routed: tasks for which an answer of the router is known.
        not_in_pool: tasks none of whose gold is in the pool; no router could find it.
        depths: how many skills were given (k), ascending: each has its Recall and FullCoverage among the
            metrics. Those at other depths look further down the ranking, or less far.
        seconds: that a ranking took.
    """

    suite: str
    router: str
    variant: Mapping[str, str]
    planned: int
    routed: int
    not_in_pool: tuple[str, ...]
    depths: tuple[int, ...]
    seconds: Estimate
    strata: tuple[Stratum, ...]
    pool_size: int | None = None


class FileNote(Part):
    """A file that was not used, and why."""

    path: str
    reason: str


class LogNotes(Part):
    """What was read and what was not."""

    read: tuple[str, ...] = ()
    foreign: tuple[FileNote, ...] = ()
    unreadable: tuple[FileNote, ...] = ()
    superseded: int = 0


class PrintedRow(Part):
    """A system's numbers as a paper prints them: percent, no interval; ``None`` where there is none."""

    system: str
    values: tuple[float | None, ...]


class OwnRow(Part):
    """Our numbers in the columns of a published table, in reward units.

    Attributes:
        values: an estimate for each column; without a value, and with the reason, where it was not measured
            over the tasks that the column is over; ``None`` for a column that has the paper's numbers alone.
    """

    system: str
    values: tuple[Estimate | None, ...]


class Beside(Part):
    """A published table (`theirs`) with our numbers below it (`ours`).

    Attributes:
        kind: what is measured. The columns of ``routing`` are metrics by our names; those of ``success``
            the paper's models, and last, ``here``, ours.
        differs: how the settings are unlike, or are not known to be alike.
    """

    paper: str
    table: str
    kind: Literal["routing", "success"]
    benchmark: str
    setting: str
    differs: tuple[str, ...]
    columns: tuple[str, ...]
    theirs: tuple[PrintedRow, ...]
    ours: tuple[OwnRow, ...]


class Summary(Part):
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
