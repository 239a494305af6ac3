"""Titles to URL slugs."""

import re
import unicodedata
from typing import Iterable, List

LETTERS = {
    "de": {"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"},
    "no": {"æ": "ae", "ø": "oe", "å": "aa"},
    "": {"æ": "ae", "ø": "o", "ß": "ss", "ł": "l", "đ": "d", "þ": "th"},
}
LETTERS["da"], LETTERS["sv"] = LETTERS["no"], {"å": "a", "ä": "a", "ö": "o"}
STOP = {
    "the", "a", "an", "of", "and", "in", "on", "der", "die", "das", "ein", "eine", "und",
    "le", "la", "les", "et", "de", "du", "og", "i", "paa", "en",
}  # fmt: skip
LONGEST = 60


def slug(title: str, language: str = "") -> str:
    """The slug of a title; ``untitled`` when no letter is left."""
    letters = {**LETTERS[""], **LETTERS.get(language, {})}
    low = "".join(letters.get(sign, sign) for sign in unicodedata.normalize("NFC", title).lower())
    bare = "".join(sign for sign in unicodedata.normalize("NFD", low) if not unicodedata.combining(sign))
    words = re.findall(r"[a-z0-9]+", bare)
    kept = [word for word in words if word not in STOP] or words
    text = "-".join(kept)
    if len(text) > LONGEST:
        text = text[: LONGEST + 1].rsplit("-", 1)[0]
    return text or "untitled"


def unique(titles: Iterable[str], language: str = "") -> List[str]:
    """Slugs of several titles; repeated ones are numbered from 2."""
    times: dict = {}
    found = []
    for title in titles:
        text = slug(title, language)
        times[text] = times.get(text, 0) + 1
        found.append(text if times[text] == 1 else f"{text}-{times[text]}")
    return found
