"""Monthly amortisation tables under the usual day-count conventions."""

from __future__ import annotations

import calendar
from dataclasses import dataclass, field
from datetime import date
from decimal import ROUND_HALF_UP, Decimal
from typing import Any, List, Mapping

CENT, NOTHING = Decimal("0.01"), Decimal("0.00")


@dataclass(frozen=True)
class Row:
    """One instalment; `balance` is what is owed after it."""

    no: int
    date: date
    interest: Decimal
    principal: Decimal
    balance: Decimal


@dataclass
class Plan:
    """A whole table. `instalment` is the first one when instalments decline."""

    instalment: Decimal
    rows: List[Row] = field(default_factory=list)

    @property
    def total_interest(self) -> Decimal:
        """Interest over the life of the loan."""
        return sum((row.interest for row in self.rows), NOTHING)


def schedule(loan: Mapping[str, Any]) -> Plan:
    """The table of a loan with the keys amount, rate, drawn, instalments and the optional ones in SKILL.md."""
    balance, rate = Decimal(str(loan["amount"])), Decimal(str(loan["rate"])) / 100
    count, drawn = int(loan["instalments"]), date.fromisoformat(loan["drawn"])
    level = _cents(balance * rate / 12 / (1 - (1 + rate / 12) ** -count) if rate else balance / count)
    share = _cents(balance / count)
    equal = loan.get("method") == "equal-principal"
    plan = Plan(level)
    before = drawn
    for no in range(1, count + 1):
        due = _month_later(drawn, no, int(loan.get("due_day", drawn.day)))
        interest = _cents(balance * rate * year_fraction(before, due, loan.get("convention", "30/360")))
        principal = balance if no == count else share if equal else level - interest
        balance -= principal
        plan.rows.append(Row(no, due, interest, principal, balance))
        before = due
    if equal:
        plan.instalment = plan.rows[0].interest + plan.rows[0].principal
    return plan


def year_fraction(start: date, end: date, convention: str) -> Decimal:
    """The part of a year between two days.

    Raises:
        KeyError: an unknown convention.
    """
    months = (end.year - start.year) * 12 + end.month - start.month
    thirties = months * 30 + min(end.day, 30) - min(start.day, 30)
    actual = (end - start).days
    return {
        "30/360": Decimal(thirties) / 360,
        "ACT/365": Decimal(actual) / 365,
        "ACT/ACT": Decimal(actual) / (366 if calendar.isleap(start.year) else 365),
    }[convention]


def _month_later(start: date, months: int, day: int) -> date:
    year, month = divmod(start.year * 12 + start.month - 1 + months, 12)
    return date(year, month + 1, min(day, calendar.monthrange(year, month + 1)[1]))


def _cents(amount: Decimal) -> Decimal:
    return amount.quantize(CENT, ROUND_HALF_UP)
