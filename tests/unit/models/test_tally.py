"""Sums that say how much they cover."""

from __future__ import annotations

import pytest
from inspect_ai.model import ModelUsage

from workbench.models.prices import tally


def used(tokens: int, cost: float | None) -> ModelUsage:
    return ModelUsage(input_tokens=tokens, output_tokens=1, total_tokens=tokens + 1, total_cost=cost)


def test_a_sum_is_whole_when_every_call_is_known() -> None:
    total = tally([used(10, 0.5), used(20, 0.25)])
    assert (total.calls, total.with_usage, total.with_cost, total.cost_usd) == (2, 2, 2, 0.75)
    assert total.usage is not None
    assert total.usage.input_tokens == 30


@pytest.mark.parametrize("unknown", [None, used(5, None)])
def test_one_unknown_call_makes_the_cost_unknown_and_is_counted(unknown: ModelUsage | None) -> None:
    total = tally([used(10, 0.5), unknown])
    assert (total.calls, total.with_cost, total.cost_usd) == (2, 1, None)


def test_no_call_costs_nothing_and_no_known_usage_is_none() -> None:
    assert (tally([]).cost_usd, tally([]).usage) == (0, None)
    assert tally([None]).usage is None
