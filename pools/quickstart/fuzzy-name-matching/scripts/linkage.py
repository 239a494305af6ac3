"""Links names that are spelt differently."""

import re
import unicodedata
from difflib import SequenceMatcher
from typing import Dict, List, NamedTuple, Sequence, Set

SURE, REVIEW = 0.92, 0.75
LETTERS = {"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "ø": "oe", "æ": "ae", "å": "aa"}
DROPPED = {
    "ltd",
    "limited",
    "gmbh",
    "inc",
    "llc",
    "plc",
    "ag",
    "sa",
    "co",
    "company",
    "and",
    "und",
    "u",
    "et",
    "the",
}


class Link(NamedTuple):
    """A pair with its score and what to do about it: ``sure`` or ``review``."""

    left: str
    right: str
    score: float
    verdict: str


def normal(name: str) -> str:
    """The words that matter, sorted."""
    low = "".join(LETTERS.get(sign, sign) for sign in unicodedata.normalize("NFC", name).lower())
    bare = "".join(sign for sign in unicodedata.normalize("NFD", low) if not unicodedata.combining(sign))
    return " ".join(sorted(word for word in re.findall(r"[a-z0-9]+", bare) if word not in DROPPED))


def link(left: Sequence[str], right: Sequence[str]) -> List[Link]:
    """The best partner of each name on the left, where there is one worth a look."""
    blocks: Dict[str, Set[str]] = {}
    for name in right:
        for word in normal(name).split():
            blocks.setdefault(word[:2], set()).add(name)
    found = []
    for name in left:
        rivals = sorted({other for word in normal(name).split() for other in blocks.get(word[:2], ())})
        scored = [(SequenceMatcher(None, normal(name), normal(other)).ratio(), other) for other in rivals]
        if scored and max(scored)[0] >= REVIEW:
            score, other = max(scored)
            found.append(Link(name, other, round(score, 2), "sure" if score >= SURE else "review"))
    return found
