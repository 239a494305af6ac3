"""Monthly pay under yearly rises linked to an index."""

import csv
import sys
from datetime import date


def months(annual, start, year, index, floor=1.0, cap=4.0, effective_month=4):
    """(month, pay) for the months of a year in which somebody is employed.

    Raises:
        KeyError: the index lacks a December that a rise needs.
    """
    begun = date.fromisoformat(start)
    salary = float(annual)
    pay = []
    for at in range(begun.year, year + 1):
        for month in range(1, 13):
            served = (at - begun.year) * 12 + month - begun.month
            if served < 0:
                continue
            if month == effective_month and served >= 6:
                change = (index[f"{at - 1}-12"] / index[f"{at - 2}-12"] - 1) * 100
                salary = round(salary * (1 + min(cap, max(floor, change)) / 100), 2)
            if at == year:
                pay.append((f"{at}-{month:02}", round(salary / 12, 2)))
    return pay


def main():
    """Print the pay of a team as CSV."""
    if len(sys.argv) != 4:
        sys.exit("usage: uplift.py TEAM.csv INDEX.csv YEAR")
    with open(sys.argv[2], newline="") as file:
        index = {row["month"]: float(row["index"]) for row in csv.DictReader(file)}
    print("name,month,pay")
    with open(sys.argv[1], newline="") as file:
        for row in csv.DictReader(file):
            for month, pay in months(float(row["annual"]), row["start"], int(sys.argv[3]), index):
                print(f"{row['name']},{month},{pay:.2f}")


if __name__ == "__main__":
    main()
