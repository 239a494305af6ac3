"""Every deviation in JUDGING.md is as the table says, by both rules."""

from __future__ import annotations

import re
from typing import Any

import pytest

from workbench.benchmarks.judging import judged
from workbench.benchmarks.reading import without_thinking
from workbench.core.workspace import packaged_root

TABLE = (packaged_root() / "tasks" / "srabench" / "JUDGING.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| (\w+) ?([\w ]*) \| `(.*?)` \| `(.*?)` \| (yes|no) \| (yes|no) \|", re.MULTILINE)
ROWS = ROW.findall(TABLE)
CALCULATORS = {"decimal": 6, "integer": 8, "weeks": 69}


def facts(subset: str, kind: str, gold: str) -> dict[str, Any]:
    if subset == "medcalcbench":
        ends = {"lower_limit": "23.978", "upper_limit": "26.502"} if kind == "decimal" else {}
        return {"answer": gold, "calculator_id": CALCULATORS[kind], "output_type": kind, **ends}
    return {"answer": gold, "answer_type": kind, "task_type": kind, "question": ""}


def test_the_table_has_its_rows() -> None:
    assert len(ROWS) >= 35
    assert {row[0] for row in ROWS} == {"theoremqa", "logicbench", "medcalcbench", "champ", "toolqa"}


@pytest.mark.parametrize(("subset", "kind", "gold", "reply", "toolkit", "here"), ROWS)
def test_a_deviation_is_as_written(
    subset: str, kind: str, gold: str, reply: str, toolkit: str, here: str
) -> None:
    text = reply.replace("\\n", "\n")
    given = facts(subset, kind, gold)
    assert judged(subset, text, given, "parity").correct == (toolkit == "yes")
    assert judged(subset, text, given, "workbench").correct == (here == "yes")


def test_thinking_is_not_judged_however_it_is_marked() -> None:
    for text in ("<think>6</think>5", "6</think>\n5", "<think>6</think>\n\n5<think>7"):
        assert without_thinking(text).strip() == "5"
