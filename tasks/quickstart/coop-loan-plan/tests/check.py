"""Checks plans.json, to the cent, against plans worked out in exact fractions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from verdict import expect, judge, near, read_json

WANTED = json.loads(Path(__file__).with_name("expected.json").read_text(encoding="utf-8"))
COLUMNS = ("no", "date", "interest", "principal", "dividend", "balance")


def rows(loan: str) -> list[dict[str, Any]]:
    """The rows of one plan of the answer, as many as are wanted."""
    found = plan(loan).get("rows")
    expect(
        isinstance(found, list) and all(isinstance(row, dict) for row in found), f"{loan} has no list of rows"
    )
    expect(
        len(found) == len(WANTED[loan]["rows"]), f"{loan}: {len(found)} rows, not {len(WANTED[loan]['rows'])}"
    )
    return found


def plan(loan: str) -> dict[str, Any]:
    """One plan of the answer."""
    found = read_json("plans.json", dict).get(loan)
    expect(isinstance(found, dict), f"{loan} has no plan")
    return found


def level_instalments_are_right() -> None:
    for loan, wanted in WANTED.items():
        found = plan(loan).get("instalment")
        expect(near(found, wanted["instalment"], 0.001), f"{loan}: {found}, not {wanted['instalment']}")


def instalments_fall_due_on_the_right_days() -> None:
    for loan, wanted in WANTED.items():
        found = [[row.get("no"), row.get("date")] for row in rows(loan)]
        expect(found == [row[:2] for row in wanted["rows"]], f"{loan} is due on other days")


def every_row_is_right_to_the_cent() -> None:
    for loan, wanted in WANTED.items():
        for found, right in zip(rows(loan), wanted["rows"]):
            for name, value in list(zip(COLUMNS, right))[2:]:
                expect(
                    near(found.get(name), value, 0.001),
                    f"{loan} no. {right[0]}: {name} {found.get(name)}, not {value}",
                )


def interest_adds_up() -> None:
    for loan, wanted in WANTED.items():
        found = plan(loan).get("total_interest")
        expect(
            near(found, wanted["total_interest"], 0.001), f"{loan}: {found}, not {wanted['total_interest']}"
        )


if __name__ == "__main__":
    judge(
        [
            level_instalments_are_right,
            instalments_fall_due_on_the_right_days,
            every_row_is_right_to_the_cent,
            interest_adds_up,
        ]
    )
