"""Rents of Calder Wharf under the estate's letting policy (see SKILL.md)."""

from __future__ import annotations

import csv
import json
import sys
from dataclasses import dataclass
from datetime import date
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_UP, Decimal
from typing import Any, Dict, List, Mapping, Tuple

FLOOR, CAP, CARRY_LIMIT = Decimal("1.5"), Decimal("4.2"), Decimal("2.0")
INDEX_LAG_MONTHS = 2
LATEST_REVIEW_DAY = 15
CHARITY_SHARE = Decimal("0.88")
STEP = Decimal("0.05")


@dataclass
class _Passing:
    """The rent that passes, and the points carried over from earlier reviews."""

    annual: Decimal
    carried: Decimal = Decimal(0)


def read_index(path: str) -> Dict[str, Decimal]:
    """Index by month from a CSV file with the columns ``month`` (YYYY-MM) and ``index``."""
    with open(path, newline="", encoding="utf-8") as file:
        return {row["month"]: Decimal(row["index"]) for row in csv.DictReader(file)}


def rent_roll(lease: Mapping[str, Any], index: Mapping[str, Decimal], year: int) -> List[Tuple[str, Decimal]]:
    """What a tenant pays in each month of a year, as (month, pounds).

    Raises:
        KeyError: the index lacks a month that a review needs.
    """
    start = date.fromisoformat(lease["start"])
    first = _number(start.year, start.month)
    free_until = first + int(lease["rent_free_months"])
    passing = _Passing(Decimal(str(lease["annual_rent"])))
    lag = 0 if start.day <= LATEST_REVIEW_DAY else 1
    roll = []
    for month in range(first, _number(year, 12) + 1):
        reviewed = month - lag
        if reviewed > free_until and (reviewed - free_until) % 12 == 0:
            _review(lease["review"], passing, index, reviewed, (reviewed - free_until) // 12)
        if month >= _number(year, 1):
            rent = Decimal("0.00") if month < free_until else _monthly(passing.annual, bool(lease["charity"]))
            roll.append((_name(month), rent))
    return roll


def _review(clause: Any, passing: _Passing, index: Mapping[str, Decimal], month: int, nth: int) -> None:
    """Apply the nth review (from 1), which falls in `month`."""
    if clause == "index":
        rise = _indexed(passing, index, month - INDEX_LAG_MONTHS)
    else:
        steps = clause["steps"]
        rise = Decimal(str(steps[min(nth, len(steps)) - 1]))
    passing.annual = (passing.annual * (100 + rise) / 100).quantize(Decimal("0.01"), ROUND_HALF_UP)


def _indexed(passing: _Passing, index: Mapping[str, Decimal], month: int) -> Decimal:
    """The rise in per cent inside the collar; what exceeds it is carried over."""
    change = (index[_name(month)] / index[_name(month - 12)] - 1) * 100
    change = change.quantize(Decimal("0.1"), ROUND_HALF_UP)
    if change > CAP:
        passing.carried = min(CARRY_LIMIT, passing.carried + change - CAP)
        return CAP
    rise = max(change, FLOOR)
    used = min(passing.carried, CAP - rise)
    passing.carried -= used
    return rise + used


def _monthly(annual: Decimal, charity: bool) -> Decimal:
    full = _to_step(annual / 12, ROUND_CEILING)
    return _to_step(full * CHARITY_SHARE, ROUND_FLOOR) if charity else full


def _to_step(amount: Decimal, rounding: str) -> Decimal:
    return ((amount / STEP).quantize(Decimal(1), rounding) * STEP).quantize(Decimal("0.01"))


def _number(year: int, month: int) -> int:
    return year * 12 + month - 1


def _name(number: int) -> str:
    return f"{number // 12}-{number % 12 + 1:02}"


def main() -> None:
    """Print the rent roll of a file of leases as CSV."""
    if len(sys.argv) != 4:
        sys.exit("usage: reviews.py LEASES.json INDEX.csv YEAR")
    with open(sys.argv[1], encoding="utf-8") as file:
        leases = json.load(file)
    index = read_index(sys.argv[2])
    print("tenant,month,rent")
    for lease in leases:
        for month, rent in rent_roll(lease, index, int(sys.argv[3])):
            print(f"{lease['tenant']},{month},{rent}")


if __name__ == "__main__":
    main()
