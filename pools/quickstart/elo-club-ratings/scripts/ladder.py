"""Elo ratings of a club."""

from typing import Dict, List, NamedTuple, Sequence, Tuple

NEW_PLAYER, FLOOR = 1400, 800


class Played(NamedTuple):
    """One finished game: the players and their scores."""

    south: str
    north: str
    south_points: float
    north_points: float
    resigned: str = ""


class Row(NamedTuple):
    """One place of the list."""

    rank: int
    player: str
    points: int
    moved: int


def update(ladder: Sequence[Tuple[str, int]], results: Sequence[Played], k: float = 24) -> List[Row]:
    """The new list; ratings are rounded once, at the end."""
    rating: Dict[str, float] = dict(ladder)
    old_rank = {player: n for n, (player, _) in enumerate(ladder, start=1)}
    for game in results:
        first, second = (rating.setdefault(p, NEW_PLAYER) for p in (game.south, game.north))
        won = 0.5 if game.south_points == game.north_points else float(game.south_points > game.north_points)
        gain = k * (won - 1 / (1 + 10 ** ((second - first) / 400)))
        rating[game.south] = max(first + gain, min(first, FLOOR))
        rating[game.north] = max(second - gain, min(second, FLOOR))
    order = sorted(rating, key=lambda player: (-rating[player], player))
    return [
        Row(n, player, round(rating[player]), old_rank.get(player, n) - n)
        for n, player in enumerate(order, start=1)
    ]
