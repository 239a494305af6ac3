"""Check characters of Northline waybill numbers, both series."""

from __future__ import annotations

import sys
from typing import List, Optional

ALPHABET = "23456789BCDFGHJKLMNPQRSTVWXYZ"
OFFSET = {"E": 4, "Q": 11, "R": 23, "S": 18}
WEIGHTS = (5, 12, 7, 20, 3, 26, 9, 14)
OLD_SERIES = "2345"


def is_sound(number: str) -> bool:
    """Whether a number is well-formed and its check character is right."""
    plain = _plain(number)
    return plain is not None and _check(plain) == plain[-1]


def complete(number: str) -> List[str]:
    """Every sound number, in canonical form and sorted, that fits a number with one ``?``.

    Raises:
        ValueError: not exactly one ``?``.
    """
    if number.count("?") != 1:
        raise ValueError(f"exactly one ? is needed: {number}")
    fits = (number.replace("?", character) for character in sorted(set(ALPHABET) | set(OFFSET)))
    return sorted(canonical(candidate) for candidate in fits if is_sound(candidate))


def canonical(number: str) -> str:
    """The printed form of a well-formed number: ``NL-Q-7KXM-2XRP-H``."""
    plain = _plain(number)
    if plain is None:
        raise ValueError(f"not a waybill number: {number}")
    return f"NL-{plain[0]}-{plain[1:5]}-{plain[5:9]}-{plain[9]}"


def _plain(number: str) -> Optional[str]:
    """Service letter, serial and check character; ``None`` when malformed."""
    text = "".join(number.split()).replace("-", "").upper()
    if not text.startswith("NL") or len(text) != 12 or text[2] not in OFFSET:
        return None
    return text[2:] if all(character in ALPHABET for character in text[3:]) else None


def _check(plain: str) -> str:
    serial = plain[1:9]
    weights = WEIGHTS[::-1] if serial[0] in OLD_SERIES else WEIGHTS
    total = sum(w * ALPHABET.index(character) for w, character in zip(weights, serial))
    return ALPHABET[(OFFSET[plain[0]] + total) % 29]


def main() -> None:
    """Judge the numbers named on the command line."""
    for number in sys.argv[1:]:
        if "?" in number:
            verdict = " ".join(complete(number)) or "unsound"
        else:
            verdict = "sound" if is_sound(number) else "unsound"
        print(f"{number}: {verdict}")


if __name__ == "__main__":
    main()
