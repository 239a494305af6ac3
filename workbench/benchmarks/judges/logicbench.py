"""LogicBench: yes or no (``BQA``), or one of the numbered choices (``MCQA``)."""

from __future__ import annotations

import re

from workbench.benchmarks.judging import Facts, Judgement
from workbench.benchmarks.reading import (
    labelled,
    last_line,
    phrased_as_published,
    stated,
    without_thinking,
    without_thinking_as_published,
)

_TRUTH = {"yes": "yes", "true": "yes", "no": "no", "false": "no"}
_TRUTH_WORD = re.compile(r"\b(yes|no|true|false)\b", re.IGNORECASE)
_CHOICE = re.compile(r"\b(?:choice|option)[_ ]?\(?(\d+)\b", re.IGNORECASE)
_REASON = re.compile(r"\b(?:because|since|as|rather than|instead of|not|unlike)\b", re.IGNORECASE)
_TAIL = 500


def judge(reply: str, facts: Facts) -> Judgement:
    """What is stated as the answer counts; only without a statement, what the reply begins or ends with."""
    text = without_thinking(reply).strip()
    statement = stated(text) or labelled(text)
    read = _choice if facts.get("task_type") == "MCQA" else _truth
    answer = read(statement, text)
    return Judgement(bool(answer) and answer == str(facts["answer"]).strip().lower(), answer)


def _truth(statement: str | None, text: str) -> str:
    if statement is not None and (word := _TRUTH_WORD.match(statement)):
        return _TRUTH[word[1].lower()]
    if word := _TRUTH_WORD.match(text.lstrip("*_ ")):
        return _TRUTH[word[1].lower()]
    words = _TRUTH_WORD.findall(last_line(text))
    return _TRUTH[words[-1].lower()] if words else ""


def _choice(statement: str | None, text: str) -> str:
    if statement is not None:
        if found := _CHOICE.search(statement):
            return f"choice_{found[1]}"
        if number := re.fullmatch(r"\(?(\d+)\)?", statement):
            return f"choice_{number[1]}"
    lines = [line for line in text.split("\n") if _CHOICE.search(line)]
    if lines:
        named = _CHOICE.findall(_REASON.split(lines[-1])[0]) or _CHOICE.findall(lines[-1])
        return f"choice_{named[-1]}"
    alone = re.fullmatch(r"\W*(\d+)\W*", text)
    return f"choice_{alone[1]}" if alone else ""


def judge_as_published(reply: str, facts: Facts) -> Judgement:
    """As SR-Agents judges; see tasks/srabench/JUDGING.md."""
    text = without_thinking_as_published(reply).strip()
    multiple = facts.get("task_type", "BQA") != "BQA"
    answer = _published_choice(text, str(facts.get("question", ""))) if multiple else _published_truth(text)
    return Judgement(answer.strip().lower() == str(facts["answer"]).strip().lower(), answer)


_DENIALS = re.compile(
    r"cannot\s+(?:be\s+)?(?:conclude|infer|say|determine)|not\s+necessarily\s+true"
    r"|not\s+(?:possible|correct|true|valid)|cannot\s+(?:logically|necessarily|definitively)|\bno,\s"
)


def _published_truth(text: str) -> str:
    lower = text.lower()
    tail = lower[-_TAIL:]
    if found := re.findall(r"answer\s+is[:\s]*\**\s*(yes|no|true|false)\b", lower):
        return _TRUTH[found[-1]]
    if first := re.match(r"\**(yes|no)\**[.,!\s]", lower):
        return first[1]
    if _DENIALS.search(tail):
        return "no"
    if words := re.findall(r"\b(yes|no)\b", tail):
        return str(words[-1])
    for word, meaning in (("true", "yes"), ("false", "no")):
        if word in tail:
            return meaning
    return text.split("\n")[-1].strip().lower()


def _published_choice(text: str, question: str) -> str:
    lower = text.lower()
    if named := re.findall(r"choice[_ ]?(\d+)", lower):
        return f"choice_{named[-1]}"
    if found := re.search(r"(?:answer|option)\s*(?:is)?[:\s]*\**\s*(?:choice[_ ]?)?(\d+)\b", lower):
        return f"choice_{found[1]}"
    for number in range(5, 0, -1):
        wording = re.search(rf"choice_{number}:\s*(.+?)(?:\n|choice_|$)", question, re.IGNORECASE)
        if wording and wording[1].strip().lower()[:40] in lower[-_TAIL:]:
            return f"choice_{number}"
    answer = phrased_as_published(text)
    answer = (last_line(text) if answer is None else answer).strip().lower()
    digit = re.search(r"\b([1-5])\b", answer)
    return f"choice_{digit[1]}" if digit else answer
