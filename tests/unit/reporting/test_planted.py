"""A run whose truth was planted is recovered: the right order, the right calls, the right counts, exactly."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from workbench.core.record import TrialRecord
from workbench.core.types import FunnelStage
from workbench.reporting.announce import summary_of
from workbench.reporting.schema import ArmSummary, Block

Make = Callable[..., TrialRecord]
RunEval = Callable[..., Path]
TASKS = [f"t{n:02d}" for n in range(24)]
TRIALS = 2
SOLVED = {
    "none": set(range(4)),
    "gold": set(range(24)),
    "routed-strong": set(range(20)),
    "routed-weak": set(range(6)),
    "routed-harmful": set(),
}
STAGES: dict[str, FunnelStage] = {
    "routed-strong": "not_loaded",
    "routed-weak": "not_routed",
    "routed-harmful": "failed",
    "none": "not_routed",
}


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory, run_eval: RunEval) -> Path:
    from workbench.reporting.trial import split_id

    make: Make = _maker()

    def behave(task: str, arm: str, epoch: int) -> TrialRecord:
        good = int(task[1:]) in SOLVED[arm]
        assert split_id(f"{task}@{arm}")
        return make(task, arm, epoch, float(good), funnel="passed" if good else STAGES[arm])

    folder = tmp_path_factory.mktemp("planted")
    return run_eval(folder, behave, tasks=TASKS, arms=tuple(SOLVED), epochs=TRIALS)


def _maker() -> Make:
    import importlib.util

    spec = importlib.util.spec_from_file_location("records", Path(__file__).parent / "conftest.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    made: Make = module._record
    return made


@pytest.fixture(scope="module")
def block(log: Path) -> Block:
    (found,) = summary_of([log]).blocks
    return found


def arms(block: Block) -> dict[str, ArmSummary]:
    return {arm.arm: arm for arm in block.arms}


def test_success_is_what_was_planted(block: Block) -> None:
    assert {arm.arm: arm.success.value for arm in block.arms} == {
        name: pytest.approx(len(tasks) / 24) for name, tasks in SOLVED.items()
    }


def test_the_verdicts_come_in_the_right_order_and_call_what_is_real(block: Block) -> None:
    strong, weak, harmful = (arms(block)[f"routed-{name}"].vs_none for name in ("strong", "weak", "harmful"))
    assert strong is not None
    assert weak is not None
    assert harmful is not None
    assert strong.p_value == pytest.approx(2 / 2**16)
    assert weak.p_value == pytest.approx(2 / 2**2)
    assert harmful.p_value == pytest.approx(2 / 2**4)
    assert strong.p_adjusted == pytest.approx(3 * 2 / 2**16)
    assert block.headline[0].startswith("strong closes 80% [")
    assert [line.split(":")[0] for line in block.headline[1:]] == ["harmful", "weak"]
    assert all("no clear difference" in line for line in block.headline[1:])


def test_harm_is_seen_task_by_task(block: Block) -> None:
    harmful = arms(block)["routed-harmful"].vs_none
    assert harmful is not None
    assert [change.task for change in harmful.changes] == TASKS[:4]
    assert (harmful.better, harmful.worse) == (0, 4)


def test_funnel_counts_are_exact(block: Block) -> None:
    for name, arm in arms(block).items():
        wanted: Counter[str] = Counter()
        for task in range(24):
            wanted["passed" if task in SOLVED[name] else STAGES[name]] += TRIALS
        assert {stage: count for stage, count in arm.funnel.items() if count} == dict(wanted)


def test_trials_that_agree_narrow_nothing_and_the_gap_is_four_fifths(block: Block) -> None:
    strong = arms(block)["routed-strong"]
    assert strong.gap is not None
    assert strong.gap.share.value == pytest.approx(16 / 20)
    assert (strong.within.value, strong.within.tasks) == (0, 24)
    assert strong.success.tasks == 24
