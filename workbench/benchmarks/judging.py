"""The protocol of judges: a reply and the facts of its question -> right or wrong.

Each module in ``judges/`` exports ``judge`` and ``judge_as_published``, both
``(reply, facts) -> Judgement``. Law, tested for every judge (tests/contract/test_judges.py):

- any text whatever gets a judgement; an empty one is wrong; nothing raises;
- a reply is text: it is never run, and no formula in it costs more than milliseconds;
- the gold answer in the form that the prompt asks for is right;
- `judge_as_published` decides as SR-Agents' public toolkit does, faults included
  (tasks/srabench/JUDGING.md says where the two differ, and why).

A judge whose answers are programs exports ``program`` instead, which only writes what a sandbox
is to run; see `CodeJudge`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol, cast

from workbench.core.plugins import load_plugin, plugin_names

Rules = Literal["workbench", "parity"]
"""Our rules, or those of the public toolkit to the letter."""

Facts = Mapping[str, Any]
"""An instance's ``eval_data``, as published."""

_BLANK = re.compile(r"(\s{50})\s+")
_PACKAGE = "workbench.benchmarks.judges"


@dataclass(frozen=True)
class Judgement:
    """Whether a reply is right, and what was read out of it."""

    correct: bool
    answer: str


class Judge(Protocol):
    """A module that judges texts."""

    def judge(self, reply: str, facts: Facts) -> Judgement:
        """By our rules."""

    def judge_as_published(self, reply: str, facts: Facts) -> Judgement:
        """By the public toolkit's."""


class CodeJudge(Protocol):
    """A module whose answers are programs."""

    def program(self, reply: str, facts: Facts, word: str) -> str:
        """A Python program for the sandbox that prints `word` last if, and only if, the reply is right."""


def judge_names() -> list[str]:
    """Names of all judges, sorted."""
    return plugin_names(_PACKAGE)


def judged(name: str, reply: str, facts: Facts, rules: Rules) -> Judgement:
    """The judgement of a text. More than 50 characters of white space in a row count as 50, which
    no rule tells apart and some patterns would take minutes for.

    Raises:
        UnknownNameError: no such judge.
    """
    judge = cast(Judge, load_plugin(_PACKAGE, name, "judge"))
    rule = judge.judge if rules == "workbench" else judge.judge_as_published
    return rule(_BLANK.sub(r"\1", reply), facts)


def runs_code(name: str) -> bool:
    """Whether a judge needs a sandbox."""
    return hasattr(load_plugin(_PACKAGE, name, "judge"), "program")


def code_judge(name: str) -> CodeJudge:
    """A judge of programs."""
    return cast(CodeJudge, load_plugin(_PACKAGE, name, "judge"))
