"""The law of judges (workbench/benchmarks/judging.py), for every file in workbench/benchmarks/judges/."""

from __future__ import annotations

import ast
import time
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.benchmarks.judging import Facts, code_judge, judge_names, judged, runs_code
from workbench.benchmarks.suite import load_suite
from workbench.benchmarks.task import BenchmarkTask
from workbench.core.workspace import find_workspace, packaged_root

NAMES = [name for name in judge_names() if not runs_code(name)]
RULES = ("workbench", "parity")
HOSTILE = [
    "",
    "\0",
    "\ud800",
    "<think>",
    "ANSWER:",
    "Finish[",
    "the answer is",
    "ANSWER: " + "9^" * 5000 + "9",
    "ANSWER: 9**9**9**9",
    "Therefore, the answer is __import__('os').system('touch /tmp/harm').",
    "ANSWER: nan",
    "ANSWER: inf",
    "ANSWER: -1e999",
    "ANSWER: " + "(" * 3000,
    "the answer is " * 2000,
    "answer is " + " " * 20_000 + "x",
    "0" * 50_000,
    "(1, " * 2000,
    "choice_" + "9" * 5000,
    "'0 weeks', " * 3000,
    "a, b; " * 3000,
    "\\boxed{" * 2000,
    "ANSWER: " + "1 and " * 3000,
]


@cache
def samples() -> tuple[BenchmarkTask, ...]:
    data = packaged_root() / "tasks" / "srabench" / "sample"
    return load_suite("srabench", find_workspace(packaged_root()), data).tasks


def facts_of(name: str) -> list[Facts]:
    return [t.question.facts for t in samples() if t.question is not None and t.question.judge == name]


@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("name", NAMES)
def test_any_text_gets_a_judgement_in_no_time(name: str, rules: str) -> None:
    for facts in facts_of(name):
        for reply in HOSTILE:
            started = time.monotonic()
            judgement = judged(name, reply, facts, rules)  # type: ignore[arg-type]
            assert judgement.correct in (True, False)
            assert time.monotonic() - started < 1.0, reply[:40]


@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=60, deadline=None)
@given(reply=st.text(max_size=200))
def test_no_text_makes_a_judge_fail(name: str, rules: str, reply: str) -> None:
    for facts in facts_of(name):
        judged(name, reply, facts, rules)  # type: ignore[arg-type]


@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("name", NAMES)
def test_an_empty_reply_is_wrong(name: str, rules: str) -> None:
    for facts in facts_of(name):
        assert not judged(name, "", facts, rules).correct  # type: ignore[arg-type]


@pytest.mark.parametrize("name", NAMES)
def test_the_known_answer_in_the_form_asked_for_is_right_and_another_wrong(name: str) -> None:
    tasks = [t for t in samples() if t.question is not None and t.question.judge == name]
    assert tasks
    for task in tasks:
        question = task.question
        assert question is not None
        assert question.solution is not None
        for rules in RULES:
            assert judged(name, f"Step by step.\n{question.solution}", question.facts, rules).correct  # type: ignore[arg-type]
        other = question.solution.replace(str(question.facts["answer"]), "1234567")
        assert not judged(name, other, question.facts, "workbench").correct


@pytest.mark.parametrize("name", [name for name in judge_names() if runs_code(name)])
def test_a_judge_of_programs_only_writes_one(name: str) -> None:
    for facts in facts_of(name):
        for reply in HOSTILE:
            program = code_judge(name).program(reply.replace("\ud800", ""), facts, "word")
            ast.parse(program)


def test_no_module_of_ours_evaluates_a_text_as_code() -> None:
    """``eval`` and ``exec`` occur nowhere among the calls of the package's own modules."""
    for file in (packaged_root() / "workbench" / "benchmarks").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id not in {"eval", "exec", "compile", "__import__"}, file
