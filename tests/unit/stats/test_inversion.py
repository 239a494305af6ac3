"""Fractional rewards: the interval is the sign-flip test's, turned round."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.stats.inversion import fractional_interval, inverted
from workbench.stats.paired import difference
from workbench.stats.permutation import sign_flip

VALUES = st.lists(st.integers(-20, 20).map(lambda step: step / 20), min_size=2, max_size=12)


def test_its_ends_are_where_the_test_begins_to_reject() -> None:
    values = [0.05, 0.11, -0.02, 0.08, 0.04, 0.13, 0.01, 0.07, 0.1]
    found = inverted(values, sign_flip(values, 0), 0)
    for end, outwards in ((found.low, -1e-4), (found.high, 1e-4)):
        assert sign_flip([value - end for value in values], 0) >= 0.05
        assert sign_flip([value - end - outwards for value in values], 0) < 0.05


@settings(deadline=None)
@given(VALUES)
def test_it_leaves_no_difference_out_just_where_the_test_rejects_it(values: list[float]) -> None:
    p_value = sign_flip(values, 0)
    found = fractional_interval(values, len(values), p_value, 0)
    assert (0 in found) == (p_value >= 0.05)
    assert -1 <= found.low <= sum(values) / len(values) + 1e-9
    assert sum(values) / len(values) - 1e-9 <= found.high <= 1


def test_a_loss_of_a_twentieth_on_every_task_is_a_loss() -> None:
    gold = [[0.5 + task / 40] for task in range(12)]
    found = difference([[task[0] - 0.05] for task in gold], gold, 0)
    assert found.interval is not None
    assert found.p_value < 0.001
    assert found.interval.low < -0.05 + 1e-9
    assert -0.05 < found.interval.high < 0


def test_drawn_subsets_never_contradict_the_test() -> None:
    values = [0.05] * 15 + [-0.05] * 6
    for p_value in (0.049, 0.051):
        assert (0 in inverted(values, p_value, 0)) == (p_value > 0.05)


def test_arms_without_any_change_are_not_known_to_be_equal() -> None:
    found = fractional_interval([0.0] * 20, 20, 1.0, 0)
    assert found.low < -0.1
    assert found.high > 0.1


def test_equal_differences_leave_room_for_larger_ones_elsewhere() -> None:
    """Twelve tasks that each gained a sixth once had an interval that ended at the estimate."""
    found = fractional_interval([1 / 6] * 12, 12, 2 / 2**12, 0)
    assert 0 < found.low < 1 / 6 < found.high < 0.25
