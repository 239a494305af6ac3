"""Checks windows.json, to a minute, against windows from a separate synthesis of the same constants."""

from __future__ import annotations

import json
from pathlib import Path

from verdict import expect, judge, read_json

WANTED = json.loads(Path(__file__).with_name("expected.json").read_text(encoding="utf-8"))


def minutes(clock: object) -> int:
    """Minutes since midnight of ``HH:MM``."""
    expect(isinstance(clock, str) and len(clock) == 5 and clock[2] == ":", f"{clock!r} is not HH:MM")
    digits = clock[:2] + clock[3:]
    expect(digits.isdecimal() and digits.isascii(), f"{clock!r} is not HH:MM")
    return int(digits[:2]) * 60 + int(digits[2:])


def every_call_is_answered() -> None:
    expect(sorted(read_json("windows.json", dict)) == sorted(WANTED), "other calls than those asked for")


def the_gates_open_as_often_as_they_should() -> None:
    found = read_json("windows.json", dict)
    for call, wanted in WANTED.items():
        expect(isinstance(found.get(call), list), f"{call} has no list of windows")
        expect(len(found[call]) == len(wanted), f"{call} has {len(found[call])} windows, not {len(wanted)}")


def windows_are_right_to_a_minute() -> None:
    found = read_json("windows.json", dict)
    for call, wanted in WANTED.items():
        pairs = list(zip(found[call], wanted))
        expect(len(found[call]) == len(wanted), f"{call} has another number of windows")
        for window, right in pairs:
            for side in ("open", "close"):
                off = abs(minutes(window[side]) - minutes(right[side]))
                expect(off <= 1, f"{call} {side}s at {window[side]}, not {right[side]}")


if __name__ == "__main__":
    judge([every_call_is_answered, the_gates_open_as_often_as_they_should, windows_are_right_to_a_minute])
