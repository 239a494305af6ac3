"""Facts grouped for comparison: blocks (suite, model, agent) of cells (arm, variant)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from workbench.core.types import CONDITIONS, Arm, ConditionName
from workbench.reporting.facts import NOT_STARTED, Fact, Variant
from workbench.reporting.settings import alike, written


@dataclass
class Cell:
    """The trials of one treatment. `label` is unique within its block."""

    arm: Arm
    variant: Variant
    label: str
    facts: list[Fact] = field(default_factory=list)

    @property
    def by_task(self) -> Mapping[str, list[Fact]]:
        """Trials per task, tasks sorted."""
        grouped: dict[str, list[Fact]] = defaultdict(list)
        for fact in self.facts:
            grouped[fact.task].append(fact)
        return dict(sorted(grouped.items()))

    @property
    def rewards(self) -> dict[str, list[float]]:
        """Rewards of scored trials per task; tasks without one are absent."""
        grouped = {t: [f.reward for f in facts if f.reward is not None] for t, facts in self.by_task.items()}
        return {task: rewards for task, rewards in grouped.items() if rewards}


def group(facts: Iterable[Fact]) -> dict[tuple[str, str, str], list[Cell]]:
    """(suite, model, agent) -> cells: none, gold, then routers by name."""
    blocks: dict[tuple[str, str, str], dict[tuple[Arm, Variant], Cell]] = defaultdict(dict)
    for fact in facts:
        block = blocks[(fact.suite, fact.model, fact.agent or NOT_STARTED)]
        key = (fact.arm, fact.variant or ())
        block.setdefault(key, Cell(*key, fact.arm.label)).facts.append(fact)
    return {key: _labelled(list(cells.values())) for key, cells in sorted(blocks.items())}


def _labelled(cells: list[Cell]) -> list[Cell]:
    """Cells in order, with what differs between those of one arm added to their labels."""
    cells.sort(key=lambda cell: (CONDITIONS.index(cell.arm.condition), cell.arm.label, cell.variant))
    for cell in cells:
        others = [dict(other.variant) for other in cells if other.arm == cell.arm]
        differing = [
            (name, value) for name, value in cell.variant if any(other.get(name) != value for other in others)
        ]
        cell.label = " ".join([cell.arm.label, *(written(name, value) for name, value in differing)])
    return cells


def baseline(cells: list[Cell], cell: Cell, condition: ConditionName) -> Cell | None:
    """The cell of `condition` to compare with: the same settings, skills shown in the same way."""
    candidates = (other for other in cells if other.arm.condition == condition)
    return next((other for other in candidates if alike(other.variant, cell.variant, condition)), None)
