"""`workbench plan`: from a pilot and from numbers, and never from nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from workbench.cli.main import run


def test_numbers_give_a_table_and_the_trials_needed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "plan.json"
    arguments = ("plan", "--rates", "0.4", "0.5", "--tasks", "87", "--effect", "0.1", "--json", str(target))
    assert run(arguments) == 0
    assert "a task would find 0.1 on 87 tasks" in capsys.readouterr().out
    (plan,) = json.loads(target.read_text())
    values = [plan["detectable"][str(t)] for t in (1, 2, 3, 5, 10, 20)]
    assert values == sorted(values, reverse=True)
    assert plan["between"] + plan["within"] < 0.25 * 2


def test_correcting_for_more_comparisons_needs_a_larger_difference(tmp_path: Path) -> None:
    found = []
    for comparisons in ("1", "10"):
        target = tmp_path / f"{comparisons}.json"
        options = ("--tasks", "50", "--comparisons", comparisons, "--json", str(target))
        assert run(("plan", "--rates", "0.4", "0.5", *options)) == 0
        found.append(json.loads(target.read_text())[0]["detectable"]["5"])
    assert found[0] < found[1]


def test_a_pilot_gives_each_router_against_each_baseline(
    mixed_log: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["plan", str(mixed_log), "--tasks", "40"]) == 0
    out = capsys.readouterr().out
    assert "bm25 against none, 40 tasks" in out
    assert "bm25 against gold, 40 tasks" in out


def test_neither_a_pilot_nor_numbers_is_an_error_that_says_what_to_give(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["plan", "--effect", "0.1"]) == 1
    assert "--rates P Q" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        ("plan", "--rates", "nan", "0.5", "--tasks", "10"),
        ("plan", "--rates", "0.4", "0.5", "--tasks", "10", "--effect", "nan"),
        ("compare", "a", "b", "--margin", "nan"),
    ],
)
def test_a_number_that_is_none_is_refused(
    arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == 1
    assert "nan is not a number" in capsys.readouterr().err
