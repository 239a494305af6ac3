"""Exact tests of "no difference between two arms" on paired tasks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

_ENUMERATE = 20
_DRAWS = 100_000
_FINEST = 2520
_CLOSE = 1e-9


@dataclass(frozen=True, slots=True)
class SignFlips:
    """Where the observed sum of differences lies among those of all sign patterns.

    Attributes:
        beyond: share of patterns whose |sum| is larger than the observed one.
        tied: share of those that equal it, the observed pattern among them; above 0.
    """

    beyond: float
    tied: float

    @property
    def p_value(self) -> float:
        """The exact two-sided p value, in (0, 1]: what is reported."""
        return min(1.0, self.beyond + self.tied)

    @property
    def mid_p(self) -> float:
        """Ties counted half (Lancaster 1961; for McNemar's test Fagerland, Lydersen & Laake 2013).

        Nearer to its level where few tasks differ, but not below it for sure: where the number of
        tasks that differ is the same in every sample (16, say) it rejects up to 7.7 % at a level of
        5 %. So it is no more than a comparison (`bench/calibration.py`).
        """
        return self.beyond + self.tied / 2


def sign_flip(differences: Sequence[float], rng: np.random.Generator | int) -> float:
    """Two-sided p value of the mean of paired differences under random signs; in (0, 1].

    Under the hypothesis that the arms are exchangeable within each task, every pattern of signs is equally
    likely; p is the share of patterns whose |sum| is at least the observed one (Fisher 1935, ch. 3), so
    that the test rejects at most as often as it says, whatever the tasks. Sums come in steps, so it
    rejects less often where few tasks differ: `attainable` says how often, and simulation agrees
    (`bench/calibration.py`: at most 5.1 % at a level of 5 %). To divide by the standard
    error changes nothing: the sum of squares is the same for every pattern, so t orders the patterns
    as |sum| does, which is also why the test holds, for many tasks, where only the means are equal
    and not every task's rewards (Romano 1990).

    Exact for any number of tasks when the differences are multiples of a common fraction 1/L, L <= 2520
    (counts of passes over trials always are), by the distribution of the sum; exact by
    enumeration for up to 20 other non-zero differences; beyond that estimated from 100,000 draws
    of `rng` as (hits + 1) / (draws + 1) (Phipson & Smyth 2010).
    """
    return sign_flips(differences, rng).p_value


def sign_flips(differences: Sequence[float], rng: np.random.Generator | int) -> SignFlips:
    """`sign_flip`, with patterns beyond the observed sum and those tied with it told apart."""
    import numpy as np

    values = _moved(differences)
    observed = abs(math.fsum(differences))
    if not len(values):
        return SignFlips(0.0, 1.0)
    if (lattice := _on_lattice(values)) is not None:
        steps, scale = lattice
        mass, at = _mass(steps), round(observed * scale)
        return SignFlips(float(mass[at + 1 :].sum()), float(mass[at]))
    if len(values) > _ENUMERATE:
        return _sampled(values, observed, np.random.default_rng(rng))
    sums = np.abs(_all_sums(values))
    return SignFlips(
        float((sums > observed + _CLOSE).mean()), float((np.abs(sums - observed) <= _CLOSE).mean())
    )


def attainable(differences: Sequence[float], level: float = 0.05) -> float:
    """The largest p value of `sign_flip` below `level` that these sizes of differences can give.

    It is how often the exact test rejects at `level`, given the sizes; 0 where too few tasks differ
    for any result to be significant.

    Raises:
        ValueError: the differences are no multiples of 1/L with L <= 2520.
    """
    values = _moved(differences)
    if not len(values):
        return 0.0
    lattice = _on_lattice(values)
    if lattice is None:
        raise ValueError("differences must be multiples of a common fraction")
    mass = _mass(lattice[0])
    tails = mass[::-1].cumsum()[::-1]
    below = tails[(tails < level) & (mass > 0)]
    return float(below.max(initial=0.0))


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


def _moved(differences: Sequence[float]) -> Array:
    """Sizes of the differences that are not zero."""
    import numpy as np

    values: Array = np.abs(np.asarray(differences, dtype=float))
    return values[values > _CLOSE]


def _on_lattice(values: Array) -> tuple[list[int], int] | None:
    """(values as whole multiples of 1/L, L) for the smallest L that fits all of them."""
    import numpy as np

    for scale in range(1, _FINEST + 1):
        steps = np.rint(values * scale)
        if np.all(np.abs(values * scale - steps) < 1e-7):
            return [int(step) for step in steps], scale
    return None


def _mass(steps: list[int]) -> Array:
    """Probability of each |signed sum| of whole numbers, from 0 to the sum of all."""
    import numpy as np

    mass: Array = np.ones(1)
    for step in sorted(steps):
        wider = np.zeros(len(mass) + 2 * step)
        wider[: len(mass)] = mass
        wider[2 * step :] += mass
        mass = wider / 2
    folded = mass[len(mass) // 2 :].copy()
    folded[1:] *= 2
    return folded


def _all_sums(values: Array) -> Array:
    import numpy as np

    sums = np.zeros(1)
    for value in values:
        sums = np.concatenate([sums - value, sums + value])
    return sums


def _sampled(values: Array, observed: float, rng: np.random.Generator) -> SignFlips:
    import numpy as np

    beyond, tied, left = 0, 1, _DRAWS
    while left:
        batch = min(left, 1 + 5_000_000 // len(values))
        signs = rng.integers(0, 2, size=(batch, len(values)), dtype=np.int8) * 2 - 1
        sums = np.abs(signs @ values)
        beyond += int(np.count_nonzero(sums > observed + _CLOSE))
        tied += int(np.count_nonzero(np.abs(sums - observed) <= _CLOSE))
        left -= batch
    return SignFlips(beyond / (_DRAWS + 1), tied / (_DRAWS + 1))
