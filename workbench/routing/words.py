"""Text -> words, for lexical methods. One rule for skills and queries.

1. Unicode compatibility form (NFKC), lower case.
2. A word is a run of letters and digits, with the marks that scripts like Devanagari, Thai or
   Arabic put on them; everything else separates, the underscore too, so that ``mesh_analysis`` and
   ``mesh-analysis`` are the same two words.
3. Chinese, Japanese and Korean runs, which have no spaces, become overlapping pairs of characters.
4. Not indexed: single letters and digits, English stop words (the 33 of Lucene), and runs of more
   than 40 characters (hashes, base64).
5. English (Snowball) stems. Words of other scripts come through unchanged.

Rules 4 and 5 are applied once per distinct word, by `Vocabulary`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from functools import cache

MAX_WORD = 40
"""Characters. The limit of tantivy's English analyser."""

REVISION = 2
"""Raise when a change here alters any word."""

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
_LETTER = re.compile(r"[^\W_]")
_VARIANTS = range(0xFE00, 0xFE10)
"""Marks that choose how an emoji is drawn."""
_IS_CJK = re.compile(rf"[{_CJK}]")
_ASCII = bytes(range(128))
_TO_ASCII_WORDS = bytes(
    ord(chr(byte).lower()) if byte < 128 and chr(byte).isalnum() else 32 for byte in range(256)
)


def words(text: str) -> list[str]:
    """The words of a text, in order, by rules 1 to 3.

    Most texts have no letter outside ASCII (at most dashes, arrows, emoji). Those are split by a
    byte table, three times faster than by the regular expression and with the same result.
    """
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text).lower()
    data = text.encode("utf-8", "surrogatepass")
    if text.isascii() or not _has_letters(data.translate(None, _ASCII).decode("utf-8", "surrogatepass")):
        return data.translate(_TO_ASCII_WORDS).decode("ascii").split()
    found: list[str] = []
    for run in _word().findall(text):
        if run[0] >= "\u3040" and len(run) > 1 and _IS_CJK.match(run):
            found.extend(run[at : at + 2] for at in range(len(run) - 1))
        else:
            found.append(run)
    return found


def _has_letters(text: str) -> bool:
    """Whether any character of a text can be part of a word."""
    return bool(_LETTER.search(text) or _mark().search(text))


@cache
def _mark() -> re.Pattern[str]:
    marks = [at for at in range(0x300, 0x10000) if unicodedata.category(chr(at))[0] == "M"]
    return re.compile("[" + "".join(chr(at) for at in marks if at not in _VARIANTS) + "]")


@cache
def _word() -> re.Pattern[str]:
    """A run of Chinese, Japanese or Korean, or a word of any other script."""
    letter = rf"[^\W_{_CJK}]"
    return re.compile(rf"[{_CJK}]+|{letter}+(?:{_mark().pattern}+{letter}*)*")


class Vocabulary(dict[str, int]):
    """Word -> number of its term, or -1 for a word that is not indexed (rules 4 and 5).

    Looking up a new word learns it, unless the vocabulary is closed: then what is new is -1.

    Args:
        terms: the terms known so far; a term's number is its place.
        stop_words: words that are not indexed.
        stem: word -> term.
        closed: learn nothing.
    """

    def __init__(
        self,
        terms: Iterable[str] = (),
        *,
        stop_words: Iterable[str] = (),
        stem: Callable[[str], str] = str,
        closed: bool = False,
    ) -> None:
        super().__init__()
        self.terms = {term: number for number, term in enumerate(terms)}
        self._stem = stem
        self._closed = closed
        self.update(dict.fromkeys(stop_words, -1))

    def __missing__(self, word: str) -> int:
        number = -1
        if len(word) <= MAX_WORD and (len(word) > 1 or _IS_CJK.match(word)):
            term = self._stem(word)
            number = (
                self.terms.get(term, -1) if self._closed else self.terms.setdefault(term, len(self.terms))
            )
        if not self._closed:
            self[word] = number
        return number

    def numbers(self, text: str) -> list[int]:
        """The term numbers of a text, in order, with repetitions; what is not indexed is left out."""
        return [number for word in words(text) if (number := self[word]) >= 0]
