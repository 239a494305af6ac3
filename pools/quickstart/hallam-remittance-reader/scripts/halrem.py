"""Reader for Hallam Stores' payment advice files (layout: SKILL.md)."""

from __future__ import annotations

import csv
import sys
from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import Decimal
from typing import Dict, List

POSITIVE, NEGATIVE = "ZABCDEFGHI", "YJKLMNOPQR"
FIRST_YEAR = 2020
SUNDAY = 6


@dataclass
class Line:
    """One line of an advice. `amount` is what is really paid, in pounds; negative for claims."""

    number: int
    reference: str
    document: str
    amount: Decimal
    narrative: str = ""


@dataclass
class Advice:
    """One payment: its number, day and total, and the lines that make it up."""

    number: int
    paid_on: date
    total: Decimal = Decimal(0)
    lines: List[Line] = field(default_factory=list)


def read(path: str) -> Advice:
    """Read one file.

    Raises:
        ValueError: an unknown record, or lines that do not agree with the trailer.
    """
    with open(path, encoding="ascii") as file:
        records = [row.rstrip("\n") for row in file if row.strip()]
    head = records[0]
    if head[:1] != "H":
        raise ValueError(f"{path}: does not begin with an H record")
    advice = Advice(int(head[7:12]), trading_date(head[12:16]))
    by_number: Dict[int, Line] = {}
    for record in records[1:]:
        kind, number = record[0], record[1:5]
        if kind in "DA":
            line = _line(record)
            by_number[line.number] = line
            advice.lines.append(line)
        elif kind == "C":
            line = by_number[int(number)]
            line.narrative = f"{line.narrative} {record[5:60].strip()}".strip()
        elif kind == "T":
            advice.total = money(record[6:16])
            _prove(advice, int(record[1:6]), path)
        else:
            raise ValueError(f"{path}: unknown record {kind!r}")
    return advice


def money(text: str) -> Decimal:
    """Pounds from an amount field with its sign in the last place."""
    text = text.strip()
    last = text[-1]
    sign = 1 if last in POSITIVE else -1
    digit = (POSITIVE if sign == 1 else NEGATIVE).index(last)
    return Decimal(sign * int(f"{text[:-1]}{digit}")) / 100


def trading_date(text: str) -> date:
    """The day of a trading date such as ``L331``."""
    year = FIRST_YEAR + ord(text[0]) - ord("A")
    start = date(year, 1, 31)
    start -= timedelta(days=(start.weekday() - SUNDAY) % 7)
    return start + timedelta(weeks=int(text[1:3]) - 1, days=int(text[3]) - 1)


def _line(record: str) -> Line:
    net = money(record[27:36]) - money(record[36:43])
    amount = -net if record[0] == "A" else net
    return Line(int(record[1:5]), record[5:19].strip(), record[19:27].strip(), amount)


def _prove(advice: Advice, count: int, path: str) -> None:
    added = sum((line.amount for line in advice.lines), Decimal(0))
    if len(advice.lines) != count or added != advice.total:
        raise ValueError(
            f"{path}: {len(advice.lines)} lines of {added}, the trailer says {count} of {advice.total}"
        )


def main() -> None:
    """Print the lines of a file as CSV."""
    if len(sys.argv) != 2:
        sys.exit("usage: halrem.py FILE.rem")
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow(["line", "reference", "amount", "narrative"])
    for line in read(sys.argv[1]).lines:
        table.writerow([line.number, line.reference, f"{line.amount:.2f}", line.narrative])


if __name__ == "__main__":
    main()
