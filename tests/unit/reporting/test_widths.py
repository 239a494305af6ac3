"""Nothing that is printed is wider than the terminal, whatever things are called."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from rich.cells import cell_len

from workbench.cli._sweep_ledger import Progress
from workbench.cli._sweep_prices import Prices
from workbench.cli._sweep_view import forecast, standing
from workbench.cli.main import run
from workbench.core.record import Spend, TrialRecord
from workbench.core.terminal import filled, print_table
from workbench.reporting.report import Canvas
from workbench.reporting.reports import terminal
from workbench.reporting.summary import summarise
from workbench.reporting.trial import Trial

Make = Callable[..., TrialRecord]
MakeTrial = Callable[..., Trial]
RunEval = Callable[..., Path]

LONG = "a-router-whose-name-was-made-by-joining-all-of-its-stages-and-their-settings"
WIDE = "路由器" * 9
EMOJI = "🧰" * 20
COMBINING = "e\u0301" * 45
NAMES = {
    "long": (LONG, f"{LONG}-2", f"{LONG}-3"),
    "cjk": (WIDE, f"{WIDE}二"),
    "emoji": (EMOJI, COMBINING),
    "many": tuple(f"router-{n:02d}" for n in range(24)),
}


def wide(shown: str, width: int = 80) -> list[str]:
    """Lines that do not fit, and those that end in blanks."""
    return [line for line in shown.splitlines() if cell_len(line) > width or line != line.rstrip()]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("widths")


@pytest.fixture
def planned(make_record: Make) -> Callable[[str, str, int], TrialRecord]:
    def behave(task: str, arm: str, epoch: int) -> TrialRecord:
        good = arm != "none" and (len(task) + len(arm)) % 5 > 0
        spend = Spend(total_tokens=1_234_567, cost_usd=1.25, agent_seconds=1234.5)
        if task.endswith("-0") and arm.startswith("routed"):
            return make_record(task, arm, epoch, cause="infra:start", detail="no container " * 60)
        return make_record(task, arm, epoch, float(good), model="一个模型" * 9, agent=LONG, spend=spend)

    return behave


def log(folder: Path, kind: str, run_eval: RunEval, behave: Callable[..., object]) -> Path:
    """A log of two tasks with such names as well."""
    target = folder / kind
    if not target.exists():
        names: Sequence[str] = NAMES[kind]
        arms = ("none", "gold", *(f"routed-{name}" for name in names))
        tasks = [f"{names[0]}-{n}" for n in range(3)]
        run_eval(target, behave, tasks=tasks, arms=arms)
    return target


@pytest.mark.parametrize("width", [40, 80, 120])
@pytest.mark.parametrize("kind", NAMES)
def test_a_report_fits(
    planned: Callable[[str, str, int], TrialRecord], make_trial: MakeTrial, kind: str, width: int
) -> None:
    arms = ("none", "gold", *(f"routed-{name}" for name in NAMES[kind]))
    tasks = [f"{NAMES[kind][0]}-{n}" for n in range(4)]
    trials = [
        make_trial(planned(task, arm, epoch), model="一个模型" * 9)
        for task in tasks
        for arm in arms
        for epoch in (1, 2)
    ]
    assert wide(terminal.render(summarise(trials), Canvas(width=width)), width) == []


@pytest.mark.parametrize("kind", NAMES)
def test_report_compare_and_plan_fit_into_eighty_columns_without_trailing_blanks(
    folder: Path,
    run_eval: RunEval,
    planned: Callable[[str, str, int], TrialRecord],
    kind: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    target = str(log(folder, kind, run_eval, planned))
    first, second = NAMES[kind][:2]
    for command in (
        ["report", target],
        ["compare", target, "--arms", first, second],
        ["compare", target, "--arms", first, "gold", "--margin", "0.1"],
        ["plan", target],
    ):
        run(command)
        assert wide(capsys.readouterr().out) == [], command


@pytest.mark.parametrize("kind", NAMES)
def test_how_far_a_sweep_is_fits(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    model = "一个模型" * 9
    cells = {
        (model, LONG, f"routed-{name}"): Progress(planned=12_000, scored=8_000, excluded=50, cost=1e4)
        for name in NAMES[kind]
    }
    print_table(standing(cells, 80, live=False))
    print_table(standing(cells, 80))
    print_table(forecast(cells, Prices({}, False), 80))
    assert wide(capsys.readouterr().out) == []


@pytest.mark.parametrize("width", [24, 80])
def test_lines_are_filled_by_cells_and_not_by_characters(width: int) -> None:
    words = " ".join([WIDE[:5], "plain", EMOJI[:6], COMBINING[:14], "no\u00a0break"] * 12)
    lines = filled(words, width).splitlines()
    assert max(map(cell_len, lines)) <= width
    assert min(map(cell_len, lines[:-1])) > width - 14
    assert " ".join(line.strip() for line in lines) == words
