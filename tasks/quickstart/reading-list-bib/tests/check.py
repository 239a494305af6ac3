"""Checks reading-list.bib against entries made by hand from the cards."""

from __future__ import annotations

import json
import re
from pathlib import Path

from verdict import expect, judge, read_text

WANTED: list[dict[str, str]] = json.loads(
    Path(__file__).with_name("expected.json").read_text(encoding="utf-8")
)
HEAD = re.compile(r"@(\w+)\s*\{\s*([^\s,]+)\s*,$")
FIELD = re.compile(r"(\w+)\s*=\s*\{(.*)\},?$")


def entries() -> list[dict[str, str]]:
    """The answer's entries: fields in lower case, with ``type`` and ``key``."""
    found: list[dict[str, str]] = []
    for line in map(str.strip, read_text("reading-list.bib").splitlines()):
        head, field = HEAD.match(line), FIELD.match(line)
        if head:
            found.append({"type": head.group(1).lower(), "key": head.group(2)})
        elif field and found:
            found[-1][field.group(1).lower()] = field.group(2).strip()
        else:
            expect(line in ("", "}"), f"not one field per line: {line[:60]!r}")
    expect(bool(found), "no entry")
    return found


def exactly_the_valid_cards_are_listed() -> None:
    found = sorted(entry.get("note", "") for entry in entries())
    expect(found == sorted(entry["note"] for entry in WANTED), "other accession numbers")


def keys_are_those_of_the_spine_labels_in_order() -> None:
    found = [(entry["key"], entry.get("note")) for entry in entries()]
    for one, right in zip(found, WANTED):
        expect(one == (right["key"], right["note"]), f"{one}, not {(right['key'], right['note'])}")
    expect(len(found) == len(WANTED), f"{len(found)} entries, not {len(WANTED)}")


def fields_say_what_the_cards_say() -> None:
    found = {entry.get("note"): entry for entry in entries()}
    for right in WANTED:
        entry = found.get(right["note"], {})
        for name, value in right.items():
            if name != "key":
                expect(
                    entry.get(name) == value, f"{right['note']}: {name} is {entry.get(name)!r}, not {value!r}"
                )


if __name__ == "__main__":
    judge(
        [
            exactly_the_valid_cards_are_listed,
            keys_are_those_of_the_spine_labels_in_order,
            fields_say_what_the_cards_say,
        ]
    )
