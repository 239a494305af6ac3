"""Tasks that come out worse by chance alone."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest

from workbench.stats.harm import worse_by_chance


def by_listing(first: list[float], second: list[float]) -> float:
    """Every way to deal the rewards, counted."""
    pooled, size = [*first, *second], len(first)
    deals = list(combinations(range(len(pooled)), size))
    fell = 0
    for chosen in deals:
        mine = sum(pooled[i] for i in chosen) / size
        theirs = sum(x for i, x in enumerate(pooled) if i not in chosen) / len(second)
        fell += mine < theirs - 1e-12
    return fell / len(deals)


def test_one_trial_each_that_differs_falls_half_the_time_and_equal_ones_never() -> None:
    assert worse_by_chance([[1.0], [0.0], [1.0], [0.0]], [[0.0], [1.0], [1.0], [0.0]]) == 1.0


@pytest.mark.parametrize(("mine", "theirs"), [(1, 1), (3, 3), (5, 2), (2, 4)])
def test_passes_and_failures_fall_as_often_as_all_deals_say(mine: int, theirs: int) -> None:
    for rewards in product((0.0, 1.0), repeat=mine + theirs):
        first, second = list(rewards[:mine]), list(rewards[mine:])
        assert worse_by_chance([first], [second]) == pytest.approx(by_listing(first, second))


def test_rewards_in_between_fall_about_as_often() -> None:
    first, second = [0.25, 0.5, 1.0], [0.75, 0.5, 0.0]
    assert worse_by_chance([first], [second]) == pytest.approx(by_listing(first, second), abs=0.04)
    assert worse_by_chance([[0.5, 0.5]], [[0.5, 0.5]]) == 0


def test_where_skills_change_nothing_as_many_fall_as_chance_says() -> None:
    """87 tasks of five coins in each arm: of those that fell, none was news."""
    rng = np.random.default_rng(8)
    rates = rng.random(87)
    seen = expected = 0.0
    for _ in range(40):
        arms = [[list((rng.random(5) < rate).astype(float)) for rate in rates] for _ in range(2)]
        expected += worse_by_chance(*arms)
        seen += sum(sum(a) < sum(b) for a, b in zip(*arms, strict=True))
    assert seen / 40 == pytest.approx(expected / 40, abs=2)
