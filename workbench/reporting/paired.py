"""Pairs of cells -> a typed report: difference, tests, corrections, sameness, what could be seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

from workbench.core.types import PASS
from workbench.reporting.arms import arm_summary
from workbench.reporting.cells import Cell
from workbench.reporting.compare import comparison, corrected_design
from workbench.reporting.pairing import BlockKey, Pair
from workbench.reporting.schema import Comparison, Estimate
from workbench.stats.bootstrap import bootstrap_mean
from workbench.stats.equivalence import equivalence
from workbench.stats.interval import LEVEL
from workbench.stats.multiplicity import benjamini_hochberg, holm
from workbench.stats.paired import task_differences
from workbench.stats.permutation import mcnemar
from workbench.stats.power import paired_components, tasks_needed, trials_needed

SCHEMA_VERSION = 1


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Side(_Part):
    """One side of a comparison."""

    suite: str
    model: str
    agent: str
    arm: str
    planned: int
    scored: int
    success: Estimate


class SingleTrials(_Part):
    """McNemar's exact test, where each task has one trial with reward 0 or 1."""

    only_first: int
    only_second: int
    p_value: float


class Sameness(_Part):
    """The difference against a margin stated beforehand; `interval` is at level 1 - 2 x 5 %."""

    margin: float
    interval: tuple[float, float]
    p_equivalent: float
    p_not_worse: float


class PairedResult(_Part):
    """First side minus second.

    Attributes:
        comparison: `p_adjusted` is after Holm over this report.
        p_fdr: after Benjamini and Hochberg over this report.
        bootstrap: BCa interval over tasks, as a check.
        tasks_for, trials_for: tasks (at these trials), trials (on these tasks) that would find the
            observed difference with 80 % power at 5 % / family; ``None`` where no number would.
    """

    first: Side
    second: Side
    comparison: Comparison
    p_fdr: float | None
    bootstrap: Estimate
    single: SingleTrials | None
    sameness: Sameness | None
    tasks_for: int | None
    trials_for: int | None


class PairedReport(_Part):
    """Everything ``workbench compare`` found."""

    schema_version: int = SCHEMA_VERSION
    level: float
    seed: int
    results: tuple[PairedResult, ...]


@dataclass(frozen=True)
class Question:
    """What is asked beside the difference.

    Attributes:
        margin: for sameness, in reward units; ``None`` asks for none.
        seed: of the bootstrap, and of the sign-flip test where it cannot be exact.
    """

    margin: float | None = None
    level: float = LEVEL
    seed: int = 0


def paired_report(pairs: Sequence[Pair], question: Question) -> PairedReport:
    """Compare pairs, which are one family for the corrections."""
    results = [_result(pair, question, len(pairs)) for pair in pairs]
    tested = [r.comparison.p_value for r in results if r.comparison.p_value is not None]
    corrected = iter(zip(holm(tested), benjamini_hochberg(tested), strict=True))
    found = [
        r if r.comparison.p_value is None else _corrected(r, *next(corrected), len(tested)) for r in results
    ]
    return PairedReport(level=question.level, seed=question.seed, results=tuple(found))


def _corrected(result: PairedResult, adjusted: float, fdr: float, family: int) -> PairedResult:
    found = result.comparison.model_copy(update={"p_adjusted": adjusted, "family": family})
    return result.model_copy(update={"comparison": found, "p_fdr": fdr})


def _result(pair: Pair, question: Question, family: int) -> PairedResult:
    found = comparison(pair.first, pair.second, question.level, question.seed, family)
    mine, theirs = pair.first.rewards, pair.second.rewards
    common = sorted(mine.keys() & theirs.keys())
    first, second = [mine[t] for t in common], [theirs[t] for t in common]
    wanted = _needed(first, second, found.difference.value, family)
    return PairedResult(
        first=_side(pair.first_block, pair.first, question.level),
        second=_side(pair.second_block, pair.second, question.level),
        comparison=found,
        p_fdr=None,
        bootstrap=_bootstrap(first, second, question),
        single=_single(first, second),
        sameness=_sameness(first, second, question.margin),
        tasks_for=wanted[0],
        trials_for=wanted[1],
    )


def _side(block: BlockKey, cell: Cell, level: float) -> Side:
    summary = arm_summary(cell, level)
    suite, model, agent = block
    return Side(
        suite=suite,
        model=model,
        agent=agent,
        arm=cell.label,
        planned=summary.planned,
        scored=summary.scored,
        success=summary.success,
    )


Rewards = Sequence[Sequence[float]]


def _bootstrap(first: Rewards, second: Rewards, question: Question) -> Estimate:
    if len(first) < 2:
        return Estimate(value=None, tasks=len(first), reason="too few tasks")
    values = task_differences(first, second)
    found = bootstrap_mean(values, question.seed, level=question.level)
    return Estimate(value=sum(values) / len(values), low=found.low, high=found.high, tasks=len(values))


def _single(first: Rewards, second: Rewards) -> SingleTrials | None:
    rewards = [*first, *second]
    if not rewards or any(len(task) != 1 or task[0] not in (0.0, PASS) for task in rewards):
        return None
    only_first = sum(a[0] > b[0] for a, b in zip(first, second, strict=True))
    only_second = sum(a[0] < b[0] for a, b in zip(first, second, strict=True))
    return SingleTrials(
        only_first=only_first, only_second=only_second, p_value=mcnemar(only_first, only_second)
    )


def _sameness(first: Rewards, second: Rewards, margin: float | None) -> Sameness | None:
    if margin is None or len(first) < 2:
        return None
    found = equivalence(first, second, margin)
    return Sameness(
        margin=margin,
        interval=(found.interval.low, found.interval.high),
        p_equivalent=found.p_equivalent,
        p_not_worse=found.p_not_worse,
    )


def _needed(
    first: Rewards, second: Rewards, effect: float | None, family: int
) -> tuple[int | None, int | None]:
    """(tasks, trials) for the difference that was seen, corrected for `family` comparisons."""
    if not effect or len(first) < 2:
        return None, None
    pilot = paired_components(first, second)
    trials = max(1, round(sum(map(len, [*first, *second])) / (2 * len(first))))
    size, design = abs(effect), corrected_design(family)
    return tasks_needed(pilot, size, trials, design), trials_needed(pilot, size, len(first), design)
