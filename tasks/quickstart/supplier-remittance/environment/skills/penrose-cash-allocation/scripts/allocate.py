"""Matching of payment lines to open items in credit control's passes (see SKILL.md)."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from datetime import date
from decimal import ROUND_HALF_UP, Decimal
from typing import Any, Callable, Dict, List, Optional, Sequence

DISCOUNT = {"T0": (Decimal(0), -1), "T1": (Decimal("2.5"), 10), "T2": (Decimal("1.25"), 21)}
DISCOUNT_SLACK = Decimal("0.02")
WRITE_OFF_AMOUNT, WRITE_OFF_PER_CENT = Decimal("2.50"), Decimal("0.5")
AMOUNT_DAYS = 60
NOTHING = Decimal("0.00")


@dataclass
class Item:
    """One open item of the ledger."""

    invoice: str
    po: str
    date: date
    open: Decimal
    terms: str


@dataclass(frozen=True)
class Match:
    """What became of one line. `invoice` is empty and `applied` zero for ``UN``."""

    line: int
    invoice: str
    applied: Decimal
    code: str
    left_open: Decimal


def read_ledger(path: str) -> List[Item]:
    """Open items from a CSV file with the columns invoice, po, date, open and terms."""
    with open(path, newline="", encoding="utf-8") as file:
        return [
            Item(r["invoice"], r["po"], date.fromisoformat(r["date"]), Decimal(r["open"]), r["terms"])
            for r in csv.DictReader(file)
        ]


def allocate(lines: Sequence[Any], ledger: Sequence[Item], paid_on: date) -> List[Match]:
    """One match for each line, in the order of the lines."""
    remaining = {item.invoice: item for item in ledger}
    found: Dict[int, Match] = {}
    for code, rule in _PASSES.items():
        for line in lines:
            if line.number in found or (line.amount < 0) != (code == "CN"):
                continue
            item = rule(line, list(remaining.values()), paid_on)
            if item is not None:
                found[line.number] = _match(line, item, code)
                del remaining[item.invoice]
    unmatched = {line.number: Match(line.number, "", NOTHING, "UN", NOTHING) for line in lines}
    return [found.get(line.number, unmatched[line.number]) for line in lines]


def tidy(reference: str) -> str:
    """A reference in the form in which references are compared."""
    plain = re.sub(r"[^A-Z0-9]", "", reference.upper())
    plain = plain[3:] if plain.startswith("INV") else plain
    return plain.translate(str.maketrans("OIL", "011")).lstrip("0")


def discounted(item: Item, paid_on: date) -> Decimal:
    """What settles an item on a day, settlement discount taken."""
    per_cent, days = DISCOUNT[item.terms]
    if not 0 <= (paid_on - item.date).days <= days:
        return item.open
    return item.open - (item.open * per_cent / 100).quantize(Decimal("0.01"), ROUND_HALF_UP)


def _match(line: Any, item: Item, code: str) -> Match:
    left = item.open - abs(line.amount) if code in ("PP", "CN") else NOTHING
    return Match(line.number, item.invoice, line.amount, code, left)


def _exact(line: Any, items: List[Item], paid_on: date) -> Optional[Item]:
    return _first(items, lambda i: i.invoice == line.reference and i.open == line.amount)


def _settlement(line: Any, items: List[Item], paid_on: date) -> Optional[Item]:
    return _first(items, lambda i: i.invoice == line.reference and _settles(line, i, paid_on))


def _tidied(line: Any, items: List[Item], paid_on: date) -> Optional[Item]:
    return _first(items, lambda i: _same(line, i) and (i.open == line.amount or _settles(line, i, paid_on)))


def _order(line: Any, items: List[Item], paid_on: date) -> Optional[Item]:
    named = set(re.findall(r"P-\d{5}\b", line.narrative))
    fits = [item for item in items if item.po in named]
    return fits[0] if len(fits) == 1 and fits[0].open == line.amount else None


def _amount(line: Any, items: List[Item], paid_on: date) -> Optional[Item]:
    fits = [i for i in items if i.open == line.amount and 0 <= (paid_on - i.date).days <= AMOUNT_DAYS]
    return fits[0] if len(fits) == 1 else None


def _write_off(line: Any, items: List[Item], paid_on: date) -> Optional[Item]:
    def small(item: Item) -> bool:
        short = item.open - line.amount
        return 0 < short <= min(WRITE_OFF_AMOUNT, item.open * WRITE_OFF_PER_CENT / 100)

    return _first(items, lambda i: _same(line, i) and small(i))


def _part(line: Any, items: List[Item], paid_on: date) -> Optional[Item]:
    return _first(items, lambda i: _same(line, i) and line.amount < i.open)


def _credit(line: Any, items: List[Item], paid_on: date) -> Optional[Item]:
    large = [item for item in items if item.open >= -line.amount]
    return min(large, key=lambda i: (i.date, i.invoice), default=None)


def _first(items: List[Item], fits: Callable[[Item], bool]) -> Optional[Item]:
    return next(filter(fits, items), None)


def _same(line: Any, item: Item) -> bool:
    return tidy(line.reference) == tidy(item.invoice) != ""


def _settles(line: Any, item: Item, paid_on: date) -> bool:
    wanted = discounted(item, paid_on)
    return wanted != item.open and abs(wanted - line.amount) <= DISCOUNT_SLACK


_PASSES: Dict[str, Callable[[Any, List[Item], date], Optional[Item]]] = {
    "EX": _exact,
    "SD": _settlement,
    "NR": _tidied,
    "PO": _order,
    "AM": _amount,
    "WO": _write_off,
    "PP": _part,
    "CN": _credit,
}
