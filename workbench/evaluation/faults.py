"""Failures on the way to a score, with the cause that the one policy table knows them by."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from inspect_ai.event import ErrorEvent
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


def raise_earlier_fault(record: TrialState) -> None:
    """Raise what ended the trial before it could be verified; Inspect scores such samples too."""
    if record.fault:
        raise TrialError(*read_fault(record.fault))
    for event in reversed(transcript().events):
        if isinstance(event, ErrorEvent):
            raise TrialError(*read_fault(event.error.message))
