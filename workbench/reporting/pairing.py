"""Which cells may be compared, and why others may not: the same suite, the same tasks, one thing changed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from workbench.core.errors import UnknownNameError, UsageError
from workbench.reporting.cells import Cell
from workbench.reporting.wording import arm_name, plural

BlockKey = tuple[str, str, str]
"""Suite, model, agent."""
Grouped = Mapping[BlockKey, list[Cell]]


@dataclass(frozen=True)
class Pair:
    """Two cells, each with the block it comes from.

    Attributes:
        left_out: tasks that only one of them planned.
        compared: what the question is about.
    """

    first_block: BlockKey
    first: Cell
    second_block: BlockKey
    second: Cell
    left_out: int = 0
    compared: Literal["run", "arm", "model", "agent"] = "run"

    @property
    def baseline(self) -> bool:
        """Whether both are the same treatment without a router: no skills, or gold."""
        return self.first.arm == self.second.arm and self.first.arm.condition != "routed"


def pair_runs(first: Grouped, second: Grouped, arm: str | None = None) -> list[Pair]:
    """Every arm that two runs share, or one of them.

    Models and agents are matched by name; where each run has just one, they may differ, for then that
    is what is compared. So it is with the settings of an arm, e.g. its k: they must agree in what tells
    the cells of either run apart.

    Raises:
        UsageError: nothing can be paired; says what differs.
    """
    blocks = _match(list(first), list(second))
    pairs = [
        Pair(a, cell, b, other)
        for a, b in blocks
        for cell, other in _alike(first[a], second[b])
        if _is(cell, arm) or _is(other, arm)
    ]
    if not pairs:
        named = _labels(first) if arm is None else _labels(first) & _labels(second)
        if arm is not None:
            raise UnknownNameError("arm of both runs", arm, named)
        raise UsageError(
            f"the runs share no arm: {_listed(_labels(first))} against {_listed(_labels(second))};"
            " give --arms A B to compare two arms of one run"
        )
    return pairs


def _alike(first: Sequence[Cell], second: Sequence[Cell]) -> Iterator[tuple[Cell, Cell]]:
    """Cells of one arm that agree in all that tells it from its siblings on either side."""
    for cell in first:
        others = [other for other in second if other.arm == cell.arm]
        siblings = [other for other in first if other.arm == cell.arm]
        telling = {
            name for side in (siblings, others) for name, known in _settings(side).items() if len(known) > 1
        }
        mine = {name: dict(cell.variant).get(name) for name in telling}
        for other in others:
            if {name: dict(other.variant).get(name) for name in telling} == mine:
                yield cell, other


def _settings(cells: Sequence[Cell]) -> dict[str, set[str | None]]:
    """Setting -> its values in the cells, ``None`` where one of them has none."""
    names = {name for cell in cells for name, _ in cell.variant}
    return {name: {dict(cell.variant).get(name) for cell in cells} for name in names}


def pair_arms(run: Grouped, first: str, second: str) -> list[Pair]:
    """Two arms of one run, within each suite, model and agent.

    Raises:
        UnknownNameError: no block has both; names the nearest.
        UsageError: both are the same.
    """
    _refuse_twice("arm", (arm_name(first), arm_name(second)), {arm_name(label) for label in _labels(run)})
    pairs = [
        Pair(key, cell, key, other, compared="arm")
        for key, cells in run.items()
        for cell in cells
        for other in cells
        if cell is not other and _is(cell, first) and _is(other, second)
    ]
    if not pairs:
        labels = _labels(run)
        unknown = first if not any(_is_label(label, first) for label in labels) else second
        raise UnknownNameError("arm", unknown, {arm_name(label) for label in labels})
    return pairs


def pair_models(run: Grouped, first: str, second: str, arm: str | None = None) -> list[Pair]:
    """Two models of one run, arm by arm.

    Raises:
        UnknownNameError: a model is not in the run, or no arm is shared.
    """
    pairs = _pair_sides(run, ("model", 1), (first, second), arm)
    return [replace(pair, compared="model") for pair in pairs]


def pair_agents(run: Grouped, first: str, second: str, arm: str | None = None) -> list[Pair]:
    """Two agents of one run, arm by arm. Raises as `pair_models` does."""
    pairs = _pair_sides(run, ("agent", 2), (first, second), arm)
    return [replace(pair, compared="agent") for pair in pairs]


def _pair_sides(run: Grouped, kind: tuple[str, int], names: tuple[str, str], arm: str | None) -> list[Pair]:
    noun, place = kind
    known = sorted({key[place] for key in run})
    _refuse_twice(noun, names, known)
    for name in names:
        if name not in known:
            raise UnknownNameError(noun, name, known)
    sides = [{key: cells for key, cells in run.items() if key[place] == name} for name in names]
    return pair_runs(sides[0], sides[1], arm)


def _refuse_twice(noun: str, names: tuple[str, str], known: Iterable[str]) -> None:
    if names[0] != names[1]:
        return
    others = [name for name in known if name != names[0]]
    choice = f"the others here are {_listed(others)}" if others else "the run has no other"
    raise UsageError(f"--{noun}s {names[0]} {names[1]}: the same {noun} twice; {choice}")


def unpaired(first: Grouped, second: Grouped, pairs: Iterable[Pair]) -> list[str]:
    """Arms of two runs that are in no pair, each with where it is found."""
    used = {id(cell) for pair in pairs for cell in (pair.first, pair.second)}
    return [
        f"{arm_name(cell.label)} of {', '.join(key)} ({place} run)"
        for run, place in ((first, "first"), (second, "second"))
        for key, cells in run.items()
        for cell in cells
        if id(cell) not in used
    ]


def on_common_tasks(pairs: Iterable[Pair]) -> list[Pair]:
    """The same pairs on the tasks that both sides planned, so that all figures are over one plan."""
    return [_on_common(pair) for pair in pairs]


def _on_common(pair: Pair) -> Pair:
    shared = pair.first.by_task.keys() & pair.second.by_task.keys()
    first, second = (
        replace(cell, facts=[fact for fact in cell.facts if fact.task in shared])
        for cell in (pair.first, pair.second)
    )
    left_out = len(pair.first.by_task.keys() ^ pair.second.by_task.keys())
    return replace(pair, first=first, second=second, left_out=left_out)


def require_same_tasks(pairs: Iterable[Pair], *, common: bool) -> None:
    """Refuse pairs whose plans differ in tasks, or whose tasks are not the same any more.

    Args:
        common: compare the tasks that both planned.

    Raises:
        UsageError: names the tasks.
    """
    for pair in pairs:
        first, second = _digests(pair.first), _digests(pair.second)
        changed = sorted(
            task
            for task in first.keys() & second.keys()
            if first[task] and second[task] and first[task] != second[task]
        )
        if changed:
            raise UsageError(
                f"not paired: {plural(len(changed), 'task')} changed between the two"
                f" ({_listed(changed)}); run both on the same version of the suite"
            )
        if not first.keys() & second.keys():
            raise UsageError(f"not paired: no task in common ({_listed(first)} against {_listed(second)})")
        alone = sorted(first.keys() ^ second.keys())
        if alone and not common:
            raise UsageError(
                f"not paired: {plural(len(alone), 'task')} in one of the two only ({_listed(alone)});"
                " --common compares the tasks that they share"
            )


def _match(first: Sequence[BlockKey], second: Sequence[BlockKey]) -> list[tuple[BlockKey, BlockKey]]:
    suites = ({key[0] for key in first}, {key[0] for key in second})
    if not suites[0] & suites[1]:
        raise UsageError(f"not paired: suite {_listed(suites[0])} against {_listed(suites[1])}")
    same = [key for key in first if key in second]
    if same:
        return [(key, key) for key in same]
    found = []
    for suite in sorted(suites[0] & suites[1]):
        a, b = ([key for key in keys if key[0] == suite] for keys in (first, second))
        if len(a) == len(b) == 1:
            found.append((a[0], b[0]))
        else:
            found += [(x, y) for x in a for y in b if x[2] == y[2] and len({k[1] for k in a}) == 1]
    if not found:
        shown = (_listed({key[1] for key in first}), _listed({key[1] for key in second}))
        raise UsageError(f"not paired: models {shown[0]} against {shown[1]}; give --models A B")
    return found


def _digests(cell: Cell) -> dict[str, str | None]:
    """Task -> digest of its files, ``None`` where no trial of it was recorded."""
    found: dict[str, str | None] = {}
    for fact in cell.facts:
        found[fact.task] = fact.task_digest or found.get(fact.task)
    return found


def _is(cell: Cell, name: str | None) -> bool:
    return name is None or _is_label(cell.label, name)


def _is_label(label: str, name: str) -> bool:
    return name in {label, arm_name(label)}


def _labels(run: Grouped) -> set[str]:
    return {cell.label for cells in run.values() for cell in cells}


def _listed(names: Iterable[str]) -> str:
    shown = sorted(names)
    return ", ".join(shown[:6]) + (", ..." if len(shown) > 6 else "")
