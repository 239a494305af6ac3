"""Distribution functions, by scipy. The only module that imports it, and only when called."""

from __future__ import annotations

from statistics import NormalDist
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    Counts = NDArray[np.int64]


def normal_quantile(probability: float) -> float:
    """The standard normal deviate below which `probability` in (0, 1) of the mass lies."""
    return NormalDist().inv_cdf(probability)


def normal_cdf(deviate: float) -> float:
    """Mass of the standard normal distribution below `deviate`."""
    return NormalDist().cdf(deviate)


def t_quantile(probability: float, df: float) -> float:
    """Quantile of Student's t with `df` > 0 degrees of freedom."""
    from scipy import special  # type: ignore[import-untyped]

    return float(special.stdtrit(df, probability))


def t_cdf(deviate: float, df: float) -> float:
    """Mass of Student's t with `df` > 0 degrees of freedom below `deviate`."""
    from scipy import special

    return float(special.stdtr(df, deviate))


def f_quantile(probability: float, above: float, below: float) -> float:
    """Quantile of the F distribution with `above` and `below` > 0 degrees of freedom."""
    from scipy import special

    return float(special.fdtri(above, below, probability))


def chi2_quantile(probability: float, df: float) -> float:
    """Quantile of the chi-squared distribution with `df` > 0 degrees of freedom."""
    from scipy import special

    return float(special.chdtri(df, 1 - probability))


def beta_quantile(probability: float, a: float, b: float) -> float:
    """Quantile of the beta distribution with `a`, `b` > 0; in [0, 1]."""
    from scipy import special

    return float(special.betaincinv(a, b, probability))


def binomial(most: Counts, trials: Counts, probability: float) -> Array:
    """Chance of at most `most` successes in so many `trials`, elementwise; 0 where `most` is negative."""
    import numpy as np
    from scipy import special

    found: Array = np.where(most < 0, 0.0, special.bdtr(np.maximum(most, 0), trials, probability))
    return found


def log_gamma(values: Array) -> Array:
    """Logarithm of the gamma function of positive `values`, elementwise."""
    from scipy import special

    found: Array = special.gammaln(values)
    return found


def noncentral_t_cdf(value: float, df: float, noncentrality: float) -> float:
    """Mass of the noncentral t distribution below `value`."""
    from scipy import special

    return float(special.nctdtr(df, noncentrality, value))


def two_sided(level: float, df: float | None = None) -> float:
    """The deviate that leaves (1 - level) / 2 in each tail: normal, or Student's t with `df`.

    Raises:
        ValueError: `level` is not in (0, 1).
    """
    if not 0 < level < 1:
        raise ValueError(f"level must be in (0, 1), not {level}")
    probability = (1 + level) / 2
    return normal_quantile(probability) if df is None else t_quantile(probability, df)
