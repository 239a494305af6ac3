"""Words that rooms share: ranked skills, conditions, arms. Plain frozen data, no behaviour."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

TASK_PREFIX = "workbench/"
"""Names of our tasks and agents on Inspect's command line: ``workbench/quickstart``."""

ConditionName = Literal["none", "gold", "routed"]
CONDITIONS: tuple[ConditionName, ...] = get_args(ConditionName)
"""The three treatments: no skills, the task's own gold skills, what a router chose."""


class RankedSkill(NamedTuple):
    """One entry of a ranking. `id` is a pool id; `score` is finite, higher is better."""

    id: str
    score: float


Ranking = tuple[RankedSkill, ...]
"""Totally ordered: score descending, then id ascending; no id twice."""


def ranked(pairs: Iterable[tuple[str, float]], k: int | None = None) -> Ranking:
    """Order (id, score) pairs totally: score descending, then id ascending; the first k kept.

    The order does not depend on the order of the input, and the first k of a deep list equal
    a list of depth k. An id given twice keeps its best score.
    """
    best: dict[str, float] = {}
    for skill_id, score in pairs:
        if skill_id not in best or score > best[skill_id]:
            best[skill_id] = float(score)
    ordered = sorted(best.items(), key=lambda pair: (-pair[1], pair[0]))
    return tuple(RankedSkill(*pair) for pair in ordered[:k])


@dataclass(frozen=True)
class Arm:
    """One treatment of one evaluation: a condition, and for ``routed`` the router's name."""

    condition: ConditionName
    router: str | None = None

    @property
    def label(self) -> str:
        """Unique within an evaluation: ``none``, ``gold``, ``routed-bm25``."""
        return self.condition if self.router is None else f"{self.condition}-{self.router}"


Network = Literal["none", "public"]
"""``none``: no interface but loopback. ``public``: a way to the outside, closed to other trials."""

Progress = Callable[[str, int, int | None], None]
"""Told of long work: what is done, how far it is, and how far it goes (``None``: not known)."""


def silent(what: str, done: int, total: int | None) -> None:
    """A `Progress` that shows nothing."""


PASS = 1.0
"""A reward of 1 is a pass; anything less is a failed trial."""

FunnelStage = Literal["not_in_pool", "not_routed", "not_shown", "not_loaded", "failed", "passed"]
FUNNEL: tuple[FunnelStage, ...] = get_args(FunnelStage)
"""Where a trial's gold skills got lost, in order; ``failed`` is loaded (or unneeded) but failed."""

_STAGE_NAMES: dict[FunnelStage, str] = {
    "not_in_pool": "not in pool",
    "not_routed": "not routed",
    "not_shown": "not shown",
    "not_loaded": "not loaded",
    "failed": "loaded, failed",
    "passed": "passed",
}


def stage_name(stage: FunnelStage, *, blind: bool) -> str:
    """``not routed``, ``loaded, failed``; of an agent that is told of no skills ``given, failed``."""
    return "given, failed" if blind and stage == "failed" else _STAGE_NAMES[stage]
