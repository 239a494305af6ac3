"""Checks verdicts.csv against how each number was made: drawn, spoilt or smudged."""

from __future__ import annotations

import json
from pathlib import Path

from verdict import expect, judge, read_csv

WANTED = json.loads(Path(__file__).with_name("expected.json").read_text(encoding="utf-8"))


def rows() -> list[dict[str, str]]:
    """The answer's rows."""
    return read_csv("verdicts.csv", ["scan", "verdict", "number"])


def every_scan_has_one_line_in_order() -> None:
    expect([row["scan"] for row in rows()] == list(WANTED), "other scans, or another order")


def complete_numbers_are_judged() -> None:
    _verdicts_are_right({"sound", "unsound"})


def unread_characters_are_restored_only_where_certain() -> None:
    _verdicts_are_right({"restored", "unclear"})


def _verdicts_are_right(kinds: set[str]) -> None:
    found = {row["scan"]: [row["verdict"], row["number"]] for row in rows()}
    for scan, wanted in WANTED.items():
        if wanted[0] in kinds:
            expect(found.get(scan) == wanted, f"scan {scan}: {found.get(scan)}, not {wanted}")


if __name__ == "__main__":
    judge(
        [
            every_scan_has_one_line_in_order,
            complete_numbers_are_judged,
            unread_characters_are_restored_only_where_certain,
        ]
    )
