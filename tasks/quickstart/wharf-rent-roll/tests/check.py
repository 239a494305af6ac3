"""Checks rent_roll.csv, to the penny, against a second calculation in exact fractions."""

from __future__ import annotations

import json
from pathlib import Path

from verdict import expect, judge, near, read_csv

WANTED = json.loads(Path(__file__).with_name("expected.json").read_text(encoding="utf-8"))
LINES = [(tenant, f"2031-{month:02}") for tenant in WANTED for month in range(1, 13)]


def rows() -> list[dict[str, str]]:
    """The answer's rows."""
    return read_csv("rent_roll.csv", ["tenant", "month", "rent"])


def every_tenant_has_twelve_months_in_order() -> None:
    expect(
        [(row["tenant"], row["month"]) for row in rows()] == LINES,
        "other tenants or months, or another order",
    )


def rents_are_right_to_the_penny() -> None:
    found = rows()
    expect(len(found) == len(LINES), f"{len(found)} lines, not {len(LINES)}")
    for row in found:
        expect(row["tenant"] in WANTED and row["month"].startswith("2031-"), "a line nobody asked for")
        wanted = WANTED[row["tenant"]][int(row["month"][5:]) - 1]
        expect(
            near(row["rent"], float(wanted), 0.001),
            f"{row['tenant']} {row['month']}: {row['rent']}, not {wanted}",
        )


if __name__ == "__main__":
    judge([every_tenant_has_twelve_months_in_order, rents_are_right_to_the_penny])
