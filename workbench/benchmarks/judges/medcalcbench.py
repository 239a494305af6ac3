"""MedCalc-Bench: what a medical calculator gives: a number, a whole score, a date, or weeks and days.

Which calculators give what is MedCalc-Bench's own list; https://github.com/ncbi-nlp/MedCalc-Bench.
"""

from __future__ import annotations

import math
import re
from datetime import datetime

from workbench.benchmarks.formulas import number
from workbench.benchmarks.judging import Facts, Judgement
from workbench.benchmarks.reading import (
    bare,
    labelled,
    labelled_as_published,
    last_line,
    phrased_as_published,
    stated,
    without_thinking,
    without_thinking_as_published,
)

_DATES = {13, 68}
_WEEKS = 69
_WHOLE = {4, 15, 16, 17, 18, 20, 21, 25, 27, 28, 29, 32, 33, 36, 43, 45, 48, 51, 69}
_DATE = re.compile(r"(0?[1-9]|1[0-2])/(0?[1-9]|[12]\d|3[01])/(\d{4})")
_AGE = re.compile(r"(\d+)\s*weeks?\W+(?:and\s+)?(\d+)\s*days?|^\W*(\d+)\W+(\d+)\W*$", re.IGNORECASE)
_PUBLISHED_AGE = re.compile(r"\(?[\"']?(\d+)\s*(?:weeks?)?[\"']?,?\s*[\"']?(\d+)\s*(?:days?)?[\"']?\s*\)?")
_SEEN_AGE = re.compile(r"\(?[\"']?(\d+)\s*(?:weeks?)?\s*,?\s*[\"']?(\d+)\s*(?:days?)?[\"']?\s*\)?")
_VALUE = re.compile(
    r"([-+−]?\d[\d,]*(?:\.\d+)?(?:\s*/\s*\d+(?:\.\d+)?)?)(?:\s*[A-Za-zµ%°(][^\d]*(?:\d(?:\.\d+)?\s*m[²2^]*)?\W*)?"
)
_JSON = re.compile(r'[Aa]nswer":\s*(.*?)\}')
_PLACEHOLDERS = {
    "str(short_and_direct_answer_of_the_question)",
    "str(value which is the answer to the question)",
    "X.XX",
}


def judge(reply: str, facts: Facts) -> Judgement:
    """A number may carry its unit; a whole score is a whole number; a date is one date."""
    text = without_thinking(reply)
    answer = labelled(text) or _in_json(text) or stated(text) or last_line(text)
    calculator, gold = facts.get("calculator_id", 0), str(facts["answer"]).strip()
    if calculator in _DATES:
        right = _date(answer) is not None and _date(answer) == _date(gold)
    elif calculator == _WEEKS:
        right = _age(answer) is not None and _age(answer) == _age(gold)
    else:
        right = _within(_value(answer), facts, whole=_is_whole(facts))
    return Judgement(right, answer)


def _is_whole(facts: Facts) -> bool:
    return facts.get("calculator_id", 0) in _WHOLE or facts.get("output_type") == "integer"


def _in_json(text: str) -> str:
    found = [bare(value) for value in _JSON.findall(text)]
    return found[-1] if found and found[-1] not in _PLACEHOLDERS else ""


def _value(text: str) -> float | None:
    core = text.split("=")[-1].strip().rstrip(".")
    value = number(core)
    if value is None and (measured := _VALUE.fullmatch(core)):
        value = number(measured[1])
    return None if value is None else float(value)


def _within(value: float | None, facts: Facts, *, whole: bool) -> bool:
    """Between the limits; a score whose gold is whole must be it, one with halves must be it as well."""
    if value is None or not math.isfinite(value):
        return False
    if whole:
        return math.isclose(value, float(facts["answer"]), abs_tol=1e-6)
    ends = sorted((float(facts["lower_limit"]), float(facts["upper_limit"])))
    return ends[0] <= value <= ends[1]


def _date(text: str) -> datetime | None:
    found = {match.group() for match in _DATE.finditer(text)}
    if len(found) != 1 or re.search(r"\d", _DATE.sub("", text)):
        return None
    try:
        return datetime.strptime(found.pop(), "%m/%d/%Y")
    except ValueError:
        return None


def _age(text: str) -> tuple[int, int] | None:
    found = {(int(a or c), int(b or d)) for a, b, c, d in _AGE.findall(text.replace("'", " "))}
    return found.pop() if len(found) == 1 else None


def judge_as_published(reply: str, facts: Facts) -> Judgement:
    """As SR-Agents judges; see tasks/srabench/JUDGING.md."""
    answer = _published_answer(without_thinking_as_published(reply), facts)
    calculator, gold = facts.get("calculator_id", 0), str(facts["answer"]).strip()
    if calculator in _DATES:
        right = _published_date(answer) is not None and _published_date(answer) == _published_date(gold)
    elif calculator == _WEEKS:
        right = _published_age(answer) is not None and _published_age(answer) == _published_age(gold)
    else:
        right = _published_within(_published_number(answer), facts)
    return Judgement(right, answer)


def _published_answer(text: str, facts: Facts) -> str:
    if (answer := labelled_as_published(text)) is not None:
        return answer
    if found := _JSON.search(text):
        answer = found[1].strip().strip('"').strip("'")
        if answer and answer not in _PLACEHOLDERS:
            return answer
    if (answer := phrased_as_published(text)) is not None:
        return answer
    return _published_sight(text, facts)


def _published_sight(text: str, facts: Facts) -> str:
    """What is taken where nothing marks the answer: the first date or age, the last number or line."""
    calculator = facts.get("calculator_id", 0)
    if (facts.get("output_type") == "date" or calculator in _DATES) and (date := _DATE.search(text)):
        return f"{int(date[1]):02d}/{int(date[2]):02d}/{date[3]}"
    if calculator == _WEEKS and (age := _SEEN_AGE.search(text)):
        return f"({age[1]}, {age[2]})"
    numbers = re.findall(r"-?\d+\.?\d*", text)
    return numbers[-1] if numbers else last_line(text)


def _published_date(text: str) -> datetime | None:
    try:
        return datetime.strptime(text.strip(), "%m/%d/%Y")
    except ValueError:
        return None


def _published_age(text: str) -> tuple[int, int] | None:
    found = _PUBLISHED_AGE.search(text)
    return (int(found[1]), int(found[2])) if found else None


def _published_number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        ratio = re.match(r"^(-?\d+(?:\.\d+)?)\s*/\s*(\d+(?:\.\d+)?)$", text.strip())
        return float(ratio[1]) / float(ratio[2]) if ratio and float(ratio[2]) else None


def _published_within(value: float | None, facts: Facts) -> bool:
    """Python's rounding, half to even; a value that cannot be rounded ends the toolkit, here it is wrong."""
    if value is None:
        return False
    if _is_whole(facts):
        gold = _published_number(str(facts["answer"]))
        return gold is not None and math.isfinite(value) and round(value) == round(gold)
    ends = [_published_number(str(facts.get(name, ""))) for name in ("lower_limit", "upper_limit")]
    return ends[0] is not None and ends[1] is not None and ends[0] <= value <= ends[1]
