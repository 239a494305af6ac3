"""pass@k (any of k trials passes) and pass^k (all k pass), estimated from n >= k trials per task."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from workbench.stats.interval import LEVEL, Interval
from workbench.stats.proportion import Rate, clopper_pearson, rate_of

Kind = Literal["any", "all"]


def pass_at_k(n: int, c: int, k: int) -> float | None:
    """Unbiased pass@k of one task, 1 - C(n-c, k)/C(n, k) (Chen et al. 2021, eq. 1); ``None`` if n < k.

    Args:
        n: scored trials of the task.
        c: those that passed.
        k: trials a user would make.
    """
    _check(n, c, k)
    return None if n < k else 1 - math.comb(n - c, k) / math.comb(n, k)


def pass_hat_k(n: int, c: int, k: int) -> float | None:
    """Unbiased pass^k of one task, C(c, k)/C(n, k) (Yao et al. 2024); ``None`` if n < k."""
    _check(n, c, k)
    return None if n < k else math.comb(c, k) / math.comb(n, k)


@dataclass(frozen=True, slots=True)
class TaskCount:
    """One task's trials: how many were planned, scored, and passed."""

    task: str
    planned: int
    scored: int
    passed: int


@dataclass(frozen=True, slots=True)
class PassK:
    """Mean over tasks of the per-task estimates for one k.

    Attributes:
        kind: ``any`` for pass@k, ``all`` for pass^k.
        estimate, interval: ``None`` when some task has fewer than k scored trials.
        low, high: the mean if every trial not scored had failed, had passed; ``None`` when fewer
            than k were planned for some task.
        short: tasks with trials not scored.
        reason: why the estimate is missing, else ``None``.
    """

    kind: Kind
    k: int
    estimate: float | None
    interval: Interval | None
    low: float | None
    high: float | None
    tasks: int
    short: tuple[str, ...]
    reason: str | None


def pass_k(tasks: Sequence[TaskCount], k: int, kind: Kind, level: float = LEVEL) -> PassK:
    """pass@k or pass^k over tasks (at least one); never over a silently shorter list of tasks.

    Sets of k trials that share none are what may count as independent: as many as there are in each task.
    """
    formula = pass_at_k if kind == "any" else pass_hat_k
    short = tuple(task.task for task in tasks if task.scored < task.planned)
    values = [formula(task.scored, task.passed, k) for task in tasks]
    known = [value for value in values if value is not None]
    low = _mean([formula(task.planned, task.passed, k) for task in tasks])
    high = _mean([formula(t.planned, t.passed + t.planned - t.scored, k) for t in tasks])
    lacking = len(values) - len(known)
    if lacking:
        reason = f"{lacking} of {len(tasks)} tasks have fewer than {k} scored trials"
        return PassK(kind, k, None, None, low, high, len(tasks), short, reason)
    rate = rate_of(known, max(len(tasks), sum(task.scored for task in tasks) / k), level)
    interval = rate.interval if k == 1 else _rare(rate, level)
    return PassK(kind, k, rate.mean, interval, low, high, len(tasks), short, None)


def _rare(rate: Rate, level: float) -> Interval | None:
    """The wider of score and exact interval: of what one task in hundreds does, Wilson's misses 13 %."""
    if (score := rate.interval) is None:
        return None
    exact = clopper_pearson(rate.mean * rate.effective, rate.effective, level)
    return Interval(min(score.low, exact.low), max(score.high, exact.high), level)


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return math.fsum(known) / len(known) if len(known) == len(values) else None


def _check(n: int, c: int, k: int) -> None:
    if not (0 <= c <= n and k >= 1):
        raise ValueError(f"need 0 <= c <= n and k >= 1, not n={n}, c={c}, k={k}")
