"""Records to an aligned Markdown table."""

import argparse
import csv
import json


def is_number(text):
    """Whether a cell is a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def table(rows, columns, decimals=None):
    """The lines of a table."""
    cells = [
        [str(row.get(column, "")).replace("|", "\\|").replace("\n", " ") for column in columns]
        for row in rows
    ]
    right = [bool(cells) and all(is_number(row[n]) for row in cells) for n in range(len(columns))]
    if decimals is not None:
        cells = [[f"{float(c):.{decimals}f}" if r else c for c, r in zip(row, right)] for row in cells]
    widths = [max(3, *(len(row[n]) for row in [columns, *cells])) for n in range(len(columns))]

    def line(row):
        padded = (c.rjust(w) if r else c.ljust(w) for c, w, r in zip(row, widths, right))
        return "| " + " | ".join(padded) + " |"

    rule = "|" + "|".join("-" * (w + 1) + (":" if r else "-") for w, r in zip(widths, right)) + "|"
    return [line(columns), rule, *map(line, cells)]


def main():
    """Print a file as a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--columns")
    parser.add_argument("--decimals", type=int)
    parser.add_argument("--limit", type=int)
    asked = parser.parse_args()
    with open(asked.file, newline="", encoding="utf-8") as file:
        rows = json.load(file) if asked.json else list(csv.DictReader(file))
    columns = asked.columns.split(",") if asked.columns else list(rows[0])
    shown = rows[: asked.limit]
    print(*table(shown, columns, asked.decimals), sep="\n")
    if len(shown) < len(rows):
        print(f"\n{len(rows) - len(shown)} more rows")


if __name__ == "__main__":
    main()
