"""Waits and ends of a call's retries."""

from __future__ import annotations

import time

import pytest
from tenacity import AsyncRetrying, RetryCallState

from workbench.core.errors import TrialError
from workbench.models.errors import RetryableError
from workbench.models.retries import Limits, RetryWait, limit_call


def failed(error: Exception, attempt: int = 1, seconds_ago: float = 0.0) -> RetryCallState:
    """The state after an attempt that failed."""
    state = RetryCallState(AsyncRetrying(), None, (), {})
    state.attempt_number = attempt
    state.start_time = time.monotonic() - seconds_ago
    state.set_exception((type(error), error, None))
    return state


@pytest.fixture(autouse=True)
def _no_limits() -> None:
    limit_call(Limits())


def test_what_the_server_asks_for_is_waited_for_up_to_the_longest_wait() -> None:
    wait = RetryWait(backoff=3, longest=60)
    assert 7 <= wait(failed(RetryableError("x", retry_after=7))) <= 7.7
    assert 60 <= wait(failed(RetryableError("x", retry_after=3600))) <= 66


def test_without_a_word_from_the_server_the_wait_doubles_up_to_the_longest() -> None:
    wait = RetryWait(backoff=3, longest=60)
    waited = [wait(failed(RetryableError("x"), attempt)) for attempt in (1, 2, 3, 20)]
    expected = (3, 6, 12, 60)
    assert all(e <= w <= e * 1.1 for w, e in zip(waited, expected, strict=True))


def test_only_failures_with_a_limit_count_towards_it() -> None:
    wait = RetryWait(backoff=1, longest=1)
    wait(failed(RetryableError("bad", limit=2), 1))
    wait(failed(RetryableError("busy"), 2))
    with pytest.raises(TrialError, match=r"^\[api\] bad \(given up after 3 attempts\)$"):
        wait(failed(RetryableError("bad", limit=2), 3))


def test_a_call_ends_with_the_attempts_and_the_seconds_it_was_given() -> None:
    limit_call(Limits(attempts=2, seconds=10))
    wait = RetryWait(backoff=1, longest=1)
    wait(failed(RetryableError("x"), 1))
    with pytest.raises(TrialError, match="given up after 2 attempts"):
        wait(failed(RetryableError("x"), 2))
    with pytest.raises(TrialError, match=r"^\[api\] TimeoutError: slow"):
        wait(failed(TimeoutError("slow"), 1, seconds_ago=11))
