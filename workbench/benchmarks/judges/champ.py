"""CHAMP: a number, a formula, a few values, yes or no, or a short phrase.

Formulas are compared by value (`workbench.benchmarks.formulas.same`), collections as sets.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from keyword import iskeyword

from workbench.benchmarks.formulas import number, same
from workbench.benchmarks.judges._published import UnreadableError, python_value
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

_OTHER_FORM = re.compile(r",?\s*or\s+(?:equivalently|approximately|an equivalent form such as)\s+(.+)$", re.I)
_REMARK = re.compile(r"\s+\((?:i\.e\.[,\s]|none\b)[^)]*\)\s*$", re.I)
_TRUTH = {"yes": "yes", "true": "yes", "no": "no", "false": "no"}
_PHRASES = (
    (r"no (?:\w+ )*solutions?|it has no (?:\w+ )*solutions?", "no solutions"),
    (r"no (?:\w+ )*values?(?: exist)?|none|there are no such values", "no such values"),
    (r"the limit does not exist|limit does not exist|does not exist", "limit does not exist"),
    (r"the sequence does not exist|no such sequence(?: exists)?", "sequence does not exist"),
    (r"at most 0\b.*|exactly 0\b.*|0 (?:pairs|roots|solutions|values)", "0"),
    (r"exactly one\b.*", "1"),
    (r"at (?:most|least) (\d+)\b.*", r"\1"),
    (r"(.+?) is the only possible value.*", r"\1"),
    (r"the only possible value for the limit is (.+)", r"\1"),
    (r"the limit exists and is equal to (.+)", r"\1"),
    (r"(\d+) (?:values?|inequalit(?:y|ies)|numbers?)", r"\1"),
)
_SEPARATOR = re.compile(r"\s*(?:;|,(?!\d{3}(?!\d))|\band\b|\bor\b)\s*")
_ASSIGNMENT = re.compile(r"([A-Za-z]\w*)\s*=\s*([^=]+)")
_MAX_VALUES = 12


def judge(reply: str, facts: Facts) -> Judgement:
    """Right is any form that the gold answer lists, and any formula or set equal to one of them."""
    text = without_thinking(reply)
    answer = labelled(text) or stated(text) or last_line(text)
    gold = str(facts["answer"]).strip()
    forms = [gold, _REMARK.sub("", _OTHER_FORM.sub("", gold)), *_OTHER_FORM.findall(gold)]
    right = bool(answer) and any(_equal(_REMARK.sub("", form).rstrip("."), answer) for form in forms)
    return Judgement(right, answer)


def _equal(gold: str, answer: str) -> bool:
    if gold.lower() in _TRUTH:
        said = re.match(r"\W*(yes|no|true|false)\b", answer, re.I)
        return said is not None and _TRUTH[said[1].lower()] == gold.lower()
    gold, answer = _phrase(gold), _phrase(bare(_REMARK.sub("", answer)))
    if _compact(gold) == _compact(answer) or _same_value(gold, answer):
        return True
    return _same_set(gold, answer)


def _phrase(text: str) -> str:
    plain = " ".join(text.lower().split())
    for pattern, meaning in _PHRASES:
        if found := re.fullmatch(pattern, plain):
            return found.expand(meaning)
    return text.strip()


def _compact(text: str) -> str:
    return re.sub(r"[\s$\\]+", "", text).lower().replace("−", "-").replace("**", "^")


def _same_value(gold: str, answer: str) -> bool:
    """Equal formulas; a decimal is right as the gold value rounded to two significant digits or more."""
    found = _ASSIGNMENT.fullmatch(answer)
    core = found[2] if found and "=" not in gold else answer
    if same(gold, core):
        return True
    wanted, decimal = number(gold), re.fullmatch(r"-?(\d*)\.(\d+)", core.strip())
    if wanted is None or isinstance(wanted, int) or decimal is None:
        return False
    significant = len((decimal[1] + decimal[2]).lstrip("0"))
    return significant >= 2 and math.isclose(
        float(core), float(wanted), rel_tol=0, abs_tol=0.5000001 * 10.0 ** -len(decimal[2])
    )


def _same_set(gold: str, answer: str) -> bool:
    wanted, given = _solutions(gold), _solutions(answer)
    if len(wanted) < 2 and not any(wanted):
        return False
    if all(len(s) == 1 for s in (*wanted, *given)):
        wanted, given = _nameless(wanted), _nameless(given)
    if len(wanted) != len(given):
        return False
    return all(any(_same_solution(w, g) for g in given) for w in wanted)


def _nameless(solutions: list[dict[str, str]]) -> list[dict[str, str]]:
    return [{"": next(iter(s.values()))} for s in solutions]


def _solutions(text: str) -> list[dict[str, str]]:
    """``x=1, y=2 and x=2, y=1`` -> two solutions; values without a name are a solution each."""
    core = text.replace("$", "").strip()
    if core[:1] in "[{(" and core[-1:] in "]})" and not re.search(r"[\])}]\s*(?:,|and)\s*[\[({]", core):
        core = core[1:-1]
    solutions: list[dict[str, str]] = []
    for part in _signs(p.strip("()[]{} ") if "=" in p else p for p in _SEPARATOR.split(core) if p):
        assigned = _ASSIGNMENT.fullmatch(part)
        name, value = (assigned[1], assigned[2]) if assigned else ("", part)
        if not solutions or not assigned or name in solutions[-1] or "" in solutions[-1]:
            solutions.append({})
        solutions[-1][name] = value
    return solutions if len(solutions) <= _MAX_VALUES else []


def _signs(parts: Iterable[str]) -> Iterable[str]:
    for part in parts:
        yield from (part.replace("±", "+"), part.replace("±", "-")) if "±" in part else (part,)


def _same_solution(one: Mapping[str, str], other: Mapping[str, str]) -> bool:
    return one.keys() == other.keys() and all(
        _compact(value) == _compact(other[name]) or same(value, other[name]) for name, value in one.items()
    )


def judge_as_published(reply: str, facts: Facts) -> Judgement:
    """As SR-Agents judges; see tasks/srabench/JUDGING.md."""
    text = without_thinking_as_published(reply)
    answer = labelled_as_published(text)
    if answer is None:
        answer = phrased_as_published(text)
    answer = last_line(text) if answer is None else answer
    gold = str(facts["answer"]).strip()
    return Judgement(_published_match(gold, answer.strip()), answer)


_PUBLISHED_FORM = re.compile(r",?\s*or\s+(?:equivalently|approximately)\s+(.+)$", re.I)
_PUBLISHED_PHRASES = (
    (r"^no\s+(?:\w+\s+)*solutions?$", "no solutions"),
    (r"^no\s+(?:\w+\s+)*(?:possible\s+)?values?$", "no such values"),
    (r"^0 (?:pairs|roots)$", "0"),
    (r"^(.+?)\s+is the only possible value.*$", r"\1"),
    (r"^the limit exists and is equal to\s+(.+)$", r"\1"),
    (r"^the limit does not exist$", "limit does not exist"),
    (r"^at most 0\b.*$", "0"),
    (r"^exactly one\b.*$", "1"),
    (r"^(\d+)\s+(?:values?|inequalit(?:y|ies))$", r"\1"),
)


def _published_match(gold: str, answer: str) -> bool:
    wanted, said = _published_text(gold), _published_text(answer)
    if wanted.lower() == said.lower():
        return True
    if wanted.lower() in ("yes", "no"):
        # There, "no" is looked for as a part of any word.
        for meaning, words in (("yes", ("yes", "true")), ("no", ("no", "false"))):
            if any(word in said.lower() for word in words):
                return meaning == wanted.lower()
    forms = [wanted, *(_published_text(form) for form in _published_forms(gold))]
    return any(form.lower() == said.lower() or _published_equal(form, said) for form in forms)


def _published_forms(gold: str) -> list[str]:
    found = _PUBLISHED_FORM.search(gold)
    form = re.sub(r"\s*\([^)]*\)\s*$", "", found[1].strip().rstrip(".")).strip() if found else ""
    return [form] if form else []


def _published_text(text: str) -> str:
    text = _PUBLISHED_FORM.sub("", text.strip().rstrip("."))
    return " ".join(_REMARK.sub("", text).split())


def _published_phrase(text: str) -> str:
    for pattern, meaning in _PUBLISHED_PHRASES:
        if found := re.match(pattern, text.strip().lower()):
            return found.expand(meaning)
    return text


def _published_equal(gold: str, answer: str) -> bool:
    gold, answer = _published_phrase(gold), _published_phrase(answer)
    if gold.lower() == answer.lower():
        return True
    wanted, said = _published_number(gold), _published_number(answer)
    if wanted is not None and said is not None and _published_near(said, wanted):
        return True
    return _published_same(gold, answer)


def _published_same(gold: str, answer: str) -> bool:
    """As sympy's parser reads plain text: every word is a product of its letters."""
    if not (gold + answer).isascii() or set("$\\{}") & set(gold + answer):
        return False
    wanted, said = _published_letters(gold), _published_letters(answer)
    if wanted is not None and said is not None:
        return wanted == said
    return same(gold, _published_first(answer) if number(gold) is not None else answer)


