"""Brings CSV exports of temperature loggers to one shape."""

import argparse
import csv
import sys
from datetime import datetime
from pathlib import Path

MISSING = {"", "---", "nan", "err"}
DAY_FIRST = ("%d/%m/%Y %H:%M", "%d.%m.%Y %H:%M", "%d-%m-%Y %H:%M")
MONTH_FIRST = ("%m/%d/%Y %H:%M",)
NEUTRAL = ("%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M:%S")


def parse_time(text, formats):
    """The time of a cell, or nothing."""
    for form in formats:
        try:
            return datetime.strptime(text.strip(), form)
        except ValueError:
            continue
    return None


def parse_value(text):
    """The number of a cell, or nothing."""
    try:
        return float(text.strip().replace(",", "."))
    except ValueError:
        return None


def read(path, formats):
    """(time, celsius or None) of every reading of an export.

    Raises:
        ValueError: no time column, or not exactly one that can be the temperature.
    """
    lines = Path(path).read_text(encoding="utf-8-sig").splitlines()
    separator = max(",;\t", key=lambda s: min((line.count(s) for line in lines[1:4]), default=0))
    heading, *rows = list(csv.reader(lines, delimiter=separator))
    columns = range(len(heading))
    times = [c for c in columns if all(parse_time(row[c], formats) for row in rows)]
    warm = [c for c in columns if c not in times and all(_plausible(row[c]) for row in rows)]
    if not times or len(warm) != 1:
        raise ValueError(f"{path}: temperature could be {[heading[c] for c in warm]}")
    fahrenheit = (
        "f" in heading[warm[0]].lower().replace("°", " ").split() or "fahrenheit" in heading[warm[0]].lower()
    )
    for row in rows:
        value = parse_value(row[warm[0]])
        if value is not None and fahrenheit:
            value = round((value - 32) / 1.8, 2)
        yield parse_time(row[times[0]], formats), value


def _plausible(cell):
    value = parse_value(cell)
    return cell.strip().lower() in MISSING or (value is not None and -90 <= value <= 150)


def main():
    """Import the files named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--day-first", action="store_true")
    asked = parser.parse_args()
    formats = NEUTRAL + (DAY_FIRST + MONTH_FIRST if asked.day_first else MONTH_FIRST + DAY_FIRST)
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow(["logger", "time", "celsius"])
    for path in asked.files:
        for time, value in read(path, formats):
            table.writerow([Path(path).stem, time.isoformat(), "" if value is None else value])


if __name__ == "__main__":
    main()
