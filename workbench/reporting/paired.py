"""Pairs of cells -> a typed report: difference, tests, corrections, sameness, what could be seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

from workbench.core.types import PASS
from workbench.reporting.cells import Cell
from workbench.reporting.compare import comparison, in_family
from workbench.reporting.estimates import estimate
from workbench.reporting.headline import unequal_exclusions
from workbench.reporting.missing import Filled, filled, unmeasured
from workbench.reporting.numbers import Comparison, Estimate
from workbench.reporting.pairing import BlockKey, Pair
from workbench.reporting.unlike import Unlike, unlike
from workbench.stats.bootstrap import bootstrap_mean
from workbench.stats.equivalence import equivalence
from workbench.stats.interval import LEVEL
from workbench.stats.paired import task_differences
from workbench.stats.permutation import mcnemar

SCHEMA_VERSION = 3

Rewards = Sequence[Sequence[float]]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Side(_Part):
    """One side of a comparison, on the tasks that both planned.

    Attributes:
        success: over the tasks of the difference, those scored on both sides.
    """

    suite: str
    model: str
    agent: str
    arm: str
    planned: int
    scored: int
    excluded: int
    success: Estimate


class SingleTrials(_Part):
    """McNemar's exact test, where each task has one trial with reward 0 or 1."""

    only_first: int
    only_second: int
    p_value: float


class Sameness(_Part):
    """The difference against a margin stated beforehand.

    Attributes:
        interval: at level 1 - 2 x 5 %.
        worst_equivalent, worst_not_worse: p values with trials not scored counted against sameness,
            against the first side; those above where none is missing.
    """

    margin: float
    interval: tuple[float, float]
    p_equivalent: float
    p_not_worse: float
    worst_equivalent: float
    worst_not_worse: float


class PairedResult(_Part):
    """First side minus second.

    Attributes:
        comparison: `p_adjusted` and `p_fdr` are over the family of this report.
        baseline: no skills or gold on both sides, beside pairs of routed arms: a check on what else
            changed, outside the family, its p not corrected.
        left_out: tasks that only one side planned.
        place: suite, model and agent, as far as both sides share them and other results have others.
        unlike: what differs between the sides beside what is compared.
        flags: what a reader must know before believing the numbers.
        bootstrap: BCa interval over tasks, as a check.
    """

    first: Side
    second: Side
    comparison: Comparison
    bootstrap: Estimate
    single: SingleTrials | None
    sameness: Sameness | None
    baseline: bool = False
    left_out: int = 0
    place: str = ""
    unlike: tuple[Unlike, ...] = ()
    flags: tuple[str, ...] = ()


class PairedReport(_Part):
    """Everything ``workbench compare`` found.

    Attributes:
        family: number of comparisons corrected for.
        unpaired: arms that only one side has.
    """

    schema_version: int = SCHEMA_VERSION
    level: float
    seed: int
    margin: float | None = None
    results: tuple[PairedResult, ...]
    family: int
    unpaired: tuple[str, ...] = ()


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


def paired_report(pairs: Sequence[Pair], question: Question, unpaired: Sequence[str] = ()) -> PairedReport:
    """Compare pairs. The family is the routed arms; of baselines alone, all of them."""
    routed = [pair for pair in pairs if not pair.baseline]
    family = routed or list(pairs)
    checks = [pair for pair in pairs if pair not in family]
    results = _corrected([_result(pair, question, len(family)) for pair in family])
    results += [_result(pair, question, 1).model_copy(update={"baseline": True}) for pair in checks]
    return PairedReport(
        level=question.level,
        seed=question.seed,
        margin=question.margin,
        results=tuple(_placed(results)),
        family=len(family),
        unpaired=tuple(unpaired),
    )


def _placed(results: Sequence[PairedResult]) -> list[PairedResult]:
    """Results with what tells the place of one from that of another."""
    found = []
    for result in results:
        sides = (result.first, result.second)
        telling = [
            f"{name} {getattr(result.first, name)}" if name != "model" else result.first.model
            for name in ("suite", "model", "agent")
            if len({getattr(side, name) for side in sides}) == 1
            and len({getattr(other.first, name) for other in results}) > 1
        ]
        found.append(result.model_copy(update={"place": ", ".join(telling)}))
    return found


def _corrected(results: list[PairedResult]) -> list[PairedResult]:
    comparisons = in_family([result.comparison for result in results])
    return [
        result.model_copy(update={"comparison": found})
        for result, found in zip(results, comparisons, strict=True)
    ]


def _result(pair: Pair, question: Question, family: int) -> PairedResult:
    found = comparison(pair.first, pair.second, question.level, question.seed, family)
    mine, theirs = pair.first.rewards, pair.second.rewards
    common = sorted(mine.keys() & theirs.keys())
    first, second = [mine[t] for t in common], [theirs[t] for t in common]
    sides = (
        _side(pair.first_block, pair.first, first, question.level),
        _side(pair.second_block, pair.second, second, question.level),
    )
    rates = {name: s.excluded / s.planned for name, s in zip(("first", "second"), sides, strict=True)}
    return PairedResult(
        first=sides[0],
        second=sides[1],
        comparison=found,
        bootstrap=_bootstrap(first, second, question),
        single=_single(first, second),
        sameness=_sameness((first, second), filled(pair.first, pair.second), question.margin),
        left_out=pair.left_out,
        unlike=unlike(pair),
        flags=tuple(unequal_exclusions(rates)),
    )


def _side(block: BlockKey, cell: Cell, rewards: Rewards, level: float) -> Side:
    suite, model, agent = block
    return Side(
        suite=suite,
        model=model,
        agent=agent,
        arm=cell.label,
        planned=len(cell.facts),
        scored=sum(fact.status == "scored" for fact in cell.facts),
        excluded=sum(fact.status == "excluded" for fact in cell.facts),
        success=estimate(rewards, level, unmeasured(cell) or "no task was scored on both sides"),
    )


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


def _sameness(
    scored: tuple[Rewards, Rewards], extremes: Filled | None, margin: float | None
) -> Sameness | None:
    if margin is None or len(scored[0]) < 2:
        return None
    found = equivalence(*scored, margin)
    ends = [] if extremes is None else [equivalence(*arms, margin) for arms in (extremes.low, extremes.high)]
    return Sameness(
        margin=margin,
        interval=(found.interval.low, found.interval.high),
        p_equivalent=found.p_equivalent,
        p_not_worse=found.p_not_worse,
        worst_equivalent=max([found.p_equivalent, *(end.p_equivalent for end in ends)]),
        worst_not_worse=max([found.p_not_worse, *(end.p_not_worse for end in ends)]),
    )
