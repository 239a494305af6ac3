"""Profiles a CSV file."""

import csv
import sys
from datetime import date


def kind(cells):
    """(type, converted values, offenders) of a column's cells that are not empty."""
    for name, convert in (("integer", int), ("number", float), ("date", date.fromisoformat)):
        good, bad = [], []
        for cell in cells:
            try:
                good.append(convert(cell))
            except ValueError:
                bad.append(cell)
        if not bad or (len(bad) <= 3 and len(good) > 10 * len(bad)):
            return name, good, bad
    return "text", cells, []


def main():
    """Profile the file named on the command line."""
    if len(sys.argv) != 2:
        sys.exit("usage: profile.py FILE.csv")
    with open(sys.argv[1], newline="", encoding="utf-8-sig", errors="replace") as file:
        delimiter = max(",;\t|", key=file.readline().count)
        file.seek(0)
        heading, *rows = list(csv.reader(file, delimiter=delimiter))
    names = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
    print(f"{len(rows)} rows, {len(heading)} columns, {names[delimiter]}")
    for n, title in enumerate(heading):
        cells = [row[n].strip() if n < len(row) else "" for row in rows]
        filled = [cell for cell in cells if cell]
        name, values, bad = kind(filled)
        span = f"longest {max(map(len, filled), default=0)}" if name == "text" else ""
        if name != "text" and values:
            span = f"{min(values)} .. {max(values)}"
        print(
            f"{title:12} {name:8} {len(cells) - len(filled):5} empty {len(set(filled)):6} distinct   {span}"
        )
        if bad:
            print(f"{'':12} not a {name}: {', '.join(bad)}")


if __name__ == "__main__":
    main()
