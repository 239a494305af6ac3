"""Numbers of a report, typed: an estimate with interval and n, a total, a comparison and its bounds."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict


class Part(BaseModel):
    """Frozen, without unknown keys; what is not measured is null in JSON."""

    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="null")


class Estimate(Part):
    """A mean over `tasks` tasks with its interval; `reason` says why something is missing."""

    value: float | None
    low: float | None = None
    high: float | None = None
    tasks: int
    reason: str | None = None


class Total(Part):
    """A sum over the trials for which it is known: `known` of `trials`."""

    sum: float | None
    known: int
    trials: int


class Change(Part):
    """A task on which two arms differ: their means, and how many trials each mean rests on."""

    task: str
    first: float
    second: float
    trials: tuple[int, int]


class Bounds(Part):
    """A difference on all tasks planned in both arms, were the trials not scored to go one way.

    Attributes:
        trials: not scored, in both arms together.
        lowest, highest: if each had gone against the first arm, for it.
        against: with each counted against the difference that was seen; without a value where none was.
        p_value, p_adjusted: of `against`; Holm's over the same family with all of it at its worst.
    """

    trials: int
    lowest: float
    highest: float
    against: Estimate
    p_value: float | None
    p_adjusted: float | None


class Needed(Part):
    """What would find a difference of `effect` with 80 % power, corrected as `Comparison.detectable` is.

    Attributes:
        tasks: at the trials that there were; ``None`` beyond a million.
        trials: on the tasks that there were; ``None`` where no number does, or trials were not repeated.
    """

    effect: float
    tasks: int | None
    trials: int | None


class Comparison(Part):
    """An arm minus a baseline, on the tasks scored in both.

    Attributes:
        p_value: exact sign-flip test over tasks.
        p_adjusted: Holm over the comparisons of routed arms with baselines of this condition.
        family: number of comparisons adjusted for, those that could not be made among them (as p = 1).
        p_fdr: Benjamini and Hochberg over the same comparisons; ``None`` outside a family.
        worse_by_chance: how many tasks would be worse if each task's trials had been dealt to the two arms
            at random.
        needed: ``None`` where nothing varies.
        bounds: what trials that were not scored leave open; ``None`` where none is missing.
        missing: tasks left out because one of the two arms has no scored trial of them.
        detectable: the smallest difference this design finds with 80 % power, by the sign-flip test at 5 %
            divided by the comparisons that Holm corrects for (conservative).
        changes: tasks whose means differ, those that lost most first.
    """

    baseline: str
    difference: Estimate
    standard_error: float | None
    p_value: float | None
    p_adjusted: float | None
    family: int
    better: int
    worse: int
    missing: tuple[str, ...]
    detectable: float | None
    p_fdr: float | None = None
    worse_by_chance: float | None = None
    needed: Needed | None = None
    changes: tuple[Change, ...] = ()
    bounds: Bounds | None = None


class GoldGap(Part):
    """Share of the gap between no skills and gold skills that a router closes; 1 is as good as gold.

    Attributes:
        lowest, highest: the share on all planned tasks, each arm's trials not scored failing or passing;
            ``None`` where none is missing, or where they leave no gap.
        open: trials are missing that might leave no gap.
    """

    share: Estimate
    gap: Estimate
    lowest: float | None = None
    highest: float | None = None
    open: bool = False


class PassEstimate(Part):
    """pass@k (`kind` any) or pass^k (`kind` all).

    `lowest` and `highest` count every trial not scored as failed, as passed. `short` names the
    tasks that have such trials.
    """

    kind: Literal["any", "all"]
    k: int
    estimate: Estimate
    lowest: float | None
    highest: float | None
    short: tuple[str, ...]


class Prices(Part):
    """Tokens, US dollars and seconds: means over tasks where known for a trial, ratios per success."""

    tokens: Estimate
    cost_usd: Estimate
    seconds: Estimate
