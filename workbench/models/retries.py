"""How long to wait before asking again, and when to give up. Inspect owns the retries themselves."""

from __future__ import annotations

import random
from contextvars import ContextVar
from dataclasses import dataclass

from tenacity import RetryCallState, wait_exponential
from tenacity.wait import wait_base

from workbench.core.errors import TrialError
from workbench.models.errors import RetryableError


@dataclass(frozen=True)
class Limits:
    """What the user allows a call: attempts in all, seconds in all; ``None`` is no limit."""

    attempts: int | None = None
    seconds: float | None = None


_LIMITS: ContextVar[Limits] = ContextVar("limits of the model call in progress")


def limit_call(limits: Limits) -> None:
    """Note the limits of the call in progress, for its `RetryWait`, which Inspect makes without them."""
    _LIMITS.set(limits)


class RetryWait(wait_base):
    """The waits of one logical call, in seconds.

    What the server asked for, else `backoff` doubling; never longer than `longest` plus a tenth,
    by which waits are spread so that parallel trials do not come back at the same moment.

    Raises:
        TrialError: ``api``, once the call's limits are reached. (Inspect would end it there too, with
            an error that does not say why; and its limits know no kinds of failure.)
    """

    def __init__(self, backoff: float, longest: float) -> None:
        self._growing = wait_exponential(multiplier=backoff, max=longest)
        self._longest = longest
        self._limited = 0

    def __call__(self, retry_state: RetryCallState) -> float:
        error = retry_state.outcome.exception() if retry_state.outcome else None
        if self._given_up(error, retry_state):
            detail = error.detail if isinstance(error, TrialError) else f"{type(error).__name__}: {error}"
            raise TrialError("api", f"{detail} (given up after {retry_state.attempt_number} attempts)")
        seconds = self._growing(retry_state)
        if isinstance(error, RetryableError) and error.retry_after is not None:
            seconds = min(error.retry_after, self._longest)
        return seconds * random.uniform(1.0, 1.1)

    def _given_up(self, error: BaseException | None, state: RetryCallState) -> bool:
        limits = _LIMITS.get(Limits())
        if isinstance(error, RetryableError) and error.limit is not None:
            self._limited += 1
            if self._limited >= error.limit:
                return True
        if limits.attempts is not None and state.attempt_number >= limits.attempts:
            return True
        spent = state.seconds_since_start
        return limits.seconds is not None and spent is not None and spent >= limits.seconds
