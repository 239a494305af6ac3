"""Swiss pairings and standings of a Tarn weekend."""

import csv
import sys
from collections import Counter

POINTS = {"south": (1.0, 0.0), "north": (0.0, 1.0), "draw": (0.5, 0.5)}


def standings(players, games):
    """(player, points, tie-break) from first to last."""
    points, as_north, met = Counter(), Counter(), {player: [] for player in players}
    for game in games:
        south, north = game["south"], game["north"]
        if not north:
            points[south] += 1
            continue
        for player, won in zip((south, north), POINTS[game["winner"]]):
            points[player] += won
        met[south].append(north)
        met[north].append(south)
        as_north[north] += 1
    tie = {player: sum(points[other] for other in met[player]) for player in players}
    order = sorted(players, key=lambda p: (-points[p], -tie[p], -as_north[p], players.index(p)))
    return [(player, points[player], tie[player]) for player in order]


def pairings(players, games):
    """(south, north) of the next round; the bye has no north."""
    order = [player for player, _, _ in standings(players, games)]
    met = {frozenset((g["south"], g["north"])) for g in games}
    south_times = Counter(g["south"] for g in games if g["north"])
    byes = {g["south"] for g in games if not g["north"]}
    table = []
    if len(order) % 2:
        free = next((p for p in reversed(order) if p not in byes), order[-1])
        order.remove(free)
        table.append((free, ""))
    while order:
        one = order.pop(0)
        other = next((p for p in order if frozenset((one, p)) not in met), order[0])
        order.remove(other)
        table.append((one, other) if south_times[one] < south_times[other] else (other, one))
    return sorted(table, key=lambda pair: pair[1] == "")


def main():
    """Print standings and the next round."""
    if len(sys.argv) != 3:
        sys.exit("usage: swiss.py PLAYERS.txt RESULTS.csv")
    with open(sys.argv[1], encoding="utf-8") as file:
        players = [line.strip() for line in file if line.strip()]
    with open(sys.argv[2], newline="", encoding="utf-8") as file:
        games = list(csv.DictReader(file))
    for place, (player, points, tie) in enumerate(standings(players, games), start=1):
        print(f"{place:2}  {player:20} {points:4.1f}  ({tie:.1f})")
    for south, north in pairings(players, games):
        print(f"{south} - {north}" if north else f"{south} has the bye")


if __name__ == "__main__":
    main()
