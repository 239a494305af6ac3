"""Citation keys in the library's scheme (see SKILL.md)."""

from __future__ import annotations

import json
import re
import unicodedata
from pathlib import Path
from typing import Any, Dict, Iterable, List, Sequence, Tuple

STOP_WORDS: Dict[str, List[str]] = json.loads(
    Path(__file__)
    .resolve()
    .parent.parent.joinpath("references", "stopwords.json")
    .read_text(encoding="utf-8")
)
FOLDED = {
    "æ": "ae", "ä": "ae", "ø": "oe", "ö": "oe", "œ": "oe", "å": "aa", "ü": "ue",
    "ß": "ss", "þ": "th", "ð": "d", "ł": "l",
}  # fmt: skip
PARTICLES = frozenset({"von", "van", "der", "den", "de", "la", "du", "af"})
CENTURY = {18: "h", 19: "j", 20: "k"}
WORD_LENGTH = 6


def assign(records: Iterable[Any]) -> Dict[str, str]:
    """The key of each record by accession; clashes are resolved in order of accession."""
    plain = [record if isinstance(record, dict) else vars(record) for record in records]
    keys: Dict[str, str] = {}
    times: Dict[str, int] = {}
    for record in sorted(plain, key=lambda r: str(r["accession"])):
        key = base_key(record["authors"], record["year"], record["title"], record["language"])
        times[key] = times.get(key, 0) + 1
        keys[record["accession"]] = key if times[key] == 1 else f"{key}-{chr(96 + times[key])}"
    return keys


def base_key(authors: Sequence[Tuple[str, str]], year: int, title: str, language: str) -> str:
    """The key of one work before clashes are looked at.

    Raises:
        KeyError: a language without a stop list, or a century without a letter.
    """
    surnames = [_surname(surname) for surname, _ in authors]
    if len(surnames) == 1:
        people = surnames[0][:6]
    elif len(surnames) == 2:
        people = surnames[0][:3] + surnames[1][:3]
    else:
        people = surnames[0][:2] + surnames[1][:2] + "x"
    return f"{people}-{CENTURY[year // 100]}{year % 100:02}-{_word(title, language)}"


def fold(text: str) -> str:
    """Lower case with the scheme's letters for accented ones; blanks and hyphens are kept."""
    lower = "".join(FOLDED.get(sign, sign) for sign in unicodedata.normalize("NFC", text).lower())
    bare = unicodedata.normalize("NFD", lower)
    return re.sub(r"[^a-z0-9 -]", "", bare)


def _surname(surname: str) -> str:
    words = fold(surname).split()
    while len(words) > 1 and words[0] in PARTICLES:
        words.pop(0)
    return "".join(words).replace("-", "")


def _word(title: str, language: str) -> str:
    apart = re.sub(r"['’]", " ", title)
    words = [word for word in re.split(r"[ -]+", fold(apart)) if word]
    good = [word for word in words if word not in STOP_WORDS[language]]
    return (good or words[-1:])[0][:WORD_LENGTH]
