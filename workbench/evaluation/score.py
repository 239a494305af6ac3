"""The scorer: verify the sandbox, then write the joint record as the metadata of the one score.

The score's value holds the reward and the routing metrics as numbers, so that Inspect's own
viewer and metrics show both; `record` in its metadata is the whole `TrialRecord`. A trial whose
machinery failed is scored NaN (Inspect's "unscored") with its cause, never 0.
"""

from __future__ import annotations

import math
import time
from typing import Any

from inspect_ai.event import ErrorEvent, ModelEvent, SampleLimitEvent, ToolEvent
from inspect_ai.log import transcript
from inspect_ai.model import ModelUsage
from inspect_ai.scorer import Score, Scorer, Target, scorer
from inspect_ai.solver import TaskState
from inspect_ai.util import sandbox, store_as

from workbench.core.errors import TrialError, read_fault
from workbench.core.record import Exposure, Load, Outcome, RouteInfo, Spend, TrialRecord
from workbench.evaluation import trials
from workbench.evaluation.columns import COLUMNS, column_metrics
from workbench.evaluation.dataset import verifier_network
from workbench.evaluation.experiment import Experiment
from workbench.evaluation.funnel import stage
from workbench.evaluation.loads import Call, detect
from workbench.evaluation.prepare import arm_of, docker_of
from workbench.evaluation.state import TrialState
from workbench.evaluation.verify import Verdict, verify

NAME = "workbench"
_DETAIL = 2000


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
    started = time.monotonic()
    verdict: Verdict | None = None
    try:
        _raise_earlier_fault()
        trial = trials.trial_of(state.uuid)
        await _open_network(experiment, state)
        verdict = await verify(sandbox(), trial.task, trial.layout)
        outcome = _scored(state, verdict)
    except TrialError as error:
        experiment.guard.saw(error, str(state.sample_id))
        outcome = Outcome(
            status="excluded", cause=error.cause, detail=error.detail[:_DETAIL], incidents=_incidents()
        )
    finally:
        trials.end(state.uuid)
    record = _record(experiment, state, outcome, time.monotonic() - started)
    return Score(
        value=_values(record),
        answer=outcome.funnel or outcome.cause,
        explanation=_explanation(record, verdict),
        reason=outcome.cause,
        metadata={"record": record.model_dump(mode="json")},
    )


def _raise_earlier_fault() -> None:
    """A sample that failed before scoring (Inspect scores those too) is not verified."""
    for event in reversed(transcript().events):
        if isinstance(event, ErrorEvent):
            cause, detail = read_fault(event.error.message)
            raise TrialError(cause, detail)


async def _open_network(experiment: Experiment, state: TaskState) -> None:
    """Give the verifier its own network; the agent's processes are about to be judged by it."""
    box = docker_of(sandbox())
    if box is not None:
        task = experiment.suite.task(str(state.metadata["task"]))
        await box.set_network(verifier_network(experiment.suite, task))


def _scored(state: TaskState, verdict: Verdict) -> Outcome:
    record = store_as(TrialState)
    route, exposure = _parts(record)
    loads = _loads(record, exposure)
    arm = arm_of(state)
    funnel = stage(
        verdict.reward,
        gold=route.gold,
        in_pool=route.gold_in_pool if arm.condition == "routed" else route.gold,
        routed=exposure.routed,
        shown=None if record.blind or record.agent == "custom" else exposure.shown,
        loaded=None if record.blind else {load.id for load in loads},
    )
    return Outcome(
        status="scored", reward=verdict.reward, incidents=_incidents(), tests=verdict.tests, funnel=funnel
    )


def _parts(record: TrialState) -> tuple[RouteInfo, Exposure]:
    if record.route is None or record.exposure is None:
        raise TrialError("harness_bug", "the trial was not set up")
    return record.route, record.exposure


