"""TheoremQA: a number, a list of numbers, true or false, or an option like ``(a)``.

Rules and tolerance (4 % for ``float``) are TheoremQA's; https://github.com/TIGER-AI-Lab/TheoremQA.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from workbench.benchmarks.formulas import Number, number
from workbench.benchmarks.judges._published import UnreadableError, floated, latex_value, python_value
from workbench.benchmarks.judging import Facts, Judgement
from workbench.benchmarks.reading import (
    PUBLISHED_PHRASES,
    labelled,
    last_line,
    stated,
    without_thinking,
    without_thinking_as_published,
)

TOLERANCE = 0.04
_FLOOR = 1e-9
_TRUTH = {"yes": True, "true": True, "no": False, "false": False}
_TRUTH_WORD = re.compile(r"\b(yes|no|true|false)\b", re.IGNORECASE)
_OPTION = re.compile(r"\(([a-f])\)", re.IGNORECASE)
_ABOUT = re.compile(
    r"^\W*(?:approximately|approx\.?|about|roughly|around|nearly|≈|~|\\approx)\s*", re.IGNORECASE
)
_EQUALS = re.compile(r"=|≈|\\approx")
_DRESS = re.compile(r"\\(?:text|mathrm|mathbf|mbox)\s*\{[^{}]*\}|\\[()\[\]]|[$¥€£`]|°\s*C?\b")
_POWER_OF_TEN = re.compile(r"(?<=\d)\s*[xX]\s*(?=10\s*\^)")
_MEASURED = re.compile(
    r"([-+]?[\d.,]*\d(?:[eE][-+]?\d+)?)\s*(?:(?!(?:or|and|to)\b)[A-Za-zµΩ°²³]+(?:\^?-?\d)?[\s/*·.]*)+"
)


def judge(reply: str, facts: Facts) -> Judgement:
    """By the type of the gold answer; a reply that names two answers is none."""
    text = without_thinking(reply)
    answer = stated(text) or labelled(text) or last_line(text)
    gold, kind = str(facts["answer"]).strip(), str(facts.get("answer_type", "float"))
    if kind == "bool":
        said = _TRUTH_WORD.findall(re.sub(r"\([^()]*\)", "", answer))
        right = {_TRUTH[word.lower()] for word in said} == {gold.lower() == "true"}
    elif kind == "option":
        right = _options(answer) == _options(gold)
    elif kind.startswith("list"):
        right = _same_list(_values(answer), _values(gold) or [], kind)
    else:
        right = _same(_value(answer), gold, kind)
    return Judgement(right, answer)


def _options(text: str) -> set[str]:
    if alone := re.fullmatch(r"\W*([a-f])\W*", text, re.IGNORECASE):
        return {alone[1].lower()}
    return {letter.lower() for letter in _OPTION.findall(text)}


def _value(text: str) -> Number | None:
    """The number that a text is, behind ``x =`` or "about", with or without a unit; % is a hundredth."""
    core = _DRESS.sub("", _ABOUT.sub("", _EQUALS.split(text)[-1].strip())).strip().rstrip(".")
    core = _POWER_OF_TEN.sub("*", core)
    if core.endswith(("%", "\\%")):
        part = number(core.rstrip("%\\ "))
        return None if part is None else float(part) / 100
    if (value := number(core)) is not None:
        return value
    measured = _MEASURED.fullmatch(core)
    return number(measured[1]) if measured else None


def _values(text: str) -> list[Number] | None:
    core = _ABOUT.sub("", _EQUALS.split(text)[-1].replace("\\{", "[").replace("\\}", "]").strip())
    core = re.sub(r"(?<=[\])}])\s+[A-Za-z][A-Za-z\s]*$", "", _DRESS.sub("", core).strip())
    inner = core[1:-1] if core[:1] in "[({" and core[-1:] in "])}" else core
    if not core or not inner.strip():
        return None
    values = [number(part) for part in _parts(inner)]
    return None if any(value is None for value in values) else [v for v in values if v is not None]


def _parts(text: str) -> list[str]:
    """Split at commas and semicolons outside brackets."""
    parts, depth = [""], 0
    for char in text:
        depth += (char in "([{") - (char in ")]}")
        if char in ",;" and depth == 0:
            parts.append("")
        else:
            parts[-1] += char
    return parts


def _same(value: Number | None, gold: str, kind: str) -> bool:
    wanted = number(gold)
    if value is None or wanted is None:
        return False
    return _near(value, wanted) if kind.endswith("float") else value == wanted


def _near(value: Number, wanted: Number) -> bool:
    try:
        return abs(float(value) - float(wanted)) <= max(abs(float(wanted)) * TOLERANCE, _FLOOR)
    except OverflowError:
        return False


def _same_list(values: list[Number] | None, wanted: list[Number], kind: str) -> bool:
    """Equal without regard to order, as TheoremQA's own rules have it."""
    if values is None or len(values) != len(wanted):
        return False
    pairs = zip(sorted(values), sorted(wanted), strict=True)
    return all(_near(v, w) if kind.endswith("float") else v == w for v, w in pairs)


