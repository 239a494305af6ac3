"""The interval that the exact sign-flip test implies, where rewards are fractional.

Were the difference d, the signs of (difference - d) would be exchangeable. A pattern of signs reaches
the observed sum just where the mean of the tasks that it flips is d or less, so the p value of d is the
share of non-empty subsets whose mean lies beyond d, and the ends of the interval are order statistics
of the subset means (Hartigan 1969). That assumes no size of differences, but where they are skewed or few
tasks differ it covers too rarely (77 % in a simulation of 12 tasks). So the clustered score interval on
the scale of the largest difference to be expected widens it, but never over "no difference", about
which test and interval agree.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from workbench.stats.interval import LEVEL, Interval
from workbench.stats.score import PairedScore

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

_ENUMERATE = 16
_DRAWS = 100_000
_CLOSE = 1e-9


def fractional_interval(
    differences: Sequence[float],
    trials: float,
    p_value: float,
    rng: np.random.Generator | int,
    level: float = LEVEL,
) -> Interval:
    """The interval of a mean difference of fractional rewards; within [-1, 1].

    It leaves 0 out just where `p_value` is below 1 - `level`.

    Args:
        differences: one per task, each in [-1, 1], at least two.
        trials: as in `score.PairedScore.of`.
        p_value: of `permutation.sign_flip` on the same differences.
    """
    score, scale = PairedScore.scaled(differences, trials)
    within = score.interval(level)
    found = inverted(differences, p_value, rng, level)
    low = max(min(found.low, scale * within.low), -1.0)
    high = min(max(found.high, scale * within.high), 1.0)
    if low <= 0 < found.low:
        low = found.low
    if found.high < 0 <= high:
        high = found.high
    return Interval(low, high, level)


def inverted(
    differences: Sequence[float], p_value: float, rng: np.random.Generator | int, level: float = LEVEL
) -> Interval:
    """All differences that the sign-flip test does not reject at 1 - `level`.

    Exact up to 16 tasks, beyond that by 100,000 subsets drawn from `rng`; what drawing may blur about 0
    is put right by `p_value`. Where tasks are too few for the test to reject, all subset means.
    """
    import numpy as np

    values = np.asarray(differences, dtype=float)
    means = np.sort(_subset_means(values, np.random.default_rng(rng)))
    rank = max(1, math.ceil((1 - level) * (len(means) + 1) / 2 - _CLOSE) - 1)
    low, high = (0.0 if abs(end) < _CLOSE else float(end) for end in (means[rank - 1], means[-rank]))
    if p_value >= 1 - level:
        return Interval(min(low, 0.0), max(high, 0.0), level)
    if low <= 0 <= high and values.mean() > 0:
        low = float(means[means > _CLOSE].min())
    elif low <= 0 <= high:
        high = float(means[means < -_CLOSE].max())
    return Interval(low, high, level)


def _subset_means(values: Array, rng: np.random.Generator) -> Array:
    """Means of all non-empty subsets, or of as many drawn ones as are worth the time."""

    if len(values) > _ENUMERATE:
        return _drawn_means(values, rng)
    sums, sizes = _subsets(values)
    means: Array = sums[1:] / sizes[1:]
    return means


def _subsets(values: Array) -> tuple[Array, Array]:
    """(sum, size) of every subset, the empty one first."""
    import numpy as np

    sums, sizes = np.zeros(1), np.zeros(1)
    for value in values:
        sums, sizes = np.concatenate([sums, sums + value]), np.concatenate([sizes, sizes + 1])
    return sums, sizes


def _drawn_means(values: Array, rng: np.random.Generator) -> Array:
    """Means of subsets that a coin for every value makes: a byte of coins draws from eight values."""
    import numpy as np

    sums, sizes = np.zeros(_DRAWS), np.zeros(_DRAWS)
    for start in range(0, len(values), 8):
        known_sums, known_sizes = _subsets(values[start : start + 8])
        coins = rng.integers(0, len(known_sums), _DRAWS, dtype=np.uint8)
        sums += known_sums[coins]
        sizes += known_sizes[coins]
    means: Array = sums[sizes > 0] / sizes[sizes > 0]
    return means
