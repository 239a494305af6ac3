"""Sentence, verdict and gate say the same, and what a run cannot find is said before one looks for it."""

from __future__ import annotations

import io
from collections.abc import Callable
from itertools import product

import pytest
from rich.console import Console

from workbench.core.record import TrialRecord
from workbench.reporting.findings import finding, if_missing, remark
from workbench.reporting.numbers import Bounds, Comparison, Estimate
from workbench.reporting.schema import Block
from workbench.reporting.sections import differences
from workbench.reporting.summary import summarise
from workbench.reporting.trial import Trial
from workbench.reporting.wording import amount

Make = Callable[..., TrialRecord]
MakeTrial = Callable[..., Trial]


def compared(low: float, high: float, p_value: float, against: Bounds | None = None) -> Comparison:
    seen = Estimate(value=(low + high) / 2, low=low, high=high, tasks=6)
    return Comparison(
        baseline="none",
        difference=seen,
        standard_error=None,
        p_value=p_value,
        p_adjusted=p_value,
        family=1,
        better=6,
        worse=0,
        missing=(),
        detectable=None,
        bounds=against,
    )


def worst(value: float, p_value: float) -> Bounds:
    found = Estimate(value=value, low=value - 0.1, high=value + 0.1, tasks=6)
    return Bounds(trials=4, lowest=value, highest=1, against=found, p_value=p_value, p_adjusted=p_value)


@pytest.mark.parametrize(
    ("low", "high", "p_value", "found", "said"),
    [
        (0.2, 0.8, 0.01, "better", ""),
        (-0.8, -0.2, 0.01, "worse", ""),
        (-0.05, 1.0, 0.031, "better", "the interval is approximate on so few tasks"),
        (0.01, 0.5, 0.06, "unclear", "the interval is approximate: p decides"),
        (-0.1, 0.5, 0.3, "unclear", ""),
    ],
)
def test_the_exact_test_decides_and_an_interval_that_differs_is_explained(
    low: float, high: float, p_value: float, found: str, said: str
) -> None:
    """Six of six against none of six, p=0.031, was once no clear difference."""
    comparison = compared(low, high, p_value)
    assert finding(comparison) == found
    assert remark(comparison) == (f" ({said})" if said else "")
    if found == "unclear" and low > 0:
        corrected = comparison.model_copy(update={"p_value": 0.02, "family": 3})
        assert remark(corrected) == " (the interval is not corrected)"


def test_a_finding_that_missing_trials_might_turn_round_says_reversed() -> None:
    assert if_missing(compared(0.2, 0.8, 0.01, worst(0.3, 0.01))).startswith("so too if the 4 trials")
    assert if_missing(compared(0.2, 0.8, 0.01, worst(0.1, 0.2))).startswith("not shown if the 4 trials")
    assert if_missing(compared(0.2, 0.8, 0.01, worst(-0.3, 0.01))).startswith("reversed if the 4 trials")


@pytest.fixture
def block(make_record: Make, make_trial: MakeTrial) -> Callable[..., Block]:
    """Of a run in which no skills fail, all else passes, and gold skills are excluded on some tasks."""

    def made(tasks: int, *routers: str, gold: int | None = None, harm: bool = False) -> Block:
        def how(at: int, arm: str) -> dict[str, object]:
            if arm == "gold" and gold is not None and at >= gold:
                return {"cause": "infra:build", "detail": "no image"}
            return {"reward": float((arm != "none") != harm) if arm in ("none", "gold") else 1.0}

        arms = ("none", "gold", *(f"routed-{name}" for name in routers))
        records = [make_record(f"t{at:02d}", arm, **how(at, arm)) for at, arm in product(range(tasks), arms)]
        return summarise([make_trial(record) for record in records]).blocks[0]

    return made


def test_a_run_too_small_for_any_finding_is_told_so_with_its_whole_family(
    block: Callable[..., Block],
) -> None:
    can, cannot = block(6, "a").flags, block(6, "a", "b").flags
    assert not [flag for flag in can if "no result can reach" in flag]
    assert (
        "with 6 tasks no result can reach p < 0.05 after Holm over 2 comparisons (the least is 0.062)"
        in cannot
    )


def test_a_share_on_fewer_tasks_than_the_difference_says_on_how_many(block: Callable[..., Block]) -> None:
    found = block(20, "a", gold=12)
    (line,) = found.headline
    assert "of the gold gap on the 12 tasks with gold" in line
    assert "(20 tasks x 1 trial)" in line
    printed = io.StringIO()
    Console(width=100, file=printed).print(differences(found, 100))
    assert "(12 tasks)" in printed.getvalue()


def test_gold_skills_that_harm_are_named_first_among_the_flags(block: Callable[..., Block]) -> None:
    assert any(
        flag.startswith("gold skills are worse than no skills: -1.00")
        for flag in block(12, "a", harm=True).flags
    )


def test_money_keeps_two_figures() -> None:
    assert [amount(value, "cost_usd") for value in (0.8, 0.05, 0.012, 3.0)] == [
        "$0.80",
        "$0.050",
        "$0.012",
        "$3.00",
    ]
