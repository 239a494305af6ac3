"""Trials -> Summary: the one place where a report's numbers are put together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from workbench.reporting.arms import arm_summary
from workbench.reporting.cells import Cell, group
from workbench.reporting.compare import adjusted, compared
from workbench.reporting.explain import agreements, slices
from workbench.reporting.facts import Collected, collect
from workbench.reporting.front import front
from workbench.reporting.headline import flags, headline, missing_share, too_many_missing
from workbench.reporting.read import Notes
from workbench.reporting.routing import routing_summaries
from workbench.reporting.schema import ArmSummary, Block, FileNote, LogNotes, Summary
from workbench.reporting.trial import Trial
from workbench.stats.interval import LEVEL


def summarise(
    trials: Iterable[Trial], notes: Notes | None = None, level: float = LEVEL, seed: int = 0
) -> Summary:
    """Summarise trials; the result does not depend on their order.

    Args:
        trials: every planned trial once, as `read.read_trials` yields them.
        notes: what reading met, looked at after the last trial.
        level: of the intervals.
        seed: for the sign-flip test where it cannot be exact.
    """
    collected = collect(trials)
    grouped = group(collected.facts)
    family = sum(cell.arm.condition == "routed" for cells in grouped.values() for cell in cells)
    arms = adjusted([arm for cells in grouped.values() for arm in _arms(cells, level, seed, family)])
    remaining = iter(arms)
    plain = [_block(key, cells, [next(remaining) for _ in cells]) for key, cells in grouped.items()]
    blocks = tuple(
        _explained(block, cells, collected, seed, level)
        for block, cells in zip(plain, grouped.values(), strict=True)
    )
    status = Counter(fact.status for fact in collected.facts)
    found = notes or Notes()
    return Summary(
        level=level,
        seed=seed,
        planned=len(collected.facts),
        scored=status["scored"],
        excluded=status["excluded"],
        pending=status["pending"],
        complete=not found.unreadable and not any(too_many_missing(block.missing_share) for block in blocks),
        blocks=blocks,
        routing=routing_summaries(collected, level),
        logs=_logs(found),
    )


def _arms(cells: list[Cell], level: float, seed: int, family: int) -> list[ArmSummary]:
    return [compared(cells, cell, arm_summary(cell, level), level, seed, family) for cell in cells]


def _block(key: tuple[str, str, str], cells: Sequence[Cell], arms: Sequence[ArmSummary]) -> Block:
    suite, model, agent = key
    facts = [fact for cell in cells for fact in cell.facts]
    tasks = len({fact.task for fact in facts})
    sizes = [task.planned for arm in arms for task in arm.tasks]
    bounds = (min(sizes), max(sizes))
    sandboxes = _counted(fact.sandbox for fact in facts)
    return Block(
        suite=suite,
        model=model,
        agent=agent,
        tasks=tasks,
        trials=bounds,
        arms=tuple(arms),
        headline=headline(arms, (tasks, bounds)),
        flags=flags(arms, sandboxes, _counted(fact.version for fact in facts)),
        sandboxes=sandboxes,
        fractional=any(fact.reward not in (None, 0.0, 1.0) for fact in facts),
        missing_share=max(missing_share(arm) for arm in arms),
    )


def _explained(block: Block, cells: Sequence[Cell], collected: Collected, seed: int, level: float) -> Block:
    """`block` with what goes with success."""
    return block.model_copy(
        update={
            "slices": slices(cells, level),
            "agreement": agreements(cells, collected, seed, level),
            "front": front(cells, block.arms, level, seed),
        }
    )


def _counted(names: Iterable[str | None]) -> dict[str, int]:
    return dict(sorted(Counter(name for name in names if name is not None).items()))


def _logs(notes: Notes) -> LogNotes:
    return LogNotes(
        read=tuple(str(path) for path in sorted(notes.read)),
        foreign=tuple(FileNote(path=str(path), reason=reason) for path, reason in sorted(notes.foreign)),
        unreadable=tuple(
            FileNote(path=str(path), reason=reason) for path, reason in sorted(notes.unreadable)
        ),
        superseded=notes.superseded,
    )
