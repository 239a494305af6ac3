"""Score test and interval for a mean difference between arms that ran the same tasks.

For one trial per task it is Tango's (1998), which asks of every possible difference whether the data
contradict it, with the variance that this difference implies. So it has width when all tasks agree,
where the t interval and the bootstrap have none, and it stays in range. Tango's counts of pairs that
improved and worsened are here the shares of reward that moved up and down, times as many pairs as
would be as informative as these tasks (as Korn & Graubard 1998 do for one rate), and Student's t
on (tasks - 1) degrees of freedom takes the normal deviate's place.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.stats.interval import LEVEL, Interval
from workbench.stats.proportion import effective_number
from workbench.stats.quantiles import t_cdf, two_sided

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

_STEPS = 40


@dataclass(frozen=True, slots=True)
class PairedScore:
    """Task-level differences in [-1, 1], summed up as far as the score test needs them.

    Attributes:
        up, down: mean of the positive parts, of the negative parts without their sign.
        effective: number of independent pairs that would be as informative, above 0.
        tasks: at least two.
        correction: in pairs; half a pair makes the test err on the safe side where differences come
            in few steps (continuity correction), 0 on neither.
    """

    up: float
    down: float
    effective: float
    tasks: int
    correction: float = 0.0

    @classmethod
    def of(cls, differences: Sequence[float] | Array, trials: float, correction: float = 0.0) -> PairedScore:
        """Sum up `differences`, one per task, that rest on at most `trials` independent trials per arm.

        Raises:
            ValueError: fewer than two tasks, or a difference outside [-1, 1].
        """
        import numpy as np

        values = np.asarray(differences, dtype=float)
        sizes = np.abs(values)
        if len(values) < 2 or not np.all(sizes <= 1 + 1e-9):
            raise ValueError("paired scores need differences in [-1, 1] of at least two tasks")
        mean, size = float(values.mean()), float(sizes.mean())
        up, down = max((size + mean) / 2, 0.0), max((size - mean) / 2, 0.0)
        effective = effective_number(values, max(size - mean * mean, 0.0), trials, sizes)
        return cls(up, down, effective, len(values), correction)

    @classmethod
    def scaled(
        cls, differences: Sequence[float] | Array, trials: float, least: float = 0.0
    ) -> tuple[PairedScore, float]:
        """(score of `differences` / scale, scale), for those of fractional rewards, which may all be small.

        The scale is how large a difference of other tasks may be: the largest of these n, and an n-th more,
        as the largest of n numbers tells of the end of their range (Goodman 1952); and at `least` so much.
        """
        import numpy as np

        values = np.asarray(differences, dtype=float)
        largest = max(float(np.abs(values).max(initial=0.0)), least)
        scale = largest * (1 + 1 / len(values)) if largest > 1e-12 else 1.0
        return cls.of(values / scale, trials), scale

    @property
    def estimate(self) -> float:
        """The mean difference."""
        return self.up - self.down

    def deviate(self, supposed: float) -> float:
        """How many standard errors the estimate lies above the `supposed` difference, in [-1, 1]."""
        distance = self.estimate - supposed
        reach = max(abs(distance) - self.correction / self.effective, 0.0)
        if reach < 1e-12:
            return 0.0
        variance = max(2 * self._worsened(supposed) + supposed * (1 - supposed), 1e-300)
        return math.copysign(reach / math.sqrt(variance / self.effective), distance)

    def interval(self, level: float = LEVEL) -> Interval:
        """All differences that the test does not reject at 1 - `level`."""
        limit = two_sided(level, self.tasks - 1)
        return Interval(self._edge(-1.0, limit), self._edge(1.0, limit), level)

    def p_above(self, supposed: float) -> float:
        """One-sided p value of "the difference is `supposed` or less"."""
        return t_cdf(-self.deviate(supposed), self.tasks - 1)

    def p_below(self, supposed: float) -> float:
        """One-sided p value of "the difference is `supposed` or more"."""
        return t_cdf(self.deviate(supposed), self.tasks - 1)

    def _worsened(self, supposed: float) -> float:
        """Most likely share that moved down, were the difference `supposed` (Tango 1998, eq. 5)."""
        linear = (2 - self.estimate) * supposed - self.up - self.down
        root = linear * linear + 8 * self.down * supposed * (1 - supposed)
        return (math.sqrt(max(root, 0.0)) - linear) / 4

    def _edge(self, end: float, limit: float) -> float:
        """The last difference, going from the estimate towards `end`, that is not rejected."""
        inside, outside = self.estimate, end
        if abs(self.deviate(end)) <= limit:
            return end
        for _ in range(_STEPS):
            middle = (inside + outside) / 2
            inside, outside = (middle, outside) if abs(self.deviate(middle)) <= limit else (inside, middle)
        return inside
