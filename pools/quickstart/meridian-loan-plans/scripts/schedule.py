"""Repayment plans of the Meridian Credit Co-operative (rules: SKILL.md)."""

from __future__ import annotations

import csv
import sys
from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import ROUND_CEILING, ROUND_HALF_EVEN, Decimal
from typing import Any, List, Mapping

FIRST_SETTLING_DAY = date(2024, 1, 4)
PERIOD_DAYS, YEAR_DAYS, PERIODS_A_YEAR = 28, 364, 13
LEAST_DAYS_TO_FIRST = 10
DIVIDEND = Decimal("0.04")
CENT, TEN_CENTS, NOTHING = Decimal("0.01"), Decimal("0.10"), Decimal("0.00")


@dataclass(frozen=True)
class Row:
    """One instalment. The payment is interest plus principal; `balance` is what is owed after it."""

    no: int
    date: date
    interest: Decimal
    principal: Decimal
    dividend: Decimal
    balance: Decimal


@dataclass
class Plan:
    """A whole plan: the level instalment and its rows."""

    instalment: Decimal
    rows: List[Row] = field(default_factory=list)

    @property
    def total_interest(self) -> Decimal:
        """Interest over the life of the loan, dividends not taken off."""
        return sum((row.interest for row in self.rows), NOTHING)


def schedule(loan: Mapping[str, Any]) -> Plan:
    """The plan of a loan.

    Args:
        loan: ``amount``, ``rate`` in per cent a year, ``drawn`` (YYYY-MM-DD) and ``instalments``.
    """
    balance, rate = Decimal(str(loan["amount"])), Decimal(str(loan["rate"])) / 100
    count = int(loan["instalments"])
    plan = Plan(level_instalment(balance, rate, count))
    before = date.fromisoformat(loan["drawn"])
    due = first_instalment_day(before)
    for no in range(1, count + 1):
        interest = (balance * rate * (due - before).days / YEAR_DAYS).quantize(CENT, ROUND_HALF_EVEN)
        last = no == count or balance + interest <= plan.instalment
        principal = balance if last else plan.instalment - interest
        booked = [row.interest for row in plan.rows[1 - PERIODS_A_YEAR :]] + [interest]
        earned = no % PERIODS_A_YEAR == 0 and not last
        dividend = (sum(booked) * DIVIDEND).quantize(CENT, ROUND_HALF_EVEN) if earned else NOTHING
        balance -= principal + dividend
        plan.rows.append(Row(no, due, interest, principal, dividend, balance.quantize(CENT)))
        if last:
            break
        before, due = due, due + timedelta(days=PERIOD_DAYS)
    return plan


def first_instalment_day(drawn: date) -> date:
    """The first settling day at least ten days after drawing."""
    earliest = (drawn - FIRST_SETTLING_DAY).days + LEAST_DAYS_TO_FIRST
    periods = -(-earliest // PERIOD_DAYS)
    return FIRST_SETTLING_DAY + timedelta(days=PERIOD_DAYS * periods)


def level_instalment(amount: Decimal, rate: Decimal, count: int) -> Decimal:
    """The annuity at a thirteenth of the yearly rate, up to the next 10 cents."""
    step = rate / PERIODS_A_YEAR
    exact = amount * step / (1 - (1 + step) ** -count) if step else amount / count
    return ((exact / TEN_CENTS).quantize(Decimal(1), ROUND_CEILING) * TEN_CENTS).quantize(CENT)


def main() -> None:
    """Print a plan as CSV."""
    if len(sys.argv) != 5:
        sys.exit("usage: schedule.py AMOUNT RATE DRAWN INSTALMENTS")
    plan = schedule(dict(zip(("amount", "rate", "drawn", "instalments"), sys.argv[1:])))
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow(["no", "date", "interest", "principal", "dividend", "balance"])
    table.writerows(vars(row).values() for row in plan.rows)


if __name__ == "__main__":
    main()
