"""League tables from results."""

import argparse
import csv
import json
from collections import defaultdict


def table(results, win=3, draw=1, ties=("difference", "scored", "name")):
    """One mapping per team, from first to last."""
    teams = defaultdict(lambda: dict.fromkeys(("played", "won", "drawn", "lost", "scored", "against"), 0))
    for game in results:
        home, away = int(game["home_score"]), int(game["away_score"])
        for team, own, other in ((game["home"], home, away), (game["away"], away, home)):
            line = teams[team]
            line["played"] += 1
            line["scored"] += own
            line["against"] += other
            line["won" if own > other else "lost" if own < other else "drawn"] += 1
    lines = []
    for name, line in teams.items():
        points = win * line["won"] + draw * line["drawn"]
        lines.append({"team": name, **line, "difference": line["scored"] - line["against"], "points": points})
    lines.sort(key=lambda line: [-line["points"], *(line["team"] if t == "name" else -line[t] for t in ties)])
    return [{"rank": n, **line} for n, line in enumerate(lines, start=1)]


def main():
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results")
    parser.add_argument("--win", type=int, default=3)
    parser.add_argument("--draw", type=int, default=1)
    parser.add_argument("--ties", default="difference,scored,name")
    parser.add_argument("--last")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    with open(asked.results, newline="", encoding="utf-8") as file:
        lines = table(list(csv.DictReader(file)), asked.win, asked.draw, asked.ties.split(","))
    if asked.last:
        with open(asked.last, newline="", encoding="utf-8") as file:
            before = {row["team"]: int(row["rank"]) for row in csv.DictReader(file)}
        for line in lines:
            line["moved"] = before.get(line["team"], line["rank"]) - line["rank"]
    if asked.json:
        print(json.dumps(lines, indent=1))
        return
    print(" #  team                 P  W  D  L   +/-  pts")
    for line in lines:
        counts = "".join(f"{line[key]:3}" for key in ("played", "won", "drawn", "lost"))
        moved = f"  {line['moved']:+d}" if "moved" in line else ""
        print(
            f"{line['rank']:2}  {line['team']:18}{counts} {line['difference']:+5} {line['points']:4}{moved}"
        )


if __name__ == "__main__":
    main()
