"""Do two rankings of the same things agree?"""

from __future__ import annotations

from collections.abc import Sequence

from workbench.stats.interval import LEVEL, Interval

_DRAWS = 999


def kendall(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Kendall's tau-b in [-1, 1]; ``None`` when one of the two is constant or shorter than two."""
    concordant = discordant = ties_first = ties_second = 0
    for i in range(len(first)):
        for j in range(i):
            x, y = first[i] - first[j], second[i] - second[j]
            ties_first += x == 0
            ties_second += y == 0
            concordant += x * y > 0
            discordant += x * y < 0
    pairs = len(first) * (len(first) - 1) // 2
    scale = ((pairs - ties_first) * (pairs - ties_second)) ** 0.5
    return (concordant - discordant) / scale if scale else None


def agreement(
    first: Sequence[Sequence[float]], second: Sequence[Sequence[float]], seed: int = 0, level: float = LEVEL
) -> tuple[float | None, Interval | None]:
    """Kendall's tau-b between the means of rows, with a percentile interval over drawn columns.

    Args:
        first, second: one row per thing (router), one column per task, the same tasks in both.

    The interval answers for other tasks, not for other routers. ``None`` where most draws leave it
    undefined, or with fewer than three rows.
    """
    import numpy as np

    x, y = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    tau = kendall(_rounded(x.mean(axis=1)), _rounded(y.mean(axis=1)))
    if tau is None or len(x) < 3:
        return tau, None
    rng = np.random.default_rng(seed)
    drawn = rng.integers(0, x.shape[1], size=(_DRAWS, x.shape[1]))
    taus = [kendall(_rounded(x[:, d].mean(axis=1)), _rounded(y[:, d].mean(axis=1))) for d in drawn]
    known = [t for t in taus if t is not None]
    if 2 * len(known) < _DRAWS:
        return tau, None
    low, high = np.quantile(known, [(1 - level) / 2, (1 + level) / 2])
    return tau, Interval(float(low), float(high), level)


def _rounded(values: object) -> list[float]:
    """Means to twelve digits, so that equal ones are ties."""
    import numpy as np

    return [float(v) for v in np.round(np.asarray(values, dtype=float), 12)]
