"""What goes with success, counted by hand on planned trials."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import product

import pytest

from workbench.core.record import Spend, TrialRecord
from workbench.reporting.report import Canvas
from workbench.reporting.reports import markdown, terminal
from workbench.reporting.schema import Block, Summary
from workbench.reporting.summary import summarise
from workbench.reporting.trial import Trial
from workbench.reporting.wording import standing

Make = Callable[..., TrialRecord]
MakeTrial = Callable[..., Trial]


@pytest.fixture
def whole(make_record: Make, make_trial: MakeTrial) -> Summary:
    """Twelve tasks, two trials. bm25 finds gold for tasks below 6 and passes those; it harms task 7."""

    def trial(task: int, label: str, epoch: int) -> Trial:
        found = label == "gold" or (label == "routed-bm25" and task < 6)
        reward = float(found or (label == "none" and task == 7))
        record = make_record(
            f"t{task:02d}", label, epoch, reward, loaded=(f"gt/t{task:02d}",) if found else ()
        )
        exposure = record.exposure.model_copy(
            update={"routed": (f"gt/t{task:02d}",) if found else ("other",)}
        )
        group = {"difficulty": "easy" if task % 2 else "hard", "category": f"c{task}"}
        return make_trial(record.model_copy(update={"exposure": exposure, "group": group}))

    labels = ("none", "gold", "routed-bm25")
    return summarise([trial(*parts) for parts in product(range(12), labels, (1, 2))])


@pytest.fixture
def block(whole: Summary) -> Block:
    (found,) = whole.blocks
    return found


def test_success_is_split_by_what_was_given_and_loaded(block: Block) -> None:
    bm25 = next(arm for arm in block.arms if arm.router == "bm25")
    found = {(g.kind, g.state): (g.trials, g.success.value, g.success.tasks) for g in bm25.given}
    assert found == {
        ("coverage", "all"): (12, 1.0, 6),
        ("coverage", "none"): (12, 0.0, 6),
        ("loads", "all"): (12, 1.0, 6),
        ("loads", "none"): (12, 0.0, 6),
    }


def test_tasks_that_skills_harm_come_first(block: Block) -> None:
    bm25 = next(arm for arm in block.arms if arm.router == "bm25")
    assert bm25.vs_none is not None
    changes = [(c.task, c.first, c.second, c.trials) for c in bm25.vs_none.changes]
    assert changes[0] == ("t07", 0.0, 1.0, (2, 2))
    assert [task for task, *_ in changes[1:]] == [f"t{n:02d}" for n in range(6)]


def test_tasks_are_sliced_by_tags_that_group_them(block: Block) -> None:
    found = {(s.by, s.value): (s.tasks, s.arms["routed-bm25"].value) for s in block.slices}
    assert found == {("difficulty", "easy"): (6, 0.5), ("difficulty", "hard"): (6, 0.5)}


def test_a_success_costs_all_trials_divided_by_reward(block: Block) -> None:
    bm25 = next(arm for arm in block.arms if arm.router == "bm25")
    assert bm25.per_trial.cost_usd.value == 0.5
    assert bm25.per_success.cost_usd.value == pytest.approx(1.0)
    assert bm25.per_success.cost_usd.low is not None
    none = next(arm for arm in block.arms if arm.condition == "none")
    assert none.per_success.tokens.value == pytest.approx(12 * 100)
    assert none.per_success.tokens.reason == "the denominator may be zero"


def test_an_arm_that_is_as_dear_and_worse_is_not_worth_its_price(block: Block) -> None:
    assert block.front is not None
    assert block.front.unit == "cost_usd"
    assert {point.arm: point.best for point in block.front.points} == {
        "none": False,
        "gold": True,
        "routed-bm25": False,
    }


def test_the_front_says_what_of_it_is_within_error(make_record: Make, make_trial: MakeTrial) -> None:
    """dear costs ten times as much as cheap and wins one task more; worst is dearest and loses most."""
    solved = {"none": 0, "routed-cheap": 17, "routed-dear": 18, "routed-worst": 2}
    price = {"none": 0.1, "routed-cheap": 0.2, "routed-dear": 2.0, "routed-worst": 3.0}
    trials = [
        make_trial(
            make_record(
                f"t{n:02d}", arm, 1, float(n < solved[arm]), spend=Spend(cost_usd=price[arm] + n / 1000)
            )
        )
        for arm in solved
        for n in range(20)
    ]
    (found,) = summarise(trials).blocks
    assert found.front is not None
    points = {point.arm: point for point in found.front.points}
    assert {arm: (point.rival, standing(point)) for arm, point in points.items()} == {
        "none": (None, "cheapest"),
        "routed-cheap": ("none", "on the front"),
        "routed-dear": ("routed-cheap", "on the front, within error of cheap"),
        "routed-worst": ("routed-dear", "dominated by dear"),
    }
    dear = points["routed-dear"]
    assert dear.gain is not None
    assert dear.extra is not None
    assert dear.gain.low is not None
    assert dear.gain.value == pytest.approx(0.05)
    assert dear.gain.low < 0
    assert dear.extra.value == pytest.approx(1.8)
    assert dear.extra.low == pytest.approx(1.8)
    assert "dominated by dear" in terminal.render(summarise(trials), Canvas(width=80))
    assert "| cheap | $0.21" in markdown.render(summarise(trials), Canvas())


def test_the_markdown_has_what_goes_with_success_and_repeated_trials(block: Block, whole: Summary) -> None:
    text = markdown.render(whole, Canvas())
    assert whole.blocks == (block,)
    for line in (
        "| bm25 | all given | 1.00 | [",
        "] | 6 | 12 |\n| bm25 | all loaded | 1.00 | [",
        "| t07 | bm25 | 0.00 | 1.00 | -1.00 | 2 and 2 |",
        "### Success by difficulty",
        "### Over repeated trials: value [95% interval] (tasks)",
    ):
        assert line in text
    (shown,) = re.findall(r"^\| bm25 pass@k .*$", text, re.MULTILINE)
    assert re.fullmatch(
        r"\| bm25 pass@k \|( 0\.50 \[0\.\d\d, 0\.\d\d\] \(12\) \|){2} 0% \[0, \d+\] \(12\) \|", shown
    )


def test_every_trial_can_be_looked_at(block: Block) -> None:
    marks = [mark for arm in block.arms for task in arm.tasks for mark in task.trials]
    assert len(marks) == 12 * 3 * 2
    assert all(mark.log and mark.sample for mark in marks)


def test_a_metric_that_orders_routers_as_success_does_has_tau_one(
    make_record: Make, make_trial: MakeTrial
) -> None:
    def trial(task: int, router: str) -> Trial:
        good = task < {"a": 2, "b": 5, "c": 9}[router]
        record = make_record(f"t{task}", f"routed-{router}", 1, float(good))
        route = record.route.model_copy(
            update={"metrics": {"Hit@1": float(good), "nDCG@10": float(not good)}}
        )
        return make_trial(record.model_copy(update={"route": route}))

    (block,) = summarise([trial(*parts) for parts in product(range(10), "abc")]).blocks
    found = {a.metric: a.tau.value for a in block.agreement}
    assert found == {"Hit@1": 1.0, "nDCG@10": -1.0}
