"""Rooms for exams."""

import csv
import sys
from itertools import combinations
from pathlib import Path


def read_rooms():
    """The rooms with their seats in exam spacing."""
    path = Path(__file__).resolve().parent.parent / "references" / "rooms.csv"
    with path.open(newline="") as file:
        return [{**row, "seats": int(row["seats"])} for row in csv.DictReader(file)]


def allocate(exams, rooms):
    """(course, date, slot, room, candidates) of every exam, large ones first.

    Raises:
        ValueError: an exam for which no rooms are left.
    """
    taken = set()
    for exam in sorted(exams, key=lambda e: -int(e["candidates"])):
        when = (exam["date"], exam["slot"])
        free = [room for room in rooms if (when, room["room"]) not in taken]
        left = int(exam["candidates"])
        for room in _choose(free, left, exam["needs"]):
            seated = min(left, room["seats"])
            left -= seated
            taken.add((when, room["room"]))
            yield exam["course"], *when, room["room"], seated
        if left:
            raise ValueError(f"no rooms are left for {exam['course']}")


def _choose(free, candidates, needs):
    """The smallest room that holds all, else the fewest rooms of one building, else of any."""
    fit = [room for room in free if room["equipment"] == needs] or [r for r in free if not needs]
    for count in range(1, len(fit) + 1):
        groups = [g for g in combinations(fit, count) if sum(r["seats"] for r in g) >= candidates]
        if groups:
            return min(groups, key=lambda g: (len({r["building"] for r in g}), sum(r["seats"] for r in g)))
    return []


def main():
    """Allocate the exams of a CSV file."""
    if len(sys.argv) != 2:
        sys.exit("usage: allocate_rooms.py EXAMS.csv")
    with open(sys.argv[1], newline="", encoding="utf-8") as file:
        rows = list(allocate(list(csv.DictReader(file)), read_rooms()))
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow(["course", "date", "slot", "room", "candidates"])
    table.writerows(rows)


if __name__ == "__main__":
    main()
