"""Rewards whose truth is known, to hold methods against."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]


def true_rates(rng: np.random.Generator, tasks: int, rate: float, correlation: float) -> Array:
    """Success rates of `tasks` drawn tasks, beta-distributed.

    Args:
        rate: their mean over all tasks, in (0, 1).
        correlation: between two trials of one task (intraclass), in [0, 1]: at 0 all tasks have the
            mean rate, at 1 each task always passes or always fails.
    """
    import numpy as np

    if correlation == 0:
        return np.full(tasks, rate)
    if correlation == 1:
        return (rng.random(tasks) < rate).astype(float)
    size = (1 - correlation) / correlation
    return rng.beta(rate * size, (1 - rate) * size, tasks)


def rewards(rng: np.random.Generator, rates: Array, trials: int | None) -> list[list[float]]:
    """0/1 rewards per task, `trials` of each; ``None``: each task has one to five."""
    most = 5 if trials is None else trials
    passed: list[list[float]] = (rng.random((len(rates), most)) < rates[:, None]).astype(float).tolist()
    if trials is not None:
        return passed
    return [row[:count] for row, count in zip(passed, rng.integers(1, 6, len(rates)), strict=True)]
