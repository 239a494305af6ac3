"""Real logs, written by Inspect itself from a tiny task whose scorer writes planned records."""

from __future__ import annotations

import gc
import warnings
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Protocol

import pytest

from workbench.core.record import (
    Exposure,
    Load,
    Outcome,
    RouteInfo,
    Spend,
    TrialRecord,
)
from workbench.core.types import FunnelStage
from workbench.reporting.trial import Trial, split_id

Behave = Callable[[str, str, int], TrialRecord | Exception]
"""(task, arm label, epoch) -> the record to write, or what goes wrong before scoring."""


class MakeRecord(Protocol):
    def __call__(
        self, task: str, arm: str, epoch: int = 1, reward: float | None = 1.0, **changes: Any
    ) -> TrialRecord: ...


class RunEval(Protocol):
    def __call__(self, folder: Path, behave: Behave, **options: Any) -> Path: ...


def _record(task: str, arm: str, epoch: int = 1, reward: float | None = 1.0, **changes: Any) -> TrialRecord:
    """A record; `changes` are any of the keys looked up below."""
    _, treatment = split_id(f"{task}@{arm}")
    gold = tuple(changes.get("gold", (f"gt/{task}",)))
    router = treatment.router
    stage: FunnelStage = changes.get("funnel", "passed" if reward == 1 else "failed")
    cause = changes.get("cause")
    return TrialRecord(
        suite=changes.get("suite", "quickstart"),
        task=task,
        epoch=epoch,
        condition=treatment.condition,
        router=router,
        model=changes.get("model", "none/none"),
        agent=changes.get("agent", "oracle"),
        seed=0,
        sandbox=changes.get("sandbox", "local"),
        route=RouteInfo(
            router=router,
            router_fingerprint=None if router is None else f"recipe-of-{router}",
            pool=changes.get("pool", "quickstart"),
            pool_fingerprint="feed" * 16,
            pool_size=44,
            index_fingerprint=None,
            k=changes.get("k", 5),
            gold=gold,
            gold_in_pool=tuple(changes.get("in_pool", gold)),
            metrics=changes.get("metrics", {} if router is None else {"Hit@1": 1.0, "MRR@10": 1.0}),
        ),
        exposure=Exposure(
            disclosure=changes.get("disclosure", "progressive"),
            routed=tuple(changes.get("routed", ())),
            shown=tuple(changes.get("shown", changes.get("routed", ()))),
            blind=bool(changes.get("blind", False)),
            loads=tuple(Load(id=i, tier="body", via="tool") for i in changes.get("loaded", ())),
        ),
        outcome=Outcome(
            status="scored" if cause is None else "excluded",
            reward=reward if cause is None else None,
            cause=cause,
            detail=changes.get("detail", ""),
            funnel=stage if cause is None else None,
        ),
        spend=changes.get("spend", Spend(total_tokens=100, cost_usd=0.5, agent_seconds=2.0)),
    )


def _trial(record: TrialRecord, run: str = "run", model: str = "none/none") -> Trial:
    status = record.outcome.status
    return Trial(
        suite=record.suite,
        task=record.task,
        arm=record.arm,
        model=model,
        epoch=record.epoch,
        status=status,
        sample_id=f"{record.task}@{record.arm.label}",
        log=Path("results/run/log.eval"),
        run=run,
        cause=record.outcome.cause,
        detail=record.outcome.detail,
        record=record,
        route=record.route,
    )


def _pending(task: str, arm: str, epoch: int = 1) -> Trial:
    _, treatment = split_id(f"{task}@{arm}")
    return Trial(
        "quickstart", task, treatment, "none/none", epoch, "pending", f"{task}@{arm}", Path("log.eval"), "run"
    )


@pytest.fixture
def make_record() -> MakeRecord:
    return _record


@pytest.fixture
def make_trial() -> Callable[..., Trial]:
    return _trial


@pytest.fixture
def make_pending() -> Callable[..., Trial]:
    return _pending


def _run_eval(folder: Path, behave: Behave, **options: Any) -> Path:
    """Run Inspect on ``tasks`` x ``arms`` x ``epochs`` and return its log.

    Options: tasks, arms, epochs, name, scorer, log_format, task_args, settings (of `eval`).
    """
    from inspect_ai import Task, eval, task
    from inspect_ai.dataset import Sample
    from inspect_ai.scorer import Score, Scorer, mean, scorer
    from inspect_ai.solver import Generate, Solver, TaskState, solver

    tasks: Iterable[str] = options.get("tasks", ("a", "b"))
    arms: Sequence[str] = options.get("arms", ("none", "gold", "routed-bm25"))

    def planned(state: TaskState) -> TrialRecord | Exception:
        name, arm = split_id(str(state.sample_id))
        return behave(name, arm.label, state.epoch)

    @solver
    def act() -> Solver:
        async def solve(state: TaskState, generate: Generate) -> TaskState:
            if isinstance(outcome := planned(state), Exception):
                raise outcome
            return state

        return solve

    @scorer(metrics={"reward": [mean()]}, name=options.get("scorer", "workbench"))
    def write() -> Scorer:
        async def score(state: TaskState, target: Any) -> Score:
            record = planned(state)
            assert isinstance(record, TrialRecord)
            reward = float("nan") if record.outcome.reward is None else record.outcome.reward
            return Score(value={"reward": reward}, metadata={"record": record.model_dump(mode="json")})

        return score

    @task(name=options.get("name", "quickstart"))
    def suite(router: str = "bm25", verifier: str | None = None) -> Task:
        samples = [Sample(input="do it", id=f"{name}@{arm}") for name in tasks for arm in arms]
        return Task(
            dataset=samples,
            solver=act(),
            scorer=write(),
            epochs=options.get("epochs", 1),
            fail_on_error=False,
        )

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Inspect leaves streams to the garbage collector
        (log,) = eval(
            suite(**options.get("task_args", {})),
            model="none",
            display="none",
            log_dir=str(folder),
            log_format=options.get("log_format", "eval"),
            **options.get("settings", {}),
        )
        gc.collect()
    return Path(log.location)


@pytest.fixture(scope="session")
def run_eval() -> RunEval:
    return _run_eval


@pytest.fixture(scope="session")
def mixed_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two tasks, three arms, three epochs: scored trials, an excluded one, and two that raised."""
    from workbench.core.errors import InfrastructureError

    def behave(task: str, arm: str, epoch: int) -> TrialRecord | Exception:
        if (task, arm, epoch) == ("a", "gold", 2):
            return InfrastructureError("infra:start", "no 'container' after 60 s")
        if (task, arm, epoch) == ("b", "none", 3):
            return RuntimeError("boom\nand more")
        if (task, arm, epoch) == ("b", "routed-bm25", 1):
            return _record(task, arm, epoch, cause="verifier_timeout", detail="600 s")
        return _record(task, arm, epoch, float(arm != "none"))

    return _run_eval(tmp_path_factory.mktemp("mixed"), behave, epochs=3)


@pytest.fixture(scope="session")
def complete_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Eight tasks, three arms, all scored; gold and bm25 always pass. One name fits no code page."""

    def behave(task: str, arm: str, epoch: int) -> TrialRecord:
        return _record(task, arm, epoch, float(arm != "none"))

    folder = tmp_path_factory.mktemp("complete")
    return _run_eval(folder, behave, tasks=[*(f"t{n}" for n in range(7)), "snow\u2603man"])
