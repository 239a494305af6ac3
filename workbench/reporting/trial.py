"""One planned trial as reports see it: scored, excluded with a cause, or pending."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from workbench.core.errors import POLICY, policy, read_fault
from workbench.core.record import RouteInfo, TrialRecord
from workbench.core.types import CONDITIONS, TASK_PREFIX, Arm
from workbench.reporting.logfile import Header, LoggedSample
from workbench.reporting.settings import Named, sampling, settings_of
from workbench.reporting.wording import ends

Status = Literal["scored", "excluded", "pending"]

_DETAIL = 500
_NOT_RUN = frozenset(("cancelled", "stopped"))
"""Causes of trials that a resumed run will run."""


@dataclass(frozen=True, slots=True)
class Trial:
    """A row of the plan and what became of it.

    Attributes:
        model: as the log names it, with the sampling settings that were given.
        status: `scored` has a `record` with a reward in [0, 1]; `excluded` a `cause`; `pending` was
            not started, or was interrupted.
        cause: the key of `errors.POLICY` that ended it; ``None`` where a verifier judged it. One that has
            a score there is `scored`.
        record: ``None`` where the sample ended before scoring.
        route: what the router answered, also where only that is known.
        agent: as the log names it, where the record does not tell it apart from others.
        run: id of the evaluation (one log) that it belongs to.
        settings: what that evaluation set for all of its trials.
    """

    suite: str
    task: str
    arm: Arm
    model: str
    epoch: int
    status: Status
    sample_id: str
    log: Path
    run: str
    cause: str | None = None
    detail: str = ""
    record: TrialRecord | None = None
    route: RouteInfo | None = None
    agent: str | None = None
    settings: Named = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """What the samples of one log have in common."""

    suite: str
    model: str
    run: str
    log: Path
    solver: str | None = None
    settings: Named = ()

    @classmethod
    def of(cls, header: Header, log: Path) -> Plan:
        """Read from a log's header."""
        suite = (header.eval.metadata or {}).get("suite") or header.eval.task.rsplit("/", 1)[-1]
        model = header.eval.model + sampling(header.eval.model_generate_config)
        return cls(str(suite), model, header.eval.eval_id, log, _solver(header), settings_of(header))

    def pending(self, sample_id: str, epoch: int, detail: str) -> Trial:
        """A trial without an outcome."""
        task, arm = split_id(sample_id)
        return Trial(
            suite=self.suite,
            task=task,
            arm=arm,
            model=self.model,
            epoch=epoch,
            status="pending",
            sample_id=sample_id,
            log=self.log,
            run=self.run,
            detail=detail,
            agent=self.solver,
            settings=self.settings,
        )

    def excluded(self, sample_id: str, epoch: int, fault: tuple[str, str], route: RouteInfo | None) -> Trial:
        """A trial that ended before scoring; `fault` is (cause, detail)."""
        cause, detail = fault
        pending = self.pending(sample_id, epoch, ends(detail, _DETAIL))
        return replace(pending, status="excluded", cause=cause, route=route)

    def recorded(self, sample_id: str, record: TrialRecord) -> Trial:
        """A trial with its joint record."""
        status, cause, detail = _verdict(record)
        return Trial(
            suite=record.suite,
            task=record.task,
            arm=record.arm,
            model=self.model,
            epoch=record.epoch,
            status=status,
            sample_id=sample_id,
            log=self.log,
            run=self.run,
            cause=cause,
            detail=ends(detail, _DETAIL),
            record=record,
            route=record.route,
            agent=self.solver,
            settings=self.settings,
        )


def trial_of(plan: Plan, sample: LoggedSample) -> Trial:
    """What became of one sample that ended."""
    sample_id = str(sample.id)
    if sample.damage is not None:
        fault = ("harness_bug", f"unreadable in the log: {sample.damage}")
        return plan.excluded(sample_id, sample.epoch, fault, None)
    if sample.invalidation is not None:
        return plan.pending(sample_id, sample.epoch, "invalidated")
    if sample.record is None and sample.error is None:
        return plan.pending(sample_id, sample.epoch, "ended without a score")
    trial = _recorded(plan, sample) if sample.record is not None else _errored(plan, sample)
    if trial.status == "excluded" and (trial.cause in _NOT_RUN or _interrupted(sample)):
        return plan.pending(sample_id, sample.epoch, trial.detail)
    return trial


def split_id(sample_id: str) -> tuple[str, Arm]:
    """``<task>@<arm label>`` -> task and arm.

    Raises:
        ValueError: it has no such form.
    """
    task, _, label = sample_id.rpartition("@")
    condition, _, router = label.partition("-")
    for known in CONDITIONS:
        if task and condition == known and (known == "routed") == bool(router):
            return task, Arm(known, router or None)
    raise ValueError(f"sample id '{sample_id}' is not <task>@<arm>")


def _errored(plan: Plan, sample: LoggedSample) -> Trial:
    message = "" if sample.error is None else sample.error.message
    return plan.excluded(str(sample.id), sample.epoch, read_fault(message), _route(sample))


def _interrupted(sample: LoggedSample) -> bool:
    """Whether the run was stopped while the sample ran, which is nobody's fault."""
    return sample.error is not None and sample.error.message.startswith(("CancelledError(", "Cancelled("))


def _recorded(plan: Plan, sample: LoggedSample) -> Trial:
    try:
        record = TrialRecord.model_validate(sample.record)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        fault = ("harness_bug", f"the joint record could not be read: {where}: {first['msg']}")
        return plan.excluded(str(sample.id), sample.epoch, fault, None)
    return plan.recorded(str(sample.id), record)


def _verdict(record: TrialRecord) -> tuple[Status, str | None, str]:
    """(status, cause, detail); a score that is none, or that its cause does not give, is not believed."""
    outcome = record.outcome
    cause, detail = outcome.cause, outcome.detail
    if outcome.status == "excluded":
        known = cause in POLICY
        return ("excluded", cause, detail) if known else ("excluded", "harness_bug", f"{cause}: {detail}")
    if outcome.reward is None or math.isnan(outcome.reward) or not 0 <= outcome.reward <= 1:
        return "excluded", "harness_bug", f"scored with reward {outcome.reward}"
    if cause is not None and policy(cause).score != outcome.reward:
        return "excluded", "harness_bug", f"scored with reward {outcome.reward} for {cause}: {detail}"
    return "scored", cause, detail


def _route(sample: LoggedSample) -> RouteInfo | None:
    """The route kept in the store, where setup got that far."""
    try:
        return None if sample.store.route is None else RouteInfo.model_validate(sample.store.route)
    except ValidationError:
        return None


def _solver(header: Header) -> str | None:
    """The solver given by ``--solver`` with its arguments, ``None`` for the task's own."""
    name = header.eval.solver
    if name is None:
        return None
    given = header.eval.solver_args_passed or {}
    arguments = ", ".join(f"{key}={value}" for key, value in sorted(given.items()))
    plain = name.removeprefix(TASK_PREFIX)
    return f"{plain}({arguments})" if arguments else plain
