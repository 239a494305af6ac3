"""Shelfmarks of the polar library."""

import argparse
import csv
import unicodedata
from pathlib import Path

ARTICLES = {"the", "a", "an", "der", "die", "das", "le", "la", "les", "en", "et", "den", "det"}
BASIC = {"ø": "o", "æ": "a", "ð": "d", "þ": "t", "ł": "l", "ß": "s"}


def plain(text):
    """Lower case without accents."""
    low = "".join(BASIC.get(sign, sign) for sign in text.lower())
    return "".join(sign for sign in unicodedata.normalize("NFD", low) if not unicodedata.combining(sign))


def author_number(surname):
    """Initial and Cutter number of a surname."""
    name = "".join(sign for sign in plain(surname) if sign.isalpha())
    path = Path(__file__).resolve().parent.parent / "references" / "table.csv"
    with path.open(newline="") as file:
        steps = [(row["from"], row["number"]) for row in csv.DictReader(file)]
    fits = [number for start, number in steps if start <= name[1:3]]
    return name[0].upper() + (fits[-1] if fits else "1")


def shelfmark(region, form, surname, title, taken=()):
    """A shelfmark that is not taken.

    Raises:
        ValueError: every letter of the title is taken.
    """
    words = [word for word in plain(title).split() if word not in ARTICLES]
    for letter in filter(str.isalpha, "".join(words)):
        mark = f"{region}.{form} {author_number(surname)}{letter}"
        if mark not in taken:
            return mark
    raise ValueError("every letter of the title is taken")


def main():
    """Print one shelfmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("region")
    parser.add_argument("form")
    parser.add_argument("surname")
    parser.add_argument("title")
    parser.add_argument("--taken", type=Path)
    asked = parser.parse_args()
    taken = set(asked.taken.read_text(encoding="utf-8").splitlines()) if asked.taken else set()
    print(shelfmark(asked.region, asked.form, asked.surname, asked.title, taken))


if __name__ == "__main__":
    main()
