"""Checks readings, grades and notes; each of the three is a third of the reward.

The readings are those the log files were made from; grades come from a second grader, notes are stored.
"""

from __future__ import annotations

import json
from pathlib import Path

from verdict import expect, judge, near, read_json, read_text

WANTED = json.loads(Path(__file__).with_name("expected.json").read_text(encoding="utf-8"))


def temperatures_are_read_and_calibrated() -> None:
    found = read_json("readings.json", dict)
    for lot, wanted in WANTED.items():
        values = found.get(lot)
        expect(isinstance(values, list), f"{lot} has no list of temperatures")
        expect(
            len(values) == len(wanted["values"]), f"{lot}: {len(values)} samples, not {len(wanted['values'])}"
        )
        for place, (value, right) in enumerate(zip(values, wanted["values"])):
            same = value is None if right is None else value is not None and near(value, right, 0.01)
            expect(same, f"{lot}, sample {place}: {value}, not {right}")


def lots_are_graded_with_their_figures() -> None:
    found = read_json("grades.json", dict)
    for lot, wanted in WANTED.items():
        graded = found.get(lot)
        expect(isinstance(graded, dict), f"{lot} has no grade")
        expect(
            graded.get("grade") == wanted["grade"],
            f"{lot}: grade {graded.get('grade')}, not {wanted['grade']}",
        )
        expect(near(graded.get("minutes_out"), wanted["minutes_out"], 0), f"{lot}: minutes out of range")
        expect(near(graded.get("dose"), wanted["dose"], 0.011), f"{lot}: dose {graded.get('dose')}")


def the_desk_accepts_every_note() -> None:
    for lot, wanted in WANTED.items():
        lines = [line.rstrip() for line in read_text(f"notes/{lot}.txt").rstrip().splitlines()]
        for line, right in zip(lines, wanted["note"]):
            expect(line == right, f"{lot}: {line!r}, not {right!r}")
        expect(len(lines) == len(wanted["note"]), f"{lot}: {len(lines)} lines, not {len(wanted['note'])}")


if __name__ == "__main__":
    judge(
        [
            temperatures_are_read_and_calibrated,
            lots_are_graded_with_their_figures,
            the_desk_accepts_every_note,
        ],
        partial=True,
    )
