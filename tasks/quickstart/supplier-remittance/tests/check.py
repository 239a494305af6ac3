"""Checks allocation.csv against a second matching, in pence and pass by pass."""

from __future__ import annotations

import json
from pathlib import Path

from verdict import expect, judge, near, read_csv

HEADER = ["line", "invoice", "applied", "code", "left_open"]
WANTED = [
    dict(zip(HEADER, row))
    for row in json.loads(Path(__file__).with_name("expected.json").read_text(encoding="utf-8"))
]


def pairs() -> list[tuple[dict[str, str], dict[str, str]]]:
    """Rows of the answer, each with the row that is wanted."""
    found = read_csv("allocation.csv", HEADER)
    expect(len(found) == len(WANTED), f"{len(found)} rows, not {len(WANTED)}")
    return list(zip(found, WANTED))


def every_line_of_the_advice_has_its_row() -> None:
    expect(all(found["line"] == wanted["line"] for found, wanted in pairs()), "other lines, or another order")


def lines_are_set_against_the_right_items() -> None:
    for found, wanted in pairs():
        expect(
            found["invoice"] == wanted["invoice"],
            f"line {wanted['line']}: invoice {found['invoice'] or 'none'}",
        )


def codes_are_those_of_credit_control() -> None:
    for found, wanted in pairs():
        expect(
            found["code"] == wanted["code"], f"line {wanted['line']}: {found['code']}, not {wanted['code']}"
        )


def amounts_are_right_to_the_penny() -> None:
    for found, wanted in pairs():
        for column in ("applied", "left_open"):
            right = float(wanted[column])
            expect(
                near(found[column], right, 0.001),
                f"line {wanted['line']}: {column} {found[column]}, not {right}",
            )


if __name__ == "__main__":
    judge(
        [
            every_line_of_the_advice_has_its_row,
            lines_are_set_against_the_right_items,
            codes_are_those_of_credit_control,
            amounts_are_right_to_the_penny,
        ]
    )
