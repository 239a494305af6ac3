"""Citation keys of the form authorYEARword."""

import re
import unicodedata
from typing import Any, Dict, Iterable, Sequence, Tuple


def base_key(authors: Sequence[Tuple[str, str]], year: int, title: str, language: str = "en") -> str:
    """First surname, year, and the first title word of more than three letters."""
    words = [word for word in re.findall(r"[a-z]+", _plain(title)) if len(word) > 3]
    surname = re.sub(r"[^a-z]", "", _plain(authors[0][0]))
    return f"{surname}{year}{words[0] if words else ''}"


def assign(records: Iterable[Any]) -> Dict[str, str]:
    """A key for each record by accession; clashes get a letter."""
    keys: Dict[str, str] = {}
    for record in records:
        plain = record if isinstance(record, dict) else vars(record)
        key = base_key(plain["authors"], plain["year"], plain["title"])
        times = sum(taken.startswith(key) for taken in keys.values())
        keys[plain["accession"]] = key + ("" if not times else chr(96 + times))
    return keys


def _plain(text: str) -> str:
    apart = unicodedata.normalize("NFKD", text.lower())
    return "".join(sign for sign in apart if not unicodedata.combining(sign))
