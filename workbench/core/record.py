"""The joint record: routing and outcome of one trial, as stored in the log and read by reports.

It is written by ``evaluation`` as the metadata of the trial's one score and read by
``reporting``; both know it only through this model. "Not measured" is ``None`` (or absent),
never 0. Bodies are never stored, only ids, scores and digests.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

from workbench import __version__
from workbench.core.types import Arm, ConditionName, FunnelStage

SCHEMA_VERSION = 1


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class RankedEntry(_Part):
    """One entry of the ranking: pool id and finite score, best first."""

    id: str
    score: float


class Installed(_Part):
    """A skill placed into the sandbox: pool id (or gold id), folder name there, tree digest."""

    id: str
    folder: str
    digest: str


class Load(_Part):
    """One observed use of a skill.

    Attributes:
        tier: ``body`` (SKILL.md was read) or ``file`` (another file of it was read or run).
        via: ``tool`` (load tool, exact), ``shell`` or ``python`` (path seen in a command: a lower
            bound), ``prompt`` (the body was put into the prompt), ``oracle`` (reference solution).
        evidence: the path or argument seen, at most 200 characters.
        turn: number of the assistant turn (1-based), 0 before the first.
    """

    id: str
    tier: Literal["body", "file"]
    via: Literal["tool", "shell", "python", "prompt", "oracle"]
    evidence: str = ""
    turn: int = 0


class Asked(_Part):
    """What a router asked of language models for one task.

    Attributes:
        calls: questions that a model answered.
        kept: questions whose answer was on disk; they cost nothing.
        input_tokens, output_tokens: of the calls; ``None`` where a provider did not say.
        cost_usd: of the calls; ``None`` where a price is not known.
    """

    calls: int
    kept: int
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None


class RouteInfo(_Part):
    """What the router saw and answered. Scores the routing alone; independent of the epoch.

    Attributes:
        ranking: at least `max(k, 50)` deep where the router returned that many.
        asked: for this task; ``None`` where no language model was asked. What was asked ahead of all
            tasks, to build an index, is not in here.
        notes: what the router had to say about its answers so far, e.g. how many could not be used.
        gold: the task's gold skill ids, sorted; `gold_in_pool` those that the pool holds.
        metrics: name -> value; empty for conditions without a router.
    """

    router: str | None
    router_fingerprint: str | None
    pool: str
    pool_fingerprint: str
    pool_size: int
    index_fingerprint: str | None
    k: int
    ranking: tuple[RankedEntry, ...] = ()
    gold: tuple[str, ...] = ()
    gold_in_pool: tuple[str, ...] = ()
    metrics: dict[str, float] = {}
    seconds: float | None = None
    asked: Asked | None = None
    notes: tuple[str, ...] = ()


class Exposure(_Part):
    """What reached the sandbox and the agent's eyes.

    Attributes:
        nudge: how strongly the agent was told to use skills.
        routed: ids given to this trial (top k, or gold), in order.
        installed: what the container was proven to hold.
        shown: ids in the catalogue text that was sent; `not_shown` were cut by its budget.
        catalogue_digest: sha256 of the text sent, ``None`` when nothing was sent.
        loads: uses seen, in order.
        blind: the agent is shown nothing by design and its uses say nothing (reference solution).
    """

    disclosure: str
    nudge: str = "neutral"
    routed: tuple[str, ...] = ()
    installed: tuple[Installed, ...] = ()
    shown: tuple[str, ...] = ()
    not_shown: tuple[str, ...] = ()
    catalogue_digest: str | None = None
    loads: tuple[Load, ...] = ()
    blind: bool = False


EXACT = frozenset(("tool", "prompt"))
"""Ways of loading that cannot be missed; all others are a lower bound."""


class Use(_Part):
    """What the loads of a trial amount to.

    Attributes:
        precision: share of loaded skills that are gold; ``None`` when none was loaded.
        recall: share of gold skills that were loaded; ``None`` without gold.
        distractors: loaded and not gold; `unused_gold` gold, given to the trial and not loaded.
        first_turn, first_gold_turn: assistant turn of the first load, 0 for what was in the prompt;
            ``None`` when there was none.
        files: skills of which another file than SKILL.md was read or run.
        exact: nothing of this rests on paths seen in commands, which are a lower bound.
    """

    precision: float | None
    recall: float | None
    distractors: tuple[str, ...] = ()
    unused_gold: tuple[str, ...] = ()
    first_turn: int | None = None
    first_gold_turn: int | None = None
    files: tuple[str, ...] = ()
    exact: bool = True


class TestCase(_Part):
    """One test of the verifier's report: name and status as reported."""

    __test__ = False

    name: str
    status: str


class Outcome(_Part):
    """How the trial ended.

    Attributes:
        status: ``scored`` or ``excluded``; excluded trials have no reward.
        reward: in [0, 1], ``None`` when excluded.
        cause: the key of `errors.POLICY` that ended the trial, ``None`` when a verifier judged it. A
            cause that has a score there (``agent_resource``, ``agent_damage``: 0) is ``scored``.
        detail: for people, at most 2,000 characters.
        incidents: e.g. ``agent_timeout``; they do not change the score.
        funnel: the stage at which the gold skills were lost; ``None`` when excluded.
    """

    status: Literal["scored", "excluded"]
    reward: float | None = None
    cause: str | None = None
    detail: str = ""
    incidents: tuple[str, ...] = ()
    tests: tuple[TestCase, ...] = ()
    funnel: FunnelStage | None = None


class Spend(_Part):
    """Tokens, money and time. Unknown is ``None``; a known zero is 0."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    total_tokens: int | None = None
    cost_usd: float | None = None
    setup_seconds: float | None = None
    agent_seconds: float | None = None
    verify_seconds: float | None = None
    turns: int | None = None


class Bound(_Part):
    """A limit that held in a trial.

    Attributes:
        name: ends in its unit, e.g. ``memory_mb``.
        origin: ``task``, it states the limit; ``default``, nobody did; ``machine``, it has less than that.
    """

    name: str
    value: float
    origin: Literal["task", "default", "machine"]


class TrialRecord(_Part):
    """Everything about one trial: (suite, task, arm, model, epoch).

    Attributes:
        workbench: version of this package that ran the trial.
        agent: name of the agent that ran.
        seed: of stochastic routers.
        sandbox, image: provider, and the digest of the image the trial ran in.
        task_digest: of the task's own files, so that two runs are only pooled over the same tasks.
        notes: what of the task or sandbox is not as the task asked, e.g. a substituted base image.
        limits: what the trial was held to; limits of Inspect's own are in the log's header.
        use: what the loads amount to; ``None`` where they could not be observed.
        group: the task's tags, for slices.
    """

    schema_version: int = SCHEMA_VERSION
    workbench: str = __version__
    suite: str
    task: str
    epoch: int
    condition: ConditionName
    router: str | None = None
    model: str
    agent: str
    seed: int
    sandbox: str
    image: str | None = None
    task_digest: str | None = None
    notes: tuple[str, ...] = ()
    limits: tuple[Bound, ...] = ()
    group: dict[str, str] = {}
    route: RouteInfo
    exposure: Exposure
    outcome: Outcome
    use: Use | None = None
    spend: Spend = Spend()

    @property
    def arm(self) -> Arm:
        """The treatment of this trial."""
        return Arm(self.condition, self.router)
