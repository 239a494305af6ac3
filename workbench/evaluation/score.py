"""The scorer: verify the sandbox, then write the joint record as the metadata of the one score.

The score's value holds the reward and the routing metrics as numbers, so that Inspect's own
viewer and metrics show both; `record` in its metadata is the whole `TrialRecord`. A trial whose
machinery failed is scored NaN (Inspect's "unscored") with its cause, never 0; one whose agent used up
its container is scored what `errors.POLICY` says.
"""

from __future__ import annotations

import math
import time
from typing import Any

import anyio
from inspect_ai.event import ErrorEvent, SampleLimitEvent
from inspect_ai.log import transcript
from inspect_ai.model import ModelUsage
from inspect_ai.scorer import Score, Scorer, Target, scorer
from inspect_ai.solver import TaskState
from inspect_ai.util import sandbox

from workbench.core.errors import TrialError, policy, read_fault
from workbench.core.record import Exposure, Load, Outcome, RouteInfo, Spend, TrialRecord
from workbench.core.types import FunnelStage
from workbench.evaluation import trials
from workbench.evaluation.answers import judge_answer
from workbench.evaluation.columns import COLUMNS, column_metrics
from workbench.evaluation.container import docker_of
from workbench.evaluation.experiment import Experiment
from workbench.evaluation.faults import as_faults, cut_off, raise_earlier_fault
from workbench.evaluation.funnel import stage
from workbench.evaluation.judgement import judge
from workbench.evaluation.loads import detect
from workbench.evaluation.prepare import arm_of
from workbench.evaluation.state import CUSTOM, TrialState
from workbench.evaluation.transcripts import answered, cut_short, transcript_calls
from workbench.evaluation.treatment import changed
from workbench.evaluation.use import use_of
from workbench.evaluation.verify import Verdict
from workbench.evaluation.viewing import answer, explanation

NAME = "workbench"
_DETAIL = 2000
_UNUSUAL_STOPS = {"max_tokens", "model_length", "content_filter"}


class Written(dict[str, Any]):
    """A record as JSON, changed by nobody, so that it is its own copy.

    Inspect copies every score for every column, each time that it brings its display up to date.
    """

    def __deepcopy__(self, memo: dict[int, Any]) -> Written:
        return self


def workbench_scorer(experiment: Experiment) -> Scorer:
    """The one scorer of an experiment; its score is named ``workbench``."""

    @scorer(metrics=column_metrics(), name=NAME)
    def build() -> Scorer:
        async def score(state: TaskState, target: Target) -> Score:
            del target
            return await _score(experiment, state)

        return score

    return build()


async def _score(experiment: Experiment, state: TaskState) -> Score:
    """Verify and record. A failure worth running again ends the sample in an error, unless it already has."""
    started, kept = time.monotonic(), trials.state_of(state.uuid)
    verdict: Verdict | None = None
    try:
        raise_earlier_fault(kept)
        with cut_off("verifier_timeout"):
            verdict = await _verify(experiment, state, kept)
        outcome = _scored(state, kept, verdict)
    except TrialError as error:
        experiment.guard.saw(error, str(state.sample_id))
        outcome = _ended(error, state, kept)
        if verdict is None and policy(error.cause).retry and not _has_failed():
            raise
    finally:
        trials.end(state.uuid)
        if experiment.budget is not None:
            usages = _usages()
            with anyio.CancelScope(shield=True):
                await experiment.budget.settle(state.uuid, _total(usages, "total_cost"))
    record = _record(experiment, state, kept, outcome, started)
    return Score(
        value=_values(record),
        answer=answer(record, _said(experiment, state)),
        explanation=explanation(record, verdict),
        reason=outcome.cause,
        metadata={"record": Written(record.model_dump(mode="json"))},
    )


def _said(experiment: Experiment, state: TaskState) -> str | None:
    """What was answered, where the task is a question."""
    task = experiment.suite.task(str(state.metadata["task"]))
    return None if task.question is None else state.output.completion


async def _verify(experiment: Experiment, state: TaskState, kept: TrialState) -> Verdict:
    """Let the verifier judge."""
    with as_faults("harness_bug"):
        trial = trials.trial_of(state.uuid)
        if trial.task.question is not None:
            return await judge_answer(
                state.output.completion, trial.task.question, experiment.arguments.judge
            )
        await _notice_changes(kept)
        return await judge(experiment, trial.task, trial.sandbox_layout, kept)


async def _notice_changes(kept: TrialState) -> None:
    """Tell apart trials whose agent has changed the skills that it was given."""
    box = docker_of(sandbox())
    if box is not None and await changed(box, kept.places, kept.skill_files):
        kept.incident("skills_changed")


def _ended(error: TrialError, state: TaskState, kept: TrialState) -> Outcome:
    """A trial that ended before it was judged: excluded, unless the policy gives it a score."""
    outcome = Outcome(
        status="excluded", cause=error.cause, detail=error.detail[:_DETAIL], incidents=_incidents(kept)
    )
    score = policy(error.cause).score
    if score is None:
        return outcome
    found = {"status": "scored", "reward": score, "funnel": _stage(state, kept, score)}
    return outcome.model_copy(update=found)


def _scored(state: TaskState, kept: TrialState, verdict: Verdict) -> Outcome:
    return Outcome(
        status="scored",
        reward=verdict.reward,
        incidents=_incidents(kept),
        tests=verdict.tests,
        funnel=_stage(state, kept, verdict.reward),
    )