def _published_first(text: str) -> str:
    """``A or B`` is A there, where A is a number that is not 0 and B can be read."""
    first, _, second = text.partition(" or ")
    readable = (_published_letters(second) is not None and " " not in second) or same(second, second)
    return first if second and number(first) and readable and "!" not in second else text


def _published_letters(text: str) -> tuple[int, str] | None:
    """The product that words and whole numbers are; ``None`` for other texts and Python's own words."""
    if re.fullmatch(r"[A-Za-z\d\s]+", text) is None or any(iskeyword(word) for word in text.split()):
        return None
    factor = math.prod(int(digits) for digits in re.findall(r"\d{1,9}", text))
    return factor, "".join(sorted(re.sub(r"[\d\s]", "", text))) if factor else ""


def _published_near(said: int | float, wanted: int | float) -> bool:
    try:
        if isinstance(wanted, int):
            return math.isfinite(said) and round(said) == wanted
        margin = max(abs(wanted) * 0.04, 1e-9)
        return wanted - margin <= said <= wanted + margin
    except OverflowError:
        return False


def _published_number(text: str) -> int | float | None:
    try:
        value = float(text)
        return int(value) if value.is_integer() else value
    except ValueError:
        pass
    expression = re.sub(r"\bsqrt\(([^)]+)\)", r"(\1)**0.5", text.replace("^", "**"))
    try:
        found = python_value(expression)
    except UnreadableError:
        return None
    return found if isinstance(found, int | float) else None
