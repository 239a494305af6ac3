"""Exact tests of "no difference between two arms" on paired tasks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

_ENUMERATE = 20
_DRAWS = 100_000
_FINEST = 2520
_CLOSE = 1e-9


def sign_flip(differences: Sequence[float], rng: np.random.Generator | int) -> float:
    """Two-sided p value of the mean of paired differences under random signs; in (0, 1].

    Under the hypothesis that the arms are exchangeable within each task, every pattern of signs is equally
    likely; p is the share of patterns whose |sum| is at least the observed one. Exact for
    any number of tasks when the differences are multiples of a common fraction 1/L, L <= 2520
    (counts of passes over trials always are), by the distribution of the sum; exact by
    enumeration for up to 20 other non-zero differences; beyond that estimated from 100,000 draws
    of `rng` as (hits + 1) / (draws + 1) (Phipson & Smyth 2010).
    """
    import numpy as np

    values = np.abs(np.asarray(differences, dtype=float))
    values = values[values > _CLOSE]
    observed = abs(math.fsum(differences))
    if not len(values):
        return 1.0
    if (steps := _on_lattice(values)) is not None:
        return _lattice(*steps, observed)
    if len(values) <= _ENUMERATE:
        reached = np.abs(_all_sums(values)) >= observed - _CLOSE
        return float(reached.mean())
    return _sampled(values, observed, np.random.default_rng(rng))


def mcnemar(only_first: int, only_second: int) -> float:
    """Exact two-sided McNemar test; in (0, 1].

    Args:
        only_first: tasks solved by the first arm alone (one trial each).
        only_second: tasks solved by the second arm alone.

    Equals `sign_flip` of the 0/1 differences.
    """
    discordant = only_first + only_second
    ways = tail = 1
    for k in range(min(only_first, only_second)):
        ways = ways * (discordant - k) // (k + 1)
        tail += ways
    return min(1.0, 2 * tail / (1 << discordant))


def _on_lattice(values: Array) -> tuple[list[int], int] | None:
    """(values as whole multiples of 1/L, L) for the smallest L that fits all of them."""
    import numpy as np

    for scale in range(1, _FINEST + 1):
        steps = np.rint(values * scale)
        if np.all(np.abs(values * scale - steps) < 1e-7):
            return [int(step) for step in steps], scale
    return None


def _lattice(steps: list[int], scale: int, observed: float) -> float:
    """Tail mass of the signed sum of whole numbers, by convolution."""
    import numpy as np

    reach = sum(steps)
    mass = np.zeros(2 * reach + 1)
    mass[reach] = 1.0
    for step in steps:
        mass = (np.roll(mass, step) + np.roll(mass, -step)) / 2
    sums = np.abs(np.arange(-reach, reach + 1))
    return float(min(1.0, mass[sums >= round(observed * scale)].sum()))


def _all_sums(values: Array) -> Array:
    import numpy as np

    sums = np.zeros(1)
    for value in values:
        sums = np.concatenate([sums - value, sums + value])
    return sums


def _sampled(values: Array, observed: float, rng: np.random.Generator) -> float:
    import numpy as np

    hits, left = 0, _DRAWS
    while left:
        batch = min(left, 1 + 5_000_000 // len(values))
        signs = rng.integers(0, 2, size=(batch, len(values)), dtype=np.int8) * 2 - 1
        hits += int(np.count_nonzero(np.abs(signs @ values) >= observed - _CLOSE))
        left -= batch
    return (hits + 1) / (_DRAWS + 1)
