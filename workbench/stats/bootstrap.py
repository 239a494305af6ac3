"""The cluster bootstrap over tasks: whole tasks are drawn, with all their trials."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from workbench.stats.interval import LEVEL, Interval
from workbench.stats.quantiles import normal_cdf, normal_quantile

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

Method = Literal["percentile", "bca"]


def bootstrap_mean(
    values: Sequence[float],
    rng: np.random.Generator | int,
    method: Method = "bca",
    level: float = LEVEL,
    draws: int = 9_999,
) -> Interval:
    """Bootstrap interval of the mean of task-level values (rates or paired differences).

    Args:
        values: one per task, at least two; trials are averaged within their task beforehand, so
            that drawing values is drawing whole tasks.
        method: ``percentile``, or ``bca`` (bias-corrected and accelerated; Efron 1987, eq. 6.8).

    Both cover too rarely below some 30 tasks and have no width when all tasks agree, which is
    why reports show `paired.difference` and this is the check beside it.

    Raises:
        ValueError: fewer than two values.
    """
    import numpy as np

    data = np.asarray(values, dtype=float)
    if len(data) < 2:
        raise ValueError("a bootstrap over tasks needs at least two tasks")
    means = np.sort(_means(data, np.random.default_rng(rng), draws))
    tails = ((1 - level) / 2, (1 + level) / 2)
    if method == "bca":
        tails = _bca_tails(data, means, tails)
    low, high = np.quantile(means, tails)
    return Interval(float(low), float(high), level)


def _means(data: Array, rng: np.random.Generator, draws: int) -> Array:
    """Means of `draws` resamples, in batches of bounded memory."""
    import numpy as np

    size = 1 + 2_000_000 // len(data)
    batches = [min(size, draws - start) for start in range(0, draws, size)]
    drawn = [data[rng.integers(0, len(data), size=(batch, len(data)))].mean(axis=1) for batch in batches]
    return np.concatenate(drawn)


def _bca_tails(data: Array, means: Array, tails: tuple[float, float]) -> tuple[float, float]:
    """The percentiles to read instead of `tails`; `tails` themselves when nothing varies."""
    import numpy as np

    below = float(np.mean(means < data.mean()) + np.mean(means == data.mean()) / 2)
    centred = data - data.mean()
    scale = float(np.sum(centred**2)) ** 1.5
    if not 0 < below < 1 or scale == 0:
        return tails
    bias = normal_quantile(below)
    acceleration = float(np.sum(centred**3)) / (6 * scale)

    def moved(tail: float) -> float:
        z = bias + normal_quantile(tail)
        return normal_cdf(bias + z / (1 - acceleration * z))

    return moved(tails[0]), moved(tails[1])
