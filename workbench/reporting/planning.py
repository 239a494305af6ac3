"""How many tasks and trials a comparison takes, from a pilot's variance or from assumptions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict

from workbench.reporting.cells import Cell, baseline
from workbench.reporting.pairing import BlockKey, Grouped, Pair
from workbench.stats.power import (
    Design,
    PairedComponents,
    cautious,
    detectable,
    paired_components,
    tasks_needed,
    trials_needed,
)

SCHEMA_VERSION = 2
TRIALS = (1, 2, 3, 5, 10, 20)


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Needed(_Part):
    """What finds an effect: trials on these tasks, tasks at so many trials; ``None``: no number does.

    Attributes:
        surely: trials, were the variance between tasks at its upper limit (`stats.power.cautious`).
    """

    effect: float
    trials: int | None
    tasks: dict[int, int | None]
    surely: int | None = None


class Plan(_Part):
    """The precision of one comparison.

    Attributes:
        between, within: variance of true differences between tasks, of trials of both arms added;
            `within` ``None`` when the pilot had single trials.
        detectable: trials -> smallest difference found on `tasks` tasks; ``None``: none in [0, 1].
        surely: `detectable`, were the variance between tasks at its upper limit; empty without a pilot.
        source: what the variance comes from; `assumed`, that it comes from no pilot.
        binary: rewards are 0 or 1. Power is exact for one such trial a task, a lower bound for more.
    """

    schema_version: int = SCHEMA_VERSION
    name: str
    source: str
    assumed: bool
    binary: bool
    tasks: int
    power: float
    alpha: float
    between: float
    within: float | None
    detectable: dict[int, float | None]
    needed: Needed | None
    surely: dict[int, float | None] = {}


class Origin(NamedTuple):
    """What a plan is of, and what its variance comes from."""

    name: str
    source: str
    assumed: bool


def planned(
    origin: Origin,
    pilot: PairedComponents,
    tasks: int,
    effect: float | None,
    design: Design,
    limit: PairedComponents | None = None,
) -> Plan:
    """A plan for `tasks` >= 2 tasks, and for finding `effect` where one is given.

    A pilot without any variance says nothing about precision, so nothing is promised from it.

    Args:
        limit: the pilot with the variance between tasks at its upper limit.
    """
    counts = TRIALS if pilot.within is not None else (1,)
    return Plan(
        name=origin.name,
        source=origin.source,
        assumed=origin.assumed,
        binary=pilot.binary,
        tasks=tasks,
        power=design.power,
        alpha=design.alpha,
        between=pilot.between,
        within=pilot.within,
        detectable={t: detectable(pilot, tasks, t, design) for t in counts},
        needed=None
        if effect is None or not pilot.variance(1)
        else _needed(pilot, effect, tasks, counts, design, limit),
        surely={} if limit is None else {t: detectable(limit, tasks, t, design) for t in counts},
    )


def differing(block: BlockKey, run: Grouped) -> str:
    """What tells a block from the others of a run, as a prefix: its suite, model and agent, or none."""
    parts = [part for place, part in enumerate(block) if len({other[place] for other in run}) > 1]
    return f"{', '.join(parts)}: " if parts else ""


def pilot_pairs(run: Grouped) -> list[Pair]:
    """Every routed arm with its baselines."""
    return [
        Pair(key, cell, key, base)
        for key, cells in run.items()
        for cell in cells
        if cell.arm.condition == "routed"
        for condition in ("none", "gold")
        if (base := baseline(cells, cell, condition)) is not None
    ]


class PilotPair(NamedTuple):
    """What two cells of a pilot say: components, the same at their limit, and on how many tasks."""

    found: PairedComponents
    limit: PairedComponents
    tasks: int


def pilot_components(first: Cell, second: Cell) -> PilotPair | None:
    """What two cells say; ``None`` with fewer than two tasks in common."""
    mine, theirs = first.rewards, second.rewards
    common = sorted(mine.keys() & theirs.keys())
    if len(common) < 2:
        return None
    arms = [mine[t] for t in common], [theirs[t] for t in common]
    return PilotPair(paired_components(*arms), cautious(*arms), len(common))


def _needed(
    pilot: PairedComponents,
    effect: float,
    tasks: int,
    counts: Sequence[int],
    design: Design,
    limit: PairedComponents | None,
) -> Needed:
    return Needed(
        surely=None if limit is None else trials_needed(limit, effect, tasks, design),
        effect=effect,
        trials=trials_needed(pilot, effect, tasks, design),
        tasks={t: tasks_needed(pilot, effect, t, design) for t in counts},
    )
