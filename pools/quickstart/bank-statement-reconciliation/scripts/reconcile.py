"""Matches bank lines and ledger items."""

import csv
import sys
from datetime import date
from decimal import Decimal
from itertools import combinations

NEAR_DAYS, GROUP_DAYS, GROUP_SIZES = 5, 30, (2, 3)


def read(path):
    """Rows with dates and amounts converted."""
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        row["date"], row["amount"] = date.fromisoformat(row["date"]), Decimal(row["amount"])
    return rows


def reconcile(bank, ledger):
    """(bank id, ledger ids, how) of everything, open lines at the end."""
    open_bank, open_ledger, matched = list(bank), list(ledger), []

    def settle(line, items, how):
        matched.append((line["id"], "+".join(item["id"] for item in items), how))
        open_bank.remove(line)
        for item in items:
            open_ledger.remove(item)

    for line in list(open_bank):
        fits = [
            i
            for i in open_ledger
            if i["amount"] == line["amount"] and i["reference"] == line["reference"] != ""
        ]
        if fits:
            settle(line, fits[:1], "reference")
    for line in list(open_bank):
        fits = [i for i in open_ledger if i["amount"] == line["amount"] and _apart(line, i) <= NEAR_DAYS]
        rivals = [b for b in open_bank if b["amount"] == line["amount"]]
        if len(fits) == len(rivals) == 1:
            settle(line, fits, "amount")
    for line in list(open_bank):
        group = _group(line, open_ledger)
        if group:
            settle(line, group, "group")
    left = [(line["id"], "", "open") for line in open_bank]
    return matched + left + [("", item["id"], "open") for item in open_ledger]


def _group(line, items):
    near = [i for i in items if 0 <= (line["date"] - i["date"]).days <= GROUP_DAYS]
    groups = (group for size in GROUP_SIZES for group in combinations(near, size))
    return next((list(g) for g in groups if sum(i["amount"] for i in g) == line["amount"]), None)


def _apart(line, item):
    return abs((line["date"] - item["date"]).days)


def main():
    """Reconcile two CSV files."""
    if len(sys.argv) != 3:
        sys.exit("usage: reconcile.py BANK.csv LEDGER.csv")
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow(["bank", "ledger", "how"])
    table.writerows(reconcile(read(sys.argv[1]), read(sys.argv[2])))


if __name__ == "__main__":
    main()
