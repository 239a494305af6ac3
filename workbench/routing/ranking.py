"""Scores -> ranking, exact where scores are equal; and the law that every ranking keeps."""

from __future__ import annotations

import math
from collections.abc import Container, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from workbench.core.errors import WorkbenchError
from workbench.core.terminal import safe
from workbench.core.types import RankedSkill, Ranking

if TYPE_CHECKING:
    from numpy.typing import NDArray


def best(scores: NDArray, ids: Sequence[str], k: int) -> Ranking:  # type: ignore[type-arg]
    """The `k` best of the positive scores: score descending, then id ascending.

    A group of equal scores that crosses the cut is cut by id and not by chance.

    Args:
        scores: one per id; finite.
        ids: sorted.
        k: at least 1.
    """
    import numpy as np

    found = np.flatnonzero(scores > 0)
    if len(found) > k:
        values = scores[found]
        found = found[values >= np.partition(values, len(values) - k)[len(values) - k]]
    order = found[np.argsort(-scores[found], kind="stable")[:k]]
    return tuple(RankedSkill(ids[place], float(scores[place])) for place in order.tolist())


def below(ranking: Ranking, floor: float) -> Ranking:
    """`ranking` with its scores moved so that the first is `floor`; order and differences stay."""
    return tuple(RankedSkill(entry.id, floor - (ranking[0].score - entry.score)) for entry in ranking)


def above(score: float, steps: int) -> float:
    """A score `steps` above another, further than any rounding of it."""
    return score + steps * max(1.0, abs(score) * 1e-6)


def check_law(method: str, rankings: Sequence[Ranking], count: int, pool: Container[str], k: int) -> None:
    """Hold the output of a stage against the law of `router.Router`.

    Args:
        method: the stage's name, for the message.
        rankings: what it gave.
        count: number of queries it was given.

    Raises:
        WorkbenchError: it is broken; says how. That is a fault in the method, not in its input.
    """
    fault = None if len(rankings) == count else f"{len(rankings)} rankings for {count} queries"
    for ranking in rankings:
        fault = fault or _fault(ranking, pool, k)
    if fault:
        raise WorkbenchError(
            f"routing method '{method}' broke the law of rankings: {fault}; this is a bug in it"
        )


def _fault(ranking: Ranking, pool: Container[str], k: int) -> str | None:
    if len(ranking) > k:
        return f"{len(ranking)} entries where at most {k} were asked for"
    if len({entry.id for entry in ranking}) < len(ranking):
        return "an id stands in it twice"
    for entry in ranking:
        if not math.isfinite(entry.score):
            return f"the score of '{safe(entry.id)}' is {entry.score}"
        if entry.id not in pool:
            return f"'{safe(entry.id)}' is not in the pool"
    for above, entry in pairwise(ranking):
        if (-above.score, above.id) > (-entry.score, entry.id):
            return f"'{safe(entry.id)}' ({entry.score}) stands below '{safe(above.id)}' ({above.score})"
    return None
