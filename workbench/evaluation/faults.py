"""Failures on the way to a score, with the cause that the one policy table knows them by."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import anyio
from inspect_ai.event import ErrorEvent, SampleLimitEvent
from inspect_ai.log import transcript

from workbench.core.errors import (
    InfrastructureError,
    TrialError,
    WorkbenchError,
    as_trial_error,
    read_fault,
)
from workbench.evaluation.state import TrialState


@contextmanager
def as_faults(cause: str) -> Iterator[None]:
    """Let only errors with a cause out of the block: our other errors get `cause`.

    A TimeoutError here is a command of ours that did not come back: the sandbox is lost. Inspect
    would take it for an agent out of time, and score.
    """
    try:
        yield
    except TimeoutError as error:
        raise InfrastructureError(
            "infra:sandbox_lost", f"a command of the harness did not end: {error}"
        ) from error
    except WorkbenchError as error:
        raise as_trial_error(error, cause) from error


@contextmanager
def cut_off(cause: str) -> Iterator[None]:
    """Give a block that outlives the time it was left its `cause`; a user's interrupt stays one.

    Inspect leaves scoring half of a trial's time limit, and then ends the sample in a plain error.
    """
    began, deadline = anyio.current_time(), anyio.current_effective_deadline()
    try:
        yield
    except anyio.get_cancelled_exc_class():
        if not began <= deadline <= anyio.current_time():
            raise
        left = f"{deadline - began:.1f} s, half of the trial's time limit"
        raise TrialError(cause, f"did not end within {left}; give a higher limit") from None


def raise_earlier_fault(record: TrialState) -> None:
    """Raise what ended the trial before it could be verified; Inspect scores such samples too.

    A limit that was met while the trial was set up is the machine's: no agent had acted yet.
    """
    if record.fault:
        raise TrialError(*read_fault(record.fault))
    for event in reversed(transcript().events):
        if isinstance(event, ErrorEvent):
            raise TrialError(*read_fault(event.error.message))
        if isinstance(event, SampleLimitEvent) and record.setup_ended is None:
            raise _met_in_setup(event)


def _met_in_setup(event: SampleLimitEvent) -> TrialError:
    if event.type == "operator":
        return TrialError("cancelled", f"stopped before the agent began: {event.message}")
    limit = "" if event.limit is None else f" of {event.limit:g}"
    detail = f"the {event.type} limit{limit} was met in set-up, before the agent began; give a higher one"
    return InfrastructureError("infra:start", detail)
