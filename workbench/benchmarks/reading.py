"""Finding the answer in a model's reply: labelled lines, closing phrases, boxes, last lines."""

from __future__ import annotations

import re

_THINKING = re.compile(r"<think>.*?</think>\s*", re.DOTALL)
_UNENDED = re.compile(r"<think>.*", re.DOTALL)
_LABEL = re.compile(r"^[\s>*_#`-]*(?:final\s+)?answer[\s*_`]*:[ \t]*(.*)$", re.IGNORECASE | re.MULTILINE)
_PHRASE = re.compile(r"^.*\banswer\s+is\b[\s:*_]*(.*)", re.IGNORECASE | re.MULTILINE)
_BOX = re.compile(r"\\boxed\s*\{((?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*)\}")
_WRAPPING = "*_`\"' \t"

PUBLISHED_PHRASES = (
    "The answer is:",
    "the answer is:",
    "Therefore, the answer is",
    "therefore, the answer is",
)
"""What SR-Agents looks for, as its prompts ask for it."""


def without_thinking(text: str) -> str:
    """The reply without ``<think>`` parts, closed or cut short; also where only the end tag was sent."""
    text = _UNENDED.sub("", _THINKING.sub("", text))
    return text.rpartition("</think>")[2].lstrip()


def without_thinking_as_published(text: str) -> str:
    """As SR-Agents does: a lone end tag is left as it is."""
    if "<think>" not in text:
        return text
    return _UNENDED.sub("", _THINKING.sub("", text)).lstrip()


def labelled(text: str) -> str | None:
    """What stands on the last line that is labelled ``ANSWER:``, bare; ``None`` without one."""
    found = _LABEL.findall(text)
    return _unboxed(found[-1]) if found else None


def stated(text: str) -> str | None:
    """What follows the last "answer is" on its line, or stands in the last ``\\boxed{}`` if that is later."""
    phrases, boxes = list(_PHRASE.finditer(text)), list(_BOX.finditer(text))
    last = max((*phrases, *boxes), key=lambda match: match.end(), default=None)
    if last is None:
        return None
    return _unboxed(last[1])


def _unboxed(text: str) -> str:
    inner = _BOX.search(text)
    return bare(inner[1] if inner else text)


def last_line(text: str) -> str:
    """The last line with anything on it, stripped; empty without one."""
    return next((line.strip() for line in reversed(text.split("\n")) if line.strip()), "")


def bare(text: str) -> str:
    """A text without markup, quotes and a full stop around it."""
    return text.strip(_WRAPPING).rstrip(".").strip(_WRAPPING)


def labelled_as_published(text: str) -> str | None:
    """As SR-Agents reads ``ANSWER:`` lines: nothing may stand before the label."""
    for line in reversed(text.strip().split("\n")):
        if line.strip().upper().startswith("ANSWER:"):
            return line.strip()[7:].strip().strip("*").strip()
    return None


def phrased_as_published(text: str) -> str | None:
    """As SR-Agents reads closing phrases: the rest of the line behind the last of four."""
    start, phrase = max((text.rfind(phrase), phrase) for phrase in PUBLISHED_PHRASES)
    if start < 0:
        return None
    return text[start + len(phrase) :].split("\n")[0].strip().rstrip(".").rstrip("/").strip()
