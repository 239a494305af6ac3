"""The mean over strata that count alike."""

from __future__ import annotations

import pytest

from workbench.stats.proportion import clustered_rate
from workbench.stats.strata import macro_mean


def test_strata_count_alike_and_one_alone_is_itself() -> None:
    large, small = [[1.0]] * 9 + [[0.0]], [[0.0]] * 3
    mean, interval = macro_mean([large, small])
    alone = clustered_rate(large)
    assert mean == pytest.approx(0.45)
    assert interval is not None
    assert interval.low < mean < interval.high
    assert macro_mean([large]) == (alone.mean, alone.interval)


def test_distances_add_up_in_squares() -> None:
    arm = [[1.0], [0.0], [1.0], [0.0]]
    found = clustered_rate(arm).interval
    mean, both = macro_mean([arm, arm])
    assert found is not None
    assert both is not None
    assert mean - both.low == pytest.approx((0.5 - found.low) / 2**0.5)


def test_a_stratum_of_one_task_leaves_no_interval_and_none_is_refused() -> None:
    assert macro_mean([[[1.0]], [[0.0], [1.0]]]) == (0.75, None)
    with pytest.raises(ValueError, match="at least one"):
        macro_mean([])
