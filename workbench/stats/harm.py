"""How many tasks would come out worse by chance alone?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from workbench.stats.proportion import TaskRewards

if TYPE_CHECKING:
    import numpy as np

_DEALS = 2_000


def worse_by_chance(first: TaskRewards, second: TaskRewards, seed: int = 0) -> float:
    """Tasks whose mean would be lower in `first`, were the trials of each task dealt to the arms at random.

    Expected number, given the rewards that were seen (a permutation within tasks): of passes and failures
    by the hypergeometric distribution, of other rewards by 2,000 deals. Some tasks fall wherever trials
    vary, so tasks that fell are news only beyond this number.
    """
    import numpy as np

    rng = np.random.default_rng(seed)
    return math.fsum(_falls(a, b, rng) for a, b in zip(first, second, strict=True))


def _falls(mine: Sequence[float], theirs: Sequence[float], rng: np.random.Generator) -> float:
    """Chance that the mean of as many rewards as `mine`, drawn from all, is below that of the rest."""
    pooled = [*mine, *theirs]
    if all(reward in (0, 1) for reward in pooled):
        return _binary(len(mine), len(theirs), round(math.fsum(pooled)))
    import numpy as np

    if max(pooled) - min(pooled) < 1e-12:
        return 0.0
    deals = rng.permuted(np.tile(pooled, (_DEALS, 1)), axis=1)
    fell = deals[:, : len(mine)].mean(axis=1) < deals[:, len(mine) :].mean(axis=1) - 1e-12
    return float(fell.mean())


def _binary(mine: int, theirs: int, passed: int) -> float:
    ways = [
        math.comb(mine, own) * math.comb(theirs, passed - own)
        for own in range(max(0, passed - theirs), min(mine, passed) + 1)
        if own * theirs < (passed - own) * mine
    ]
    return sum(ways) / math.comb(mine + theirs, passed)
