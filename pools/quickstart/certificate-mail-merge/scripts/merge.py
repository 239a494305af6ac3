"""Fills a text template once for each row of a CSV file."""

import argparse
import csv
import hashlib
import re
import sys
from pathlib import Path

FIELD = re.compile(r"\{\{(\w+)(?::(\d+))?\}\}")


def code(row):
    """Eight hex digits over the values of a row."""
    text = "\x1f".join(f"{key}={row[key]}" for key in sorted(row))
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:8]


def fill(template, values):
    """The template with its fields filled.

    Raises:
        KeyError: a field without a value.
    """

    def one(found):
        value = values[found.group(1)]
        width = int(found.group(2) or 0)
        return value.ljust(width)[:width] if width else value

    return FIELD.sub(one, template)


def main():
    """Merge, or verify one file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--prefix", default="")
    parser.add_argument("--out", type=Path, default=Path("merged"))
    parser.add_argument("--verify", action="store_true")
    parser.add_argument("text", type=Path)
    parser.add_argument("rows")
    asked = parser.parse_args()
    with open(asked.rows, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    text = asked.text.read_text(encoding="utf-8")
    if asked.verify:
        found = [row for row in rows if code(row) in text]
        sys.exit(0 if found and not print(found[0]) else "no row has the code of this file")
    filled = {}
    for n, row in enumerate(rows, start=1):
        number = f"{asked.prefix}{n:03}"
        filled[number] = fill(text, {**row, "number": number, "code": code(row)})
    asked.out.mkdir(parents=True, exist_ok=True)
    for number, page in filled.items():
        (asked.out / f"{number}.txt").write_text(page, encoding="utf-8")
    unused = set(rows[0]) - {name for name, _ in FIELD.findall(text)} if rows else set()
    print(f"{len(filled)} files" + (f", unused columns: {', '.join(sorted(unused))}" if unused else ""))


if __name__ == "__main__":
    main()