def judge_as_published(reply: str, facts: Facts) -> Judgement:
    """As SR-Agents judges; see tasks/srabench/JUDGING.md."""
    answer = _published_answer(without_thinking_as_published(reply))
    gold = str(facts["answer"]).strip()
    return Judgement(_published_match(answer, gold, str(facts.get("answer_type", "float"))), answer)


def _published_answer(text: str) -> str:
    text = text.strip("\n")
    if any(text.count(phrase) > 1 for phrase in PUBLISHED_PHRASES):
        text = text.split("\n\n")[0]
    parts = re.split("|".join(map(re.escape, PUBLISHED_PHRASES)), text)
    core = parts[-1].strip("\n").rstrip(".").rstrip("/").strip()
    return _published_core(core, len(parts) > 1).rstrip(".").rstrip("/")


def _published_core(text: str, phrased: bool) -> str:
    lower = text.lower()
    if "yes" in lower or "true" in lower:
        return "True"
    if "no" in lower or "false" in lower:
        return "False"
    if _OPTION.search(text):
        return text
    if not phrased:
        numbers = re.findall(r"-?\d*\.?\d+", text)
        return numbers[-1] if numbers else ""
    text = _published_units(text.split("=")[-1].strip())
    try:
        return str(latex_value(text))
    except UnreadableError:
        return text.split(" ")[0] if re.match(r"-?[\d.]+\s(?:\D+|\S+)$", text) else text


def _published_units(text: str) -> str:
    text = text.replace("\\pi", "π")
    text = re.sub(r"(?<![\d}])\\?π", "3.14", text)
    text = re.sub(r"(\d)\\?π", r"\1*3.14", text).replace("%", "/100")
    for sign in ("$", "¥", "°C", " C", "°"):
        text = text.replace(sign, "")
    return text


def _published_match(answer: str, gold: str, kind: str) -> bool:
    if re.fullmatch(r"\([a-f]\)", gold.lower()):
        return gold.lower() in answer.lower()
    if answer.lower() == gold.lower():
        return True
    if "list" in kind:
        if not (answer.startswith("(") and answer.endswith(")")):
            return False
        try:
            values = python_value(answer)
        except UnreadableError:
            return False
        if not isinstance(values, list):
            return False
        return _published_list([_published_number(str(v)) for v in values], list(ast.literal_eval(gold)))
    wanted = floated(gold) if kind in ("integer", "float") else None
    return wanted is not None and _published_near(_published_number(answer), wanted)


def _published_number(text: str) -> int | float | None:
    text = _published_units(text)
    try:
        value = latex_value(text)
    except UnreadableError as fault:
        if fault.symbols:
            return None
        if (plain := floated(text)) is not None:
            return plain
        try:
            value = python_value(text)
        except UnreadableError:
            return None
    first = value[0] if isinstance(value, list) and value else value
    return first if isinstance(first, int | float) else None


def _published_list(values: Sequence[int | float | None], wanted: Sequence[int | float]) -> bool:
    numbers = [value for value in values if value is not None]
    if len(numbers) != len(values) or len(values) != len(wanted):
        return False
    return all(_published_near(v, w) for v, w in zip(sorted(numbers), sorted(wanted), strict=True))


def _published_near(value: int | float | None, wanted: int | float) -> bool:
    if value is None or value != value or value in (float("inf"), float("-inf")):
        return False
    if isinstance(wanted, int):
        return round(value) == wanted
    margin = max(abs(wanted) * TOLERANCE, _FLOOR)
    return wanted - margin <= value <= wanted + margin
