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


def true_means(rng: np.random.Generator, tasks: int, mean: float, correlation: float) -> Array:
    """Mean fractional rewards of `tasks` drawn tasks, for `graded_rewards`.

    Args:
        mean: over all tasks, in (0, 1). A single reward varies by a third of ``mean (1 - mean)``, as a
            uniform one does, and tasks have the share `correlation` of that.
    """
    import numpy as np

    if correlation == 0:
        return np.full(tasks, mean)
    size = 3 / correlation - 1
    return rng.beta(mean * size, (1 - mean) * size, tasks)


def graded_rewards(
    rng: np.random.Generator, means: Array, trials: int, correlation: float, steps: int | None
) -> list[list[float]]:
    """Rewards in [0, 1] per task, `trials` of each, with the means of `true_means`.

    Args:
        steps: rewards are multiples of 1 / `steps`, rounded by chance, which keeps their means; ``None``:
            continuous. At a correlation of 1 all trials of a task are the same.
    """
    import numpy as np

    shape = (len(means), 1 if correlation == 1 else trials)
    found = np.broadcast_to(means[:, None], shape)
    if correlation < 1:
        size = (3 - correlation) / (1 - correlation) - 1
        inner = np.clip(found, 1e-9, 1 - 1e-9)
        found = np.where((found > 0) & (found < 1), rng.beta(inner * size, (1 - inner) * size), found)
    if steps is not None:
        found = np.floor(found * steps + rng.random(shape)) / steps
    rows: list[list[float]] = np.broadcast_to(np.clip(found, 0, 1), (len(means), trials)).tolist()
    return rows
