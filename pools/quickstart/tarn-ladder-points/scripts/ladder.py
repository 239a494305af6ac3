"""The Tarn club's weekly ladder (rules: SKILL.md)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Dict, List, Sequence, Tuple

WIN, DRAW, CLOSE_LOSS = 6, 3, 1
BANDS = ((9, 2), (4, 1), (0, 0))
CLOSE, RESIGNED_MARGIN, UPSET_LIMIT, IDLE = 3, 9, 4, 2


@dataclass(frozen=True)
class Played:
    """One counted game. `resigned` is ``"south"``, ``"north"`` or empty."""

    south: str
    north: str
    south_points: int
    north_points: int
    resigned: str = ""


@dataclass(frozen=True)
class Row:
    """One place of the new ladder. `moved` counts places gained, negative when lost."""

    rank: int
    player: str
    points: int
    moved: int


def update(ladder: Sequence[Tuple[str, int]], results: Sequence[Played]) -> List[Row]:
    """The new ladder.

    Args:
        ladder: (player, points) in rank order.
        results: the week's games in the order played.

    Raises:
        KeyError: somebody who is not on the ladder has played.
    """
    rank = {player: place for place, (player, _) in enumerate(ladder, start=1)}
    points = {player: old * 9 // 10 for player, old in ladder}
    games: Counter[str] = Counter()
    meetings: Counter[frozenset[str]] = Counter()
    for result in results:
        pair = frozenset((result.south, result.north))
        for player, earned in earnings(result, rank).items():
            points[player] += earned // 2 if meetings[pair] else earned
            games[player] += 1
        meetings[pair] += 1
    for player in points:
        if not games[player]:
            points[player] = max(0, points[player] - IDLE)
    order = sorted(points, key=lambda player: (-points[player], games[player], rank[player]))
    return [Row(n, player, points[player], rank[player] - n) for n, player in enumerate(order, start=1)]


def earnings(result: Played, rank: Dict[str, int]) -> Dict[str, int]:
    """What one game earns each player, before rematches are halved."""
    ahead = result.south_points - result.north_points
    if result.resigned:
        ahead = RESIGNED_MARGIN if result.resigned == "north" else -RESIGNED_MARGIN
    if ahead == 0:
        lower = max(result.south, result.north, key=rank.__getitem__)
        return {player: DRAW + (player == lower) for player in (result.south, result.north)}
    winner, loser = (result.south, result.north) if ahead > 0 else (result.north, result.south)
    margin = abs(ahead)
    band = next(extra for least, extra in BANDS if margin >= least)
    upset = min(UPSET_LIMIT, max(0, rank[winner] - rank[loser]) // 2)
    return {winner: WIN + band + upset, loser: CLOSE_LOSS if margin <= CLOSE else 0}
