"""Shares the yearly service charge out among units."""

import argparse
import csv
import json
from decimal import ROUND_HALF_UP, Decimal

CENT, MOST_RISE = Decimal("0.01"), Decimal("1.06")


def weight(unit, lift):
    """Weighted area times months of occupation."""
    if lift and unit["floor"] <= 0:
        return Decimal(0)
    share = Decimal("0.85") if unit["floor"] > 0 else Decimal(1) if unit["floor"] == 0 else Decimal("0.5")
    first, last = ([int(part) for part in unit[key].split("-")] for key in ("from", "to"))
    months = (last[0] - first[0]) * 12 + last[1] - first[1] + 1
    return Decimal(str(unit["area_m2"])) * share * months


def apportion(costs, units, last_year):
    """Amount of each unit, and what is left to the landlord."""
    amounts = {unit["unit"]: Decimal(0) for unit in units}
    for head, cost in costs:
        weights = [(unit["unit"], weight(unit, head.startswith("Lift"))) for unit in units]
        total = sum(w for _, w in weights)
        for name, w in weights:
            amounts[name] += cost * w / total
    landlord = Decimal(0)
    for unit in units:
        name = unit["unit"]
        due = amounts[name].quantize(CENT, ROUND_HALF_UP)
        most = last_year[name] * MOST_RISE if name in last_year else due
        paid = min(due, most.quantize(CENT, ROUND_HALF_UP)) if unit["tenant"] else Decimal(0)
        landlord += due - paid
        amounts[name] = paid
    return amounts, landlord


def main():
    """Print the shares as CSV."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("costs")
    parser.add_argument("units")
    parser.add_argument("--last", help="CSV with unit,amount of last year")
    asked = parser.parse_args()
    with open(asked.costs, newline="") as file:
        costs = [(row["head"], Decimal(row["amount"])) for row in csv.DictReader(file)]
    with open(asked.units) as file:
        units = json.load(file)
    last = {}
    if asked.last:
        with open(asked.last, newline="") as file:
            last = {row["unit"]: Decimal(row["amount"]) for row in csv.DictReader(file)}
    amounts, landlord = apportion(costs, units, last)
    print("unit,tenant,amount")
    for unit in units:
        print(f"{unit['unit']},{unit['tenant'] or 'empty'},{amounts[unit['unit']]}")
    print(f"landlord,,{landlord}")


if __name__ == "__main__":
    main()
