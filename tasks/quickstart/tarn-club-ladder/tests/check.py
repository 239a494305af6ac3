"""Checks results.csv and ladder.json.

The results are those of the program that played the games; the ladder was worked out from them separately.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from verdict import expect, judge, near, read_csv, read_json

WANTED = json.loads(Path(__file__).with_name("expected.json").read_text(encoding="utf-8"))


def rows() -> list[dict[str, Any]]:
    """The answer's ladder."""
    found = read_json("ladder.json", list)
    expect(all(isinstance(row, dict) for row in found), "each place must be an object")
    expect(len(found) == len(WANTED["ladder"]), f"{len(found)} places, not {len(WANTED['ladder'])}")
    return found


def every_game_is_counted() -> None:
    found = read_csv("results.csv", ["game", "south", "north", "resigned"])
    expect(len(found) == len(WANTED["results"]), f"{len(found)} games, not {len(WANTED['results'])}")
    for row, wanted in zip(found, WANTED["results"]):
        expect(list(row.values()) == wanted, f"{list(row.values())}, not {wanted}")


def players_stand_in_the_right_order() -> None:
    found = [(row.get("rank"), row.get("player")) for row in rows()]
    expect(found == [(row["rank"], row["player"]) for row in WANTED["ladder"]], "another order")


def points_and_moves_are_right() -> None:
    for row, wanted in zip(rows(), WANTED["ladder"]):
        for key in ("points", "moved"):
            expect(
                near(row.get(key), wanted[key], 0),
                f"{wanted['player']}: {key} {row.get(key)}, not {wanted[key]}",
            )


if __name__ == "__main__":
    judge([every_game_is_counted, players_stand_in_the_right_order, points_and_moves_are_right])
