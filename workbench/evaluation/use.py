"""What observed loads amount to, held against the gold skills and the skills given."""

from __future__ import annotations

from collections.abc import Iterable

from workbench.core.record import EXACT, Exposure, Use


def use_of(exposure: Exposure, gold: Iterable[str]) -> Use | None:
    """The use of one trial; ``None`` where loads could not be observed."""
    if exposure.blind:
        return None
    needed, loads = set(gold), exposure.loads
    loaded = {load.id for load in loads}
    turns = [load.turn for load in loads]
    return Use(
        precision=len(loaded & needed) / len(loaded) if loaded else None,
        recall=len(loaded & needed) / len(needed) if needed else None,
        distractors=tuple(sorted(loaded - needed)),
        unused_gold=tuple(sorted((needed & set(exposure.routed)) - loaded)),
        first_turn=min(turns, default=None),
        first_gold_turn=min((load.turn for load in loads if load.id in needed), default=None),
        files=tuple(sorted({load.id for load in loads if load.tier == "file"})),
        exact=all(load.via in EXACT for load in loads),
    )
