"""A purse starts only what it can cover, one by one until a price is known, and never too much."""

from __future__ import annotations

import anyio
import pytest

from workbench.core.errors import TrialError, UsageError
from workbench.core.workspace import find_workspace
from workbench.evaluation.arguments import parse
from workbench.evaluation.budget import Budget, budget_of


async def spend(budget: Budget, prices: dict[str, float | None]) -> tuple[list[str], int]:
    """Run trials at once; returns those that ran, and the most that ran at a time."""
    ran: list[str] = []
    most = 0

    async def trial(name: str, price: float | None) -> None:
        nonlocal most
        try:
            await budget.admit(name)
        except TrialError:
            return
        most = max(most, len(budget.open))
        ran.append(name)
        await anyio.sleep(0)
        await budget.settle(name, price)

    async with anyio.create_task_group() as group:
        for name, price in prices.items():
            group.start_soon(trial, name, price)
    return ran, most


async def test_what_is_started_stays_within_the_sum() -> None:
    budget = Budget(1.0)
    ran, most = await spend(budget, {str(n): 0.3 for n in range(20)})
    assert len(ran) == 3
    assert budget.spent == pytest.approx(0.9)
    assert most == 2


async def test_until_a_price_is_known_trials_run_one_by_one() -> None:
    budget = Budget(100.0)
    first = await budget.admit("a")
    assert first == 100.0
    with anyio.move_on_after(0.05) as scope:
        await budget.admit("b")
    assert scope.cancelled_caught
    await budget.settle("a", 2.0)
    assert await budget.admit("b") == 98.0
    assert await budget.admit("c") == 96.0


async def test_the_dearest_so_far_is_set_aside_and_given_back() -> None:
    budget = Budget(10.0)
    await budget.admit("a")
    await budget.settle("a", 4.0)
    await budget.admit("b")
    with anyio.move_on_after(0.05) as scope:
        await budget.admit("c")
    assert scope.cancelled_caught
    await budget.settle("b", 1.0)
    assert await budget.admit("c") == 5.0


async def test_an_unknown_cost_counts_as_the_dearest_known() -> None:
    budget = Budget(10.0)
    for name, cost in (("a", 3.0), ("b", None)):
        await budget.admit(name)
        await budget.settle(name, cost)
    assert budget.spent == 6.0


async def test_trials_that_cost_nothing_are_all_started() -> None:
    ran, _ = await spend(Budget(0.01), {str(n): 0.0 for n in range(50)})
    assert len(ran) == 50


async def test_a_trial_is_settled_once() -> None:
    budget = Budget(10.0)
    await budget.admit("a")
    await budget.settle("a", 1.0)
    await budget.settle("a", None)
    assert budget.spent == 1.0


def test_one_sum_is_one_purse_in_a_process() -> None:
    assert budget_of(None) is None
    assert budget_of(123.5) is budget_of(123.5)


@pytest.mark.parametrize("value", ["5", 5, 5.0, "$5"])
def test_a_sum_is_read_however_it_is_written(tmp_path, value: object) -> None:  # type: ignore[no-untyped-def]
    given = parse({"budget": value}, find_workspace(tmp_path, {}), tmp_path, pool="quickstart", k=5)
    assert given.budget == 5.0


@pytest.mark.parametrize("value", ["0", -1, "much", True, "inf", "nan"])
def test_anything_else_is_one_line(tmp_path, value: object) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(UsageError, match="must be a sum in US dollars above 0"):
        parse({"budget": value}, find_workspace(tmp_path, {}), tmp_path, pool="quickstart", k=5)