def _loads(record: TrialState, exposure: Exposure) -> tuple[Load, ...]:
    """Loads reported by tools and those seen in other tool calls, by turn."""
    calls: list[Call] = []
    turn = 0
    for event in transcript().events:
        if isinstance(event, ModelEvent):
            turn += 1
        elif isinstance(event, ToolEvent) and event.function != "load_skill":
            calls.append(Call(turn, event.function, event.arguments))
    seen = [*record.loads, *detect(calls, exposure.installed, record.places)]
    return tuple(sorted(seen, key=lambda load: load.turn))


def _incidents() -> tuple[str, ...]:
    reported = store_as(TrialState).incidents
    limits = [f"limit:{e.type}" for e in transcript().events if isinstance(e, SampleLimitEvent)]
    if "agent_timeout" in reported:  # Inspect logs the task's own time limit as well
        limits = [name for name in limits if name != "limit:time"]
    return tuple(dict.fromkeys([*reported, *limits, *_sandbox_incidents()]))


def _sandbox_incidents() -> list[str]:
    """What the container met, e.g. ``out_of_memory``; none where there is no container (any more)."""
    try:
        box = docker_of(sandbox())
    except ProcessLookupError:
        return []
    return [] if box is None else box.incidents


def _record(experiment: Experiment, state: TaskState, outcome: Outcome, verify_seconds: float) -> TrialRecord:
    record, arm = store_as(TrialState), arm_of(state)
    task_id = str(state.metadata["task"])
    arguments = experiment.arguments
    exposure = record.exposure or Exposure(disclosure=arguments.disclosure)
    return TrialRecord(
        suite=experiment.suite.name,
        task=task_id,
        epoch=state.epoch,
        condition=arm.condition,
        router=arm.router,
        model=str(state.model),
        agent=record.agent,
        seed=arguments.seed,
        sandbox=record.sandbox,
        image=record.image,
        task_digest=experiment.task_digests[task_id],
        notes=tuple(record.notes),
        group={k: str(v) for k, v in experiment.suite.task(task_id).tags.items()},
        route=record.route or experiment.routes.route(arm, task_id),
        exposure=exposure.model_copy(update={"loads": _loads(record, exposure), "blind": record.blind}),
        outcome=outcome,
        spend=_spend(record, verify_seconds),
    )


def _spend(record: TrialState, verify_seconds: float) -> Spend:
    calls = [e for e in transcript().events if isinstance(e, ModelEvent)]
    usages = [call.output.usage for call in calls if call.output is not None]
    return Spend(
        input_tokens=_total(usages, "input_tokens"),
        output_tokens=_total(usages, "output_tokens"),
        total_tokens=_total(usages, "total_tokens"),
        cost_usd=_total(usages, "total_cost"),
        setup_seconds=record.setup_seconds,
        agent_seconds=record.agent_seconds,
        verify_seconds=verify_seconds,
        turns=len(calls),
    )


def _total(usages: list[ModelUsage | None], name: str) -> Any:
    """The sum over calls; unknown as soon as one call's figure is unknown; 0 without calls."""
    values = [None if usage is None else getattr(usage, name, None) for usage in usages]
    return None if any(value is None for value in values) else sum(values)


def _values(record: TrialRecord) -> dict[str, float]:
    """Reward and routing metrics; NaN is Inspect's "unscored"."""
    measured = {"reward": record.outcome.reward, **record.route.metrics}
    return {name: math.nan if (v := measured.get(name)) is None else float(v) for name in COLUMNS}


def _explanation(record: TrialRecord, verdict: Verdict | None) -> str:
    outcome, exposure = record.outcome, record.exposure
    result = outcome.cause if outcome.reward is None else f"reward {outcome.reward:g}"
    lines = [
        f"{record.arm.label}: {result}",
        f"funnel: {outcome.funnel or 'not measured'}",
        f"gold: {', '.join(record.route.gold) or 'none'}",
        f"routed: {', '.join(exposure.routed) or 'nothing'}",
        f"loaded: {', '.join(dict.fromkeys(load.id for load in exposure.loads)) or 'nothing'}",
    ]
    lines += [f"incidents: {', '.join(outcome.incidents)}"] if outcome.incidents else []
    lines += [outcome.detail] if outcome.detail else []
    lines += [f"verifier:\n{verdict.output}"] if verdict is not None else []
    return "\n".join(lines)
