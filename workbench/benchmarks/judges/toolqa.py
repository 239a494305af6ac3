"""ToolQA: a value looked up or calculated with tools, given as ``Finish[<answer>]``."""

from __future__ import annotations

import re
import string

from workbench.benchmarks.judging import Facts, Judgement
from workbench.benchmarks.reading import (
    bare,
    labelled,
    last_line,
    phrased_as_published,
    stated,
    without_thinking,
    without_thinking_as_published,
)

_FINISH = re.compile(r"Finish\[([^\]]*)\]")
_NUMBER = re.compile(r"[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|[-+]?\.\d+")
_UNITS = re.compile(r"^\s*\$\s*|\s*(?:usd|dollars|minutes|min|miles|%)\s*$", re.IGNORECASE)
_TRUTH = {"true": "yes", "false": "no"}
_CLOSE = 1e-6


def judge(reply: str, facts: Facts) -> Judgement:
    """Numbers are compared as numbers, with the same unit or none; anything else as normalised text."""
    text = without_thinking(reply)
    answer = _answer(text)
    return Judgement(answer is not None and _equal(answer, str(facts["answer"]).strip()), answer or "")


def _answer(text: str) -> str | None:
    """What is marked as the answer, which may be nothing; else the last line, if there is one."""
    finished = _FINISH.findall(text)
    marked = (finished[-1] if finished else None, labelled(text), stated(text), last_line(text) or None)
    found = next((answer for answer in marked if answer is not None), None)
    return None if found is None else bare(found).strip("[]")


def _equal(answer: str, gold: str) -> bool:
    one, other = _quantity(answer), _quantity(gold)
    if one is not None or other is not None:
        return one is not None and other is not None and abs(one - other) < _CLOSE * max(1.0, abs(other))
    if not gold:
        return not answer
    said = _TRUTH.get(answer.lower(), answer)
    return bool(_plain(said)) and _plain(said) == _plain(gold)


def _quantity(text: str) -> float | None:
    """The number of a text that is a number with at most a unit; a leading zero makes it a code."""
    core = re.sub(r"^(?:a|an|the)\s", "", text.strip().lower())
    core = _UNITS.sub("", _UNITS.sub("", core)).strip()
    if _NUMBER.fullmatch(core) is None or re.match(r"0\d", core):
        return None
    return float(core.replace(",", ""))


def _plain(text: str) -> str:
    """Lower case, without punctuation, articles and the word usd."""
    kept = "".join(char for char in text.lower() if char not in string.punctuation)
    return " ".join(re.sub(r"\b(?:a|an|the|usd)\b", " ", kept).split())


def judge_as_published(reply: str, facts: Facts) -> Judgement:
    """As SR-Agents judges; see tasks/srabench/JUDGING.md."""
    text = without_thinking_as_published(reply)
    finished = _FINISH.findall(text)
    answer = finished[-1].strip() if finished else phrased_as_published(text)
    answer = last_line(text) if answer is None else answer
    gold = str(facts["answer"]).strip()
    return Judgement(_equal_as_published(answer, gold), answer)


def _equal_as_published(answer: str, gold: str) -> bool:
    if _plain(answer) == _plain(gold) or _TRUTH.get(answer.lower()) == gold.lower():
        return True
    try:
        return abs(float(answer) - float(gold)) < _CLOSE
    except ValueError:
        return False
