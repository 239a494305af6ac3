"""Mends the text of RefCard drawers."""

import argparse
import re
import sys
from collections import Counter

HEAD = re.compile(r"@@\s*(\d{4})/(\d{1,4})\s*([MA])\s*$")


def mend(text):
    """(year, number, card) of each card, text mended, in the order of the file."""
    text = re.sub(r"\r\n?|\x1e", "\n", text).replace("\x1a", "")
    cards = []
    for line in text.split("\n"):
        head = HEAD.match(line)
        if head:
            year, number, kind = head.groups()
            cards.append((year, number.zfill(4), [f"@@ {year}/{number.zfill(4)} {kind}"]))
        elif line.strip() and cards:
            cards[-1][2].append(re.sub(r"^[ \t]*\t[ \t]*", "   ", line.rstrip()))
    return cards


def report(cards):
    """Lines about doubled numbers, gaps and open braces."""
    times = Counter((year, number) for year, number, _ in cards)
    yield from (f"{year}/{number} occurs {n} times" for (year, number), n in sorted(times.items()) if n > 1)
    order = sorted(times)
    for (year, number), (next_year, next_number) in zip(order, order[1:]):
        if year == next_year and int(next_number) - int(number) > 50:
            yield f"nothing between {year}/{number} and {next_year}/{next_number}"
    for year, number, lines in cards:
        text = "".join(lines)
        if text.count("{") != text.count("}"):
            yield f"{year}/{number} has an open brace"


def main():
    """Mend, merge or report on drawers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("drawers", nargs="+")
    parser.add_argument("--merge", action="store_true", help="several drawers into one")
    parser.add_argument("--report", action="store_true")
    asked = parser.parse_args()
    if len(asked.drawers) > 1 and not asked.merge:
        parser.error("several drawers need --merge")
    cards = []
    for path in asked.drawers:
        with open(path, encoding="latin-1", newline="") as file:
            cards += mend(file.read())
    if asked.report:
        print(*report(cards), sep="\n")
        return
    sys.stdout.write(
        "\n\n".join("\n".join(lines) for _, _, lines in sorted(cards, key=lambda c: c[:2])) + "\n"
    )


if __name__ == "__main__":
    main()
