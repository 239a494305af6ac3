"""What differs between the two sides of a comparison beside what is compared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from workbench.core.digest import short
from workbench.reporting.cells import Cell
from workbench.reporting.numbers import Part
from workbench.reporting.pairing import BlockKey, Pair
from workbench.reporting.settings import skills_of, written
from workbench.reporting.wording import trials

NOT_SET = "not set"


class Unlike(Part):
    """One thing that the sides do not share.

    Attributes:
        name: e.g. ``k``, ``pool_fingerprint``, ``time_limit``, ``sandbox``, ``workbench`` (its version).
        first, second: the values; several where a side has several, ``not set`` where it has none.
    """

    name: str
    first: str
    second: str

    @property
    def shown(self) -> tuple[str, str, str]:
        """Name and values for people, fingerprints by their first characters."""
        if not self.name.endswith("_fingerprint"):
            return self.name, self.first, self.second
        return self.name.replace("_", " "), short(self.first), short(self.second)


def unlike(pair: Pair) -> tuple[Unlike, ...]:
    """What the sides of a pair do not share, by name."""
    first, second = _known(pair.first_block, pair.first), _known(pair.second_block, pair.second)
    skipped = _compared(pair, first, second)
    return tuple(
        Unlike(name=name, first=first.get(name, NOT_SET), second=second.get(name, NOT_SET))
        for name in sorted(first.keys() | second.keys())
        if name not in skipped and first.get(name) != second.get(name)
    )


def _compared(pair: Pair, first: Mapping[str, str], second: Mapping[str, str]) -> set[str]:
    """Names that the question is about: of two arms, what their labels say and what makes them two."""
    if pair.compared != "arm":
        return {pair.compared}
    arms = pair.first.arm, pair.second.arm
    if arms[0].condition != arms[1].condition:
        return skills_of([*first, *second], {arm.condition for arm in arms})
    in_labels = {
        name
        for cell, known in ((pair.first, first), (pair.second, second))
        for name in known
        if written(name, known[name]) in cell.label
    }
    return in_labels | ({"router_fingerprint"} if arms[0] != arms[1] else set())


def _known(block: BlockKey, cell: Cell) -> dict[str, str]:
    """Everything that is known of one side and is no result."""
    sizes = [len(facts) for facts in cell.by_task.values()]
    found = {
        **dict(cell.variant),
        "model": block[1],
        "agent": block[2],
        "sandbox": _all(fact.sandbox for fact in cell.facts),
        "workbench": _all(fact.version for fact in cell.facts),
        "trials a task": trials((min(sizes), max(sizes))) if sizes else "",
    }
    return {name: value for name, value in found.items() if value}


def _all(values: Iterable[str | None]) -> str:
    return " and ".join(sorted({value for value in values if value is not None}))
