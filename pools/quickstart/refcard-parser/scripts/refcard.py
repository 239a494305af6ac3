"""Parser for RefCard drawers (see SKILL.md)."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Dict, List, Tuple

DIGRAPHS: Dict[str, str] = json.loads(
    Path(__file__).resolve().parent.parent.joinpath("references", "digraphs.json").read_text(encoding="utf-8")
)
KINDS = {"M": "book", "A": "article"}
_HEAD = re.compile(r"@@\s+(\d{4}/\d{4})\s+([MA])$")
_TRUE_YEAR = re.compile(r"\[=(\d{4})\]")


@dataclass(frozen=True)
class Record:
    """One valid card. `authors` are (surname, given) in the order of the card."""

    accession: str
    kind: str
    authors: List[Tuple[str, str]]
    title: str
    year: int
    language: str
    source: str


def read_drawer(path: str) -> List[Record]:
    """The valid cards of a drawer, in order of accession.

    Raises:
        ValueError: an unknown digraph or a line that belongs to no card.
    """
    with open(path, encoding="ascii") as file:
        cards = _cards(file.read().splitlines())
    gone = {tags["r"] for tags in cards.values() if "r" in tags}
    kept = {number: tags for number, tags in cards.items() if number not in gone and "x" not in tags}
    return [_record(number, kept[number]) for number in sorted(kept)]


def expand(text: str) -> str:
    """A text with its brace digraphs as letters."""

    def letter(found: "re.Match[str]") -> str:
        if found.group(1) not in DIGRAPHS:
            raise ValueError(f"unknown digraph {found.group(0)} in: {text}")
        return DIGRAPHS[found.group(1)]

    return re.sub(r"\{(..)\}", letter, text)


def _cards(lines: List[str]) -> Dict[str, Dict[str, str]]:
    """Tags by accession number, lines unfolded."""
    cards: Dict[str, Dict[str, str]] = {}
    tags: Dict[str, str] = {}
    tag = ""
    for line in lines:
        head = _HEAD.match(line)
        if head:
            tags = cards[head.group(1)] = {"kind": KINDS[head.group(2)]}
        elif line.startswith(" ") and tag in tags:
            tags[tag] = _joined(tags[tag], line.strip())
        elif line.strip():
            tag, _, value = line.partition(" ")
            if not cards or len(tag) != 1:
                raise ValueError(f"line belongs to no card: {line}")
            tags[tag] = value.strip()
    return cards


def _joined(above: str, more: str) -> str:
    if not above.endswith("-"):
        return f"{above} {more}"
    return above + more if more[:1].isupper() else above[:-1] + more


def _record(number: str, tags: Dict[str, str]) -> Record:
    true_year = _TRUE_YEAR.search(tags["y"])
    return Record(
        accession=number,
        kind=tags["kind"],
        authors=[_author(name) for name in tags["a"].split(";")],
        title=expand(tags["t"]),
        year=int(true_year.group(1) if true_year else tags["y"][:4]),
        language=tags["l"],
        source=expand(tags["s"]),
    )


def _author(name: str) -> Tuple[str, str]:
    surname, _, given = expand(name).partition(",")
    return re.sub(r"\b(Ma?c) (?=[A-Z])", r"\1", surname.strip()), given.strip()


def main() -> None:
    """Print the records of a drawer, one JSON object per line."""
    if len(sys.argv) != 2:
        sys.exit("usage: refcard.py DRAWER.crd")
    for record in read_drawer(sys.argv[1]):
        print(json.dumps(asdict(record), ensure_ascii=False))


if __name__ == "__main__":
    main()
