"""What trials that were not scored leave open: the bounds of a difference and of the gold gap's share."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from workbench.reporting.cells import Cell
from workbench.reporting.facts import Fact

Rewards = dict[str, list[float]]


@dataclass(frozen=True)
class Filled:
    """Two arms on the tasks planned in both, with every trial not scored given a reward.

    Attributes:
        low: the first arm's missing trials failed, the second's passed; `high` the reverse.
        trials: how many were missing in both arms together.
    """

    low: tuple[Sequence[Sequence[float]], Sequence[Sequence[float]]]
    high: tuple[Sequence[Sequence[float]], Sequence[Sequence[float]]]
    trials: int


def unmeasured(cell: Cell) -> str | None:
    """Why nothing is known of an arm: ``not measured: all 12 trials excluded``; ``None`` if something is."""
    if any(fact.status == "scored" for fact in cell.facts):
        return None
    counts = {kind: sum(fact.status == kind for fact in cell.facts) for kind in ("excluded", "pending")}
    if 0 in counts.values():
        kind = max(counts, key=counts.__getitem__)
        all_of = "the only trial" if counts[kind] == 1 else f"all {counts[kind]:,} trials"
        return f"not measured: {all_of} {kind}"
    return "not measured: " + ", ".join(f"{count:,} trials {kind}" for kind, count in counts.items())


def filled(first: Cell, second: Cell) -> Filled | None:
    """Both extremes; ``None`` where nothing is missing or no task is planned in both."""
    mine, theirs = first.by_task, second.by_task
    common = sorted(mine.keys() & theirs.keys())
    trials = sum(fact.reward is None for arm in (mine, theirs) for task in common for fact in arm[task])
    if not trials:
        return None
    one, other = ({task: arm[task] for task in common} for arm in (mine, theirs))
    return Filled(
        (list(_with(one, 0.0).values()), list(_with(other, 1.0).values())),
        (list(_with(one, 1.0).values()), list(_with(other, 0.0).values())),
        trials,
    )


def share_bounds(routed: Cell, none: Cell, gold: Cell) -> tuple[float, float] | None:
    """Lowest and highest share of the gold gap, each arm's missing trials failing or passing together.

    The share is monotone in each arm's mean while the gap is above zero, so its extremes lie where
    each arm is at one of its own. ``None`` where one of these leaves no gap to close a share of.
    """
    arms = [cell.by_task for cell in (routed, none, gold)]
    common = sorted(arms[0].keys() & arms[1].keys() & arms[2].keys())
    shares = []
    for fills in product((0.0, 1.0), repeat=3):
        given, bare, golden = (
            _mean(_with({task: arm[task] for task in common}, fill).values())
            for arm, fill in zip(arms, fills, strict=True)
        )
        if golden - bare <= 1e-12:
            return None
        shares.append((given - bare) / (golden - bare))
    return min(shares), max(shares)


def _with(arm: Mapping[str, Sequence[Fact]], fill: float) -> Rewards:
    return {t: [fill if f.reward is None else f.reward for f in facts] for t, facts in arm.items()}


def _mean(tasks: Iterable[Sequence[float]]) -> float:
    means = [math.fsum(rewards) / len(rewards) for rewards in tasks]
    return math.fsum(means) / len(means)
