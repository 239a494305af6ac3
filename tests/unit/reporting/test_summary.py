"""Planted truth comes back exactly, and nothing that is missing is silent."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable
from itertools import product
from pathlib import Path

import pytest

from workbench.core.record import RankedEntry, Spend, TrialRecord
from workbench.core.types import FUNNEL, Arm
from workbench.reporting.announce import summary_of
from workbench.reporting.schema import ArmSummary, Block, Summary
from workbench.reporting.summary import summarise
from workbench.reporting.trial import Trial
from workbench.reporting.wording import stages
from workbench.stats.paired import difference
from workbench.stats.proportion import clustered_rate

Make = Callable[..., TrialRecord]
MakeTrial = Callable[..., Trial]
MakePending = Callable[..., Trial]

TASKS = tuple(f"t{n:02d}" for n in range(12))
ARMS = ("none", "gold", "routed-bm25")


def only(summary: Summary) -> Block:
    (block,) = summary.blocks
    return block


def arm(block: Block, label: str) -> ArmSummary:
    (found,) = [candidate for candidate in block.arms if candidate.arm == label]
    return found


@pytest.fixture
def build(make_record: Make, make_trial: MakeTrial) -> Callable[..., list[Trial]]:
    """Trials from a function (task, arm, epoch) -> reward or dict of changes, or ``None`` to leave it out."""

    def made(
        behave: Callable[..., object],
        tasks: Iterable[str] = TASKS,
        arms: Iterable[str] = ARMS,
        epochs: int = 1,
    ) -> list[Trial]:
        found = []
        for task, label, epoch in product(tasks, arms, range(1, epochs + 1)):
            answer = behave(task, label, epoch)
            if answer is not None:
                changes = answer if isinstance(answer, dict) else {"reward": float(answer)}  # type: ignore[arg-type]
                found.append(make_trial(make_record(task, label, epoch, **changes)))
        return found

    return made


def planted(task: str, label: str, epoch: int) -> float:
    """Gold always passes, none never, bm25 on all but two tasks."""
    return float(label == "gold" or (label != "none" and task not in {"t03", "t07"}))


def test_planted_success_differences_and_share_come_back(build: Callable[..., list[Trial]]) -> None:
    block = only(summarise(build(planted, epochs=3)))
    assert [found.arm for found in block.arms] == list(ARMS)
    assert (block.suite, block.model, block.agent, block.tasks, block.trials) == (
        "quickstart",
        "none/none",
        "oracle",
        12,
        (3, 3),
    )
    bm25 = arm(block, "routed-bm25")
    assert bm25.success.value == pytest.approx(10 / 12)
    assert bm25.vs_none is not None
    assert bm25.vs_gold is not None
    assert bm25.gap is not None
    assert bm25.vs_none.difference.value == pytest.approx(10 / 12)
    assert bm25.vs_none.p_value == pytest.approx(2 / 2**10)
    assert (bm25.vs_none.better, bm25.vs_none.worse) == (10, 0)
    assert bm25.vs_gold.difference.value == pytest.approx(-2 / 12)
    assert bm25.gap.share.value == pytest.approx(10 / 12)
    assert arm(block, "gold").gap is None
    assert arm(block, "none").vs_none is None


def test_numbers_are_those_of_the_statistics_room(build: Callable[..., list[Trial]]) -> None:
    rng = random.Random(1)
    trials = build(lambda t, a, e: float(rng.random() < 0.6), epochs=3)
    rewards = {
        label: [
            [t.record.outcome.reward for t in trials if t.task == task and t.arm.label == label]
            for task in TASKS
        ]  # type: ignore[union-attr]
        for label in ARMS
    }
    bm25 = arm(only(summarise(trials)), "routed-bm25")
    rate = clustered_rate(rewards["routed-bm25"])  # type: ignore[arg-type]
    against = difference(rewards["routed-bm25"], rewards["none"], 0)  # type: ignore[arg-type]
    assert rate.interval is not None
    assert against.interval is not None
    assert bm25.vs_none is not None
    assert (bm25.success.low, bm25.success.high) == (rate.interval.low, rate.interval.high)
    assert (bm25.vs_none.difference.low, bm25.vs_none.difference.high) == (
        against.interval.low,
        against.interval.high,
    )
    assert bm25.vs_none.p_value == against.p_value


def test_the_order_of_trials_does_not_matter(build: Callable[..., list[Trial]]) -> None:
    rng = random.Random(2)
    trials = build(lambda t, a, e: float(rng.random() < 0.5), epochs=2)
    expected = summarise(trials)
    for _ in range(3):
        rng.shuffle(trials)
        assert summarise(trials) == expected


def test_the_funnel_counts_every_scored_trial_once(build: Callable[..., list[Trial]]) -> None:
    stages = dict(zip(TASKS, FUNNEL * 2, strict=True))

    def behave(task: str, label: str, epoch: int) -> dict[str, object]:
        stage = stages[task]
        return {"reward": float(stage == "passed"), "funnel": stage}

    bm25 = arm(only(summarise(build(behave, epochs=2))), "routed-bm25")
    assert dict(bm25.funnel) == dict.fromkeys(FUNNEL, 4)
    assert sum(bm25.funnel.values()) == bm25.scored == 24


def test_excluded_and_pending_trials_stay_in_every_count_and_bound_the_estimate(
    build: Callable[..., list[Trial]], make_pending: MakePending
) -> None:
    def behave(task: str, label: str, epoch: int) -> dict[str, object] | None:
        if (task, label) == ("t00", "gold"):
            return {"cause": "infra:start", "detail": "no container"}
        return None if (task, label) == ("t01", "gold") else {"reward": 1.0}

    gold = arm(only(summarise([*build(behave), make_pending("t01", "gold")])), "gold")
    assert (gold.planned, gold.scored, gold.excluded, gold.pending) == (12, 10, 1, 1)
    assert gold.success.value == 1
    assert gold.success.tasks == 10
    assert gold.lowest == pytest.approx(10 / 12)
    assert gold.highest == 1
    (cause,) = gold.exclusions
    assert (cause.cause, cause.count, cause.example, cause.detail) == (
        "infra:start",
        1,
        "t00@gold",
        "no container",
    )


def test_arms_are_compared_on_common_tasks_and_the_others_are_named(
    build: Callable[..., list[Trial]],
) -> None:
    def behave(task: str, label: str, epoch: int) -> dict[str, object]:
        lost = (label, task) in {("none", "t02"), ("routed-bm25", "t05")}
        return {"cause": "api"} if lost else {"reward": planted(task, label, epoch)}

    block = only(summarise(build(behave)))
    bm25 = arm(block, "routed-bm25")
    assert bm25.vs_none is not None
    assert bm25.vs_none.difference.tasks == 10
    assert bm25.vs_none.missing == ("t02", "t05")
    assert any("bm25 is compared without 2 tasks: t02, t05" in flag for flag in block.flags)
    assert "(10 of 12 tasks x 1 trial)" in block.headline[0]


@pytest.mark.parametrize(
    ("lost", "flagged", "complete"), [(0, False, True), (1, False, True), (3, True, False)]
)
def test_unequal_exclusions_raise_a_flag_and_fail_the_gate_above_two_percent(
    build: Callable[..., list[Trial]], lost: int, flagged: bool, complete: bool
) -> None:
    missing = [(task, epoch) for task in TASKS for epoch in range(1, 11)][:lost]

    def behave(task: str, label: str, epoch: int) -> dict[str, object]:
        return {"cause": "api"} if label == "gold" and (task, epoch) in missing else {"reward": 1.0}

    summary = summarise(build(behave, epochs=10))
    assert any("exclusion rates differ" in flag for flag in only(summary).flags) == flagged
    assert summary.complete == complete


def test_models_and_agents_are_never_pooled(
    build: Callable[..., list[Trial]], make_record: Make, make_trial: MakeTrial
) -> None:
    trials = build(planted)
    other_agent = [
        make_trial(make_record(t, a, agent="skill_agent"), run="second") for t, a in product(TASKS, ARMS)
    ]
    other_model = [make_trial(make_record(t, a), run="third", model="x/y") for t, a in product(TASKS, ARMS)]
    blocks = summarise([*trials, *other_agent, *other_model]).blocks
    assert [(b.model, b.agent, sum(a.planned for a in b.arms)) for b in blocks] == [
        ("none/none", "oracle", 36),
        ("none/none", "skill_agent", 36),
        ("x/y", "oracle", 36),
    ]


def test_one_router_with_two_depths_is_two_arms_that_share_their_baselines(
    build: Callable[..., list[Trial]], make_record: Make, make_trial: MakeTrial
) -> None:
    deeper = [make_trial(make_record(task, "routed-bm25", k=10, reward=1.0), run="deeper") for task in TASKS]
    block = only(summarise([*build(planted), *deeper]))
    assert [found.arm for found in block.arms] == ["none", "gold", "routed-bm25 k=10", "routed-bm25 k=5"]
    assert arm(block, "routed-bm25 k=10").success.value == 1
    assert arm(block, "routed-bm25 k=5").success.value == pytest.approx(10 / 12)
    assert all(found.vs_none is not None for found in block.arms[1:])


def test_trials_that_died_before_their_record_belong_to_the_arm_of_their_run(
    build: Callable[..., list[Trial]], make_record: Make, make_trial: MakeTrial
) -> None:
    deeper = [make_trial(make_record(task, "routed-bm25", k=10), run="deeper") for task in TASKS[1:]]
    died = Trial(
        "quickstart",
        "t00",
        deeper[0].arm,
        "none/none",
        1,
        "excluded",
        "t00@routed-bm25",
        Path("x"),
        "deeper",
        "api",
        "",
    )
    block = only(summarise([*build(planted), *deeper, died]))
    assert (arm(block, "routed-bm25 k=10").planned, arm(block, "routed-bm25 k=10").excluded) == (12, 1)
    assert arm(block, "routed-bm25 k=5").excluded == 0


def test_gold_is_the_baseline_that_shows_skills_in_the_same_way(
    build: Callable[..., list[Trial]], make_record: Make, make_trial: MakeTrial
) -> None:
    full = [
        make_trial(make_record(t, a, disclosure="full", reward=0.0), run="full")
        for t, a in product(TASKS, ("gold", "routed-bm25"))
    ]
    block = only(summarise([*build(planted), *full]))
    found = arm(block, "routed-bm25 disclosure=full")
    assert found.vs_gold is not None
    assert found.vs_gold.baseline == "gold disclosure=full"


def test_several_routers_are_corrected_together(build: Callable[..., list[Trial]]) -> None:
    def behave(task: str, label: str, epoch: int) -> float:
        return float(label in {"gold", "routed-a"} or (label == "routed-b" and task < "t06"))

    block = only(summarise(build(behave, arms=("none", "gold", "routed-a", "routed-b"))))
    first, second = arm(block, "routed-a").vs_none, arm(block, "routed-b").vs_none
    assert first is not None
    assert second is not None
    assert (first.p_value, second.p_value) == (2 / 2**12, 2 / 2**6)
    assert (first.p_adjusted, second.p_adjusted) == (2 * 2 / 2**12, 2 / 2**6)
    assert first.family == 2
    assert block.headline[0].startswith("a closes 100%")


def test_routing_is_scored_once_per_task_whatever_the_epochs_and_models(
    make_record: Make, make_trial: MakeTrial
) -> None:
    def record(task: str, epoch: int) -> TrialRecord:
        hit = float(task != "t00")
        gold = ("g1",) if task < "t03" else ("g1", "g2")
        lost = task == "t11"
        metrics = {} if lost else {"Hit@1": hit, "nDCG@10": hit / 2}
        return make_record(
            task, "routed-bm25", epoch, gold=gold, in_pool=() if lost else gold, metrics=metrics
        )

    one = [make_trial(record(task, 1)) for task in TASKS]
    many = [
        make_trial(record(task, epoch), run=model, model=model)
        for task, epoch, model in product(TASKS, range(1, 4), ("m1", "m2"))
    ]
    (found,) = summarise(one).routing
    assert summarise(many).routing == (found,)
    assert (found.planned, found.routed, found.not_in_pool) == (12, 12, ("t11",))
    strata = {stratum.name: stratum for stratum in found.strata}
    assert {name: stratum.tasks for name, stratum in strata.items()} == {"all": 11, "single": 3, "multi": 8}
    hit, ndcg = strata["all"].metrics["Hit@1"], strata["all"].metrics["nDCG@10"]
    assert (hit.value, ndcg.value, hit.tasks) == (pytest.approx(10 / 11), pytest.approx(5 / 11), 11)
    rate = clustered_rate([[0.0], *[[1.0]] * 10]).interval
    assert rate is not None
    assert (hit.low, hit.high) == (rate.low, rate.high)
    assert strata["single"].metrics["Hit@1"].value == pytest.approx(2 / 3)


def test_what_was_given_is_scored_at_its_depth_though_no_record_holds_it(
    make_record: Make, make_trial: MakeTrial
) -> None:
    """Of two gold skills one is third, one eighth: seven given hold one of them, eight both."""

    def trial(task: str, k: int) -> Trial:
        record = make_record(task, "routed-bm25", 1, k=k, gold=("g1", "g2"), metrics={"Hit@1": 0.0})
        names = ("a", "b", "g1", "c", "d", "e", "f", "g2" if task != "t11" else "h")
        ranking = tuple(RankedEntry(id=name, score=-n) for n, name in enumerate(names))
        return make_trial(
            record.model_copy(update={"route": record.route.model_copy(update={"ranking": ranking})}),
            run=f"k={k}",
        )

    (found,) = summarise([trial(task, k) for task, k in product(TASKS, (7, 8))]).routing
    metrics = found.strata[0].metrics
    assert found.depths == (7, 8)
    assert {name: metrics[name].value for name in ("Recall@7", "FullCoverage@7", "Hit@1")} == {
        "Recall@7": 0.5,
        "FullCoverage@7": 0,
        "Hit@1": 0,
    }
    assert metrics["Recall@8"].value == pytest.approx(23 / 24)
    assert metrics["FullCoverage@8"].value == pytest.approx(11 / 12)
    assert (metrics["FullCoverage@8"].tasks, metrics["FullCoverage@8"].low is not None) == (12, True)


def test_a_task_whose_routing_is_unknown_is_counted_as_such(
    build: Callable[..., list[Trial]], make_pending: MakePending
) -> None:
    trials = build(planted, tasks=TASKS[1:])
    (found,) = summarise([*trials, make_pending("t00", "routed-bm25")]).routing
    assert (found.planned, found.routed) == (12, 11)


def test_loads_are_scored_against_gold_per_task(build: Callable[..., list[Trial]]) -> None:
    def behave(task: str, label: str, epoch: int) -> dict[str, object]:
        loaded = {"t00": (), "t01": ("gt/t01", "other")}.get(task, (f"gt/{task}",))
        return {"loaded": loaded}

    block = only(summarise(build(behave)))
    bm25 = arm(block, "routed-bm25")
    assert bm25.load_recall.value == pytest.approx(11 / 12)
    assert bm25.load_recall.tasks == 12
    assert bm25.load_precision.value == pytest.approx(10.5 / 11)
    assert bm25.load_precision.tasks == 11
    assert arm(block, "none").load_recall.reason == "no skills were installed"


def test_loads_of_an_agent_that_is_told_of_no_skills_are_not_measured(
    build: Callable[..., list[Trial]],
) -> None:
    blind = arm(only(summarise(build(lambda *_: {"routed": ("g",), "shown": (), "blind": True}))), "gold")
    assert (blind.load_recall.value, blind.load_recall.reason) == (None, "loads could not be observed")
    idle = arm(only(summarise(build(lambda *_: {"routed": ("g",)}))), "gold")
    assert (idle.load_recall.value, idle.load_precision.value) == (0, None)


def test_an_arm_whose_agent_is_told_of_no_skills_is_marked(build: Callable[..., list[Trial]]) -> None:
    told = only(summarise(build(lambda *_: {"routed": ("g",)})))
    untold = only(summarise(build(lambda *_: {"routed": ("g",), "shown": (), "blind": True})))
    assert (arm(told, "gold").blind, arm(untold, "gold").blind) == (False, True)
    assert stages(told.arms)["failed"] == "loaded, failed"
    assert list(stages(untold.arms).values()) == ["passed", "given, failed", "not routed", "not in pool"]


def test_trials_that_all_died_early_have_the_agent_that_was_asked_for_or_none() -> None:
    def died(agent: str | None) -> str:
        gold, name = Arm("gold", None), "t@gold"
        trial = Trial("s", "t", gold, "m", 1, "excluded", name, Path("x"), "r", "infra:build", agent=agent)
        return only(summarise([trial])).agent

    assert (died("nop"), died(None)) == ("nop", "not started")


def test_unknown_cost_is_counted_and_not_zero(build: Callable[..., list[Trial]]) -> None:
    def behave(task: str, label: str, epoch: int) -> dict[str, object]:
        return {
            "spend": Spend()
            if task < "t04"
            else Spend(cost_usd=0.25, total_tokens=0, agent_seconds=1, verify_seconds=2)
        }

    spending = arm(only(summarise(build(behave))), "none").spending
    assert (spending.cost_usd.sum, spending.cost_usd.known, spending.cost_usd.trials) == (2.0, 8, 12)
    assert spending.tokens.sum == 0
    assert spending.seconds.sum == 24
    unknown = arm(only(summarise(build(lambda *_: {"spend": Spend()}))), "none").spending.cost_usd
    assert (unknown.sum, unknown.known) == (None, 0)


def test_repeated_trials_give_pass_at_k_for_every_k_of_the_plan(build: Callable[..., list[Trial]]) -> None:
    block = only(summarise(build(lambda t, a, e: float(e == 1), epochs=3)))
    found = {(p.kind, p.k): p.estimate.value for p in arm(block, "gold").passes}
    assert found == pytest.approx(
        {("any", 1): 1 / 3, ("any", 2): 2 / 3, ("any", 3): 1, ("all", 2): 0, ("all", 3): 0}
    )
    assert not arm(only(summarise(build(planted))), "gold").passes


def test_a_lost_trial_removes_no_k_but_bounds_it(build: Callable[..., list[Trial]]) -> None:
    def behave(task: str, label: str, epoch: int) -> dict[str, object]:
        return {"cause": "api"} if (task, epoch) == ("t00", 1) else {"reward": 1.0}

    passes = {(p.kind, p.k): p for p in arm(only(summarise(build(behave, epochs=3))), "gold").passes}
    full = passes["all", 3]
    assert {k for _, k in passes} == {1, 2, 3}
    assert (full.estimate.value, full.short) == (None, ("t00",))
    assert (full.lowest, full.highest) == (pytest.approx(11 / 12), 1)


def test_fractional_rewards_are_means_and_not_passes(build: Callable[..., list[Trial]]) -> None:
    block = only(summarise(build(lambda t, a, e: 0.5)))
    assert block.fractional
    assert arm(block, "gold").success.value == 0.5
    assert all(task.passed == 0 for task in arm(block, "gold").tasks)


def test_sandboxes_are_counted_and_mixed_ones_flagged(build: Callable[..., list[Trial]]) -> None:
    block = only(summarise(build(lambda t, a, e: {"sandbox": "docker-sdk" if t < "t03" else "local"})))
    assert block.sandboxes == {"docker-sdk": 9, "local": 27}
    assert any("different sandboxes: docker-sdk (9), local (27)" in flag for flag in block.flags)


@pytest.mark.parametrize(
    ("tasks", "words"),
    [(1, "no clear difference"), (4, "with 4 tasks no result can reach p < 0.05"), (12, "12 tasks are few")],
)
def test_small_samples_are_said_to_be_small(
    build: Callable[..., list[Trial]], tasks: int, words: str
) -> None:
    block = only(summarise(build(lambda t, a, e: float(a != "none"), tasks=TASKS[:tasks])))
    assert any(words in line for line in (*block.headline, *block.flags))
    if tasks < 6:
        assert "no clear difference" in block.headline[0]


def test_harm_no_gap_and_no_baseline_each_have_their_sentence(build: Callable[..., list[Trial]]) -> None:
    def sentence(behave: Callable[..., object], arms: tuple[str, ...] = ARMS) -> str:
        return only(summarise(build(behave, arms=arms))).headline[0]

    assert "worse than no skills, -1.00" in sentence(lambda t, a, e: float(a == "none"))
    assert "better than no skills, +1.00" in sentence(
        lambda t, a, e: float(a != "none"), ("none", "routed-bm25")
    )
    not_estimable = sentence(lambda t, a, e: float(a == "routed-bm25"))
    assert "share of the gold gap not estimable, gold skills did no better" in not_estimable
    assert sentence(lambda t, a, e: 1.0, ("gold",)).startswith("gold: success 1.00 [")
    assert "gold: better than no skills" in sentence(planted, ("none", "gold"))
    nothing = sentence(lambda t, a, e: {"cause": "api"}, ("none", "gold"))
    assert nothing == "none: not measured: all 12 trials excluded."


def test_a_summary_of_real_logs_holds_every_planned_trial(mixed_log: Path) -> None:
    summary = summary_of([mixed_log])
    assert (summary.planned, summary.scored, summary.excluded, summary.pending) == (18, 15, 3, 0)
    assert not summary.complete
    block = only(summary)
    assert block.agent == "oracle"
    assert [found.planned for found in block.arms] == [6, 6, 6]
    assert all(math.isfinite(found.lowest) for found in block.arms)
    assert summary.logs.read == (str(mixed_log),)


def test_a_summary_survives_its_own_json(mixed_log: Path) -> None:
    summary = summary_of([mixed_log])
    assert Summary.model_validate_json(summary.model_dump_json()) == summary
