"""Fixed-width payment files from a list of payees."""

import argparse
import csv
import re
import sys
from datetime import date
from decimal import Decimal


def text(value, width):
    """A text field: upper case, allowed signs only, padded."""
    return re.sub(r"[^A-Z0-9.&/\- ]", " ", value.upper())[:width].ljust(width)


def record(to_sort, to_account, code, from_sort, from_account, pence, name, reference, payee):
    """One record of a hundred columns."""
    amount = f"{pence:011d}"
    return (
        f"{to_sort}{to_account}0{code}{from_sort}{from_account}    {amount}"
        f"{text(name, 18)}{text(reference, 18)}{text(payee, 18)}"
    )


def build(payees, sort, account, name, limit):
    """All records with the contra at the end.

    Raises:
        ValueError: an amount of zero, a missing reference, or a total above the limit.
    """
    lines, total = [], 0
    for payee in payees:
        pence = int(Decimal(payee["amount"]) * 100)
        if pence <= 0 or not payee["reference"].strip():
            raise ValueError(f"{payee['name']}: amount or reference is missing")
        total += pence
        lines.append(
            record(
                payee["sort"],
                payee["account"],
                "99",
                sort,
                account,
                pence,
                name,
                payee["reference"],
                payee["name"],
            )
        )
    if total > limit * 100:
        raise ValueError(f"the total of {total / 100:.2f} is above the limit")
    return [*lines, record(sort, account, "17", sort, account, total, name, "CONTRA", name)]


def main():
    """Write a payment file to standard output."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("payees")
    parser.add_argument("--sort", required=True)
    parser.add_argument("--account", required=True)
    parser.add_argument("--name", required=True)
    parser.add_argument("--date", type=date.fromisoformat, required=True)
    parser.add_argument("--limit", type=int, default=250000)
    asked = parser.parse_args()
    with open(asked.payees, newline="", encoding="utf-8") as file:
        lines = build(list(csv.DictReader(file)), asked.sort, asked.account, asked.name, asked.limit)
    print(f"UHL1 {asked.date:%y%j}".ljust(80))
    print(*lines, sep="\n")
    print(f"{len(lines) - 1} payments", file=sys.stderr)


if __name__ == "__main__":
    main()
