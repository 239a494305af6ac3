"""Checks planner.json against the classes for which the export was written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from verdict import expect, judge, read_json

WANTED: list[dict[str, Any]] = json.loads(
    Path(__file__).with_name("expected.json").read_text(encoding="utf-8")
)


def classes() -> list[dict[str, Any]]:
    """The answer's classes."""
    found = read_json("planner.json", list)
    expect(all(isinstance(one, dict) for one in found), "each class must be an object")
    return found


def exactly_the_classes_that_are_held_are_listed() -> None:
    found = sorted(str((c.get("course"), c.get("kind"), str(c.get("start"))[:10])) for c in classes())
    wanted = sorted(str((c["course"], c["kind"], c["start"][:10])) for c in WANTED)
    expect(
        found == wanted,
        f"{len(set(found) ^ set(wanted))} classes differ, {len(found)} listed, {len(wanted)} held",
    )


def times_and_weeks_are_the_colleges() -> None:
    _agree("start", "end", "week")


def places_and_teachers_can_be_read() -> None:
    _agree("place", "teacher")


def classes_are_in_order() -> None:
    found = [[c.get("start"), c.get("course")] for c in classes()]
    expect(found == [[c["start"], c["course"]] for c in WANTED], "another order")


def _agree(*fields: str) -> None:
    found = classes()
    expect(len(found) == len(WANTED), f"{len(found)} classes, not {len(WANTED)}")
    for one, wanted in zip(found, WANTED):
        for name in fields:
            value = one.get(name)
            same = value == wanted[name] and not isinstance(value, bool)
            expect(
                same,
                f"{wanted['course']} {wanted['start']}: {name} {str(value)[:60]!r}, not {wanted[name]!r}",
            )


if __name__ == "__main__":
    judge(
        [
            exactly_the_classes_that_are_held_are_listed,
            times_and_weeks_are_the_colleges,
            places_and_teachers_can_be_read,
            classes_are_in_order,
        ]
    )
