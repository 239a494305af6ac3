"""Assumed variance components are those of data made under the assumptions."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.stats.power import assumed_components, detectable, power


def test_assumed_components_are_those_of_simulated_trials() -> None:
    rng = np.random.default_rng(3)
    tasks, trials, correlation, shared = 200_000, 4, 0.4, 0.6
    rates = (0.3, 0.5)
    a = [rate * (1 - correlation) / correlation for rate in rates]
    b = [(1 - rate) * (1 - correlation) / correlation for rate in rates]
    common = rng.random(tasks) < shared  # a mixture: the same quantile of both, or two of their own
    own = rng.random((2, tasks))
    own[1] = np.where(common, own[0], own[1])
    from scipy.stats import beta

    true = [beta.ppf(own[i], a[i], b[i]) for i in range(2)]
    seen = [rng.binomial(trials, p) / trials for p in true]
    found = assumed_components(*rates, correlation, float(np.corrcoef(true)[0, 1]))
    assert found.variance(trials) == pytest.approx(float(np.var(seen[0] - seen[1])), rel=0.02)


def test_trials_that_never_differ_gain_nothing_by_repetition() -> None:
    found = assumed_components(0.4, 0.4, 1.0)
    assert found.within == 0
    assert detectable(found, 40, 1) == detectable(found, 40, 10)


def test_the_detectable_difference_has_the_power_asked_for() -> None:
    found = assumed_components(0.4, 0.5, 0.5)
    least = detectable(found, 87, 5)
    assert least is not None
    assert power(least, found, 87, 5) == pytest.approx(0.8, abs=1e-6)


def test_values_out_of_range_are_refused() -> None:
    with pytest.raises(ValueError, match="correlation"):
        assumed_components(0.4, 0.5, 1.2)