def _stage(state: TaskState, kept: TrialState, reward: float) -> FunnelStage:
    route, exposure = _parts(kept)
    observed = _observed(kept, exposure)
    return stage(
        reward,
        gold=route.gold,
        in_pool=route.gold_in_pool if arm_of(state).condition == "routed" else route.gold,
        routed=exposure.routed,
        shown=None if kept.blind or kept.agent == CUSTOM else exposure.shown,
        loaded=None if observed is None else {load.id for load in observed},
    )


def _parts(kept: TrialState) -> tuple[RouteInfo, Exposure]:
    if kept.route is None or kept.exposure is None:
        raise TrialError("harness_bug", "the trial was not set up")
    return kept.route, kept.exposure


def _observed(kept: TrialState, exposure: Exposure) -> tuple[Load, ...] | None:
    """Loads by turn: those that tools reported, and those seen in other tool calls.

    ``None`` where nothing could be seen: the agent is blind by design, or works without tool calls
    that the transcript shows.
    """
    calls = transcript_calls(transcript().events)
    if kept.blind or (kept.agent == CUSTOM and not calls):
        return None
    others = [call for call in calls if call.tool != "load_skill"]
    seen = [*kept.loads, *detect(others, exposure.installed, kept.places)]
    return tuple(sorted(seen, key=lambda load: load.turn))


def _incidents(kept: TrialState) -> tuple[str, ...]:
    reported = kept.incidents
    events = transcript().events
    met = (e for e in events if isinstance(e, SampleLimitEvent) and not _is_fault(e.message))
    limits = [f"limit:{event.type}" for event in met]
    if "agent_timeout" in reported:  # Inspect logs the task's own time limit as well
        limits = [name for name in limits if name != "limit:time"]
    stops = [f"stop:{call.output.stop_reason}" for call in answered(events)]
    unusual = [stop for stop in stops if stop.removeprefix("stop:") in _UNUSUAL_STOPS]
    return tuple(dict.fromkeys([*reported, *limits, *unusual, *_sandbox_incidents()]))


def _is_fault(message: str) -> bool:
    """Whether Inspect logged as a limit what is the trial's own cause."""
    return read_fault(message) != ("harness_bug", message)


def _sandbox_incidents() -> list[str]:
    """What the container met, e.g. ``out_of_memory``; none where there is no container (any more)."""
    try:
        box = docker_of(sandbox())
    except ProcessLookupError:
        return []
    return [] if box is None else box.incidents


def _has_failed() -> bool:
    return any(isinstance(event, ErrorEvent) for event in transcript().events)


def _record(
    experiment: Experiment, state: TaskState, kept: TrialState, outcome: Outcome, verify_started: float
) -> TrialRecord:
    arm = arm_of(state)
    task_id = str(state.metadata["task"])
    arguments = experiment.arguments
    exposure = kept.exposure or Exposure(disclosure=arguments.showing.way, nudge=arguments.showing.nudge)
    observed = _observed(kept, exposure)
    route = kept.route or experiment.routes.unrouted(task_id)
    exposure = exposure.model_copy(update={"loads": observed or (), "blind": observed is None})
    return TrialRecord(
        suite=experiment.suite.name,
        task=task_id,
        epoch=state.epoch,
        condition=arm.condition,
        router=arm.router,
        model=str(state.model),
        agent=kept.agent,
        seed=arguments.seed,
        sandbox=kept.sandbox,
        image=kept.image,
        task_digest=experiment.task_digests[task_id],
        notes=tuple(kept.notes),
        limits=tuple(kept.limits),
        group={k: str(v) for k, v in experiment.suite.task(task_id).tags.items()},
        route=route,
        exposure=exposure,
        outcome=outcome,
        use=use_of(exposure, route.gold),
        spend=_spend(kept, verify_started),
    )


def _spend(kept: TrialState, verify_started: float) -> Spend:
    """What the trial took; somebody else's solver had the time between setup and verification."""
    agent_seconds = kept.agent_seconds
    if agent_seconds is None and kept.setup_ended is not None:
        agent_seconds = verify_started - kept.setup_ended
    usages = _usages()
    return Spend(
        input_tokens=_total(usages, "input_tokens"),
        output_tokens=_total(usages, "output_tokens"),
        total_tokens=_total(usages, "total_tokens"),
        cost_usd=_total(usages, "total_cost"),
        setup_seconds=kept.setup_seconds,
        agent_seconds=agent_seconds,
        verify_seconds=time.monotonic() - verify_started,
        turns=len(answered(transcript().events)),
    )


def _usages() -> list[ModelUsage | None]:
    """Of every answered call; ``None`` where it is unknown, and for a call that was cut short."""
    events = transcript().events
    lost: list[ModelUsage | None] = [None] if cut_short(events) else []
    return [*(call.output.usage for call in answered(events)), *lost]


def _total(usages: list[ModelUsage | None], name: str) -> Any:
    """The sum over calls; unknown as soon as one call's figure is unknown; 0 without calls."""
    values = [None if usage is None else getattr(usage, name, None) for usage in usages]
    return None if any(value is None for value in values) else sum(values)


def _values(record: TrialRecord) -> dict[str, float]:
    """Reward and routing metrics; NaN is Inspect's "unscored"."""
    measured = {"reward": record.outcome.reward, **record.route.metrics}
    return {name: math.nan if (v := measured.get(name)) is None else float(v) for name in COLUMNS}
