"""The lock of a sweep: written whole, read back, and what it says has changed."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from workbench.cli._sweep_fence import LOCK
from workbench.cli._sweep_lock import (
    Lock,
    LockedJob,
    LockedModel,
    LockedTask,
    changes,
    moved_endpoints,
    read_lock,
    refuse_doubles,
    write_lock,
)
from workbench.cli._sweep_run import Prepared
from workbench.cli._sweep_spec import Job
from workbench.core.errors import UsageError
from workbench.core.types import ConditionName


def job(version: str = "1", pool: str = "aa", router: str = "bb") -> LockedJob:
    return LockedJob(
        label="bm25 k=5",
        model="some/model",
        agent="auto",
        arguments={"router": "bm25", "tasks": ["a", "b"]},
        version=version,
        pool="mine",
        pool_fingerprint=pool,
        routers={"bm25": router},
        generate={},
        settings={},
        limits={},
        arms={"bm25": 2},
    )


def lock(*jobs: LockedJob, **other: Any) -> Lock:
    parts: dict[str, Any] = {
        "suite": "mine",
        "trials": 3,
        "seed": 0,
        "python": "3.11.9",
        "platform": "Linux",
        "packages": {"inspect-ai": "0.3"},
        "models": {"some/model": LockedModel(id="some/model", endpoint=None, generate={"temperature": 0})},
        "tasks": {"a": LockedTask(digest="a1", image=None), "b": LockedTask(digest="b1", image="i1")},
        "jobs": jobs,
    }
    return Lock(**{**parts, **other})


def test_a_lock_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    now = lock(job())
    assert write_lock(tmp_path, now) == []
    assert read_lock(tmp_path) == now
    assert write_lock(tmp_path, now) == []


@pytest.mark.parametrize("text", ["", "{", '{"schema_version": 1, "jobs": []}', "\udcff"])
def test_a_lock_that_cannot_be_read_is_written_anew(tmp_path: Path, text: str) -> None:
    (tmp_path / LOCK).write_bytes(text.encode("utf-8", "surrogateescape"))
    assert read_lock(tmp_path) is None
    assert write_lock(tmp_path, lock(job())) == []
    assert read_lock(tmp_path) == lock(job())


@pytest.mark.parametrize(
    ("now", "said"),
    [
        (lock(job("2", pool="cc")), "bm25 k=5 (pool mine)"),
        (lock(job("2", router="cc")), "bm25 k=5 (router bm25)"),
        (lock(job("2"), tasks={"b": LockedTask(digest="b1", image="i2")}), "bm25 k=5 (task b)"),
        (lock(job("2"), workbench="0.0.0"), "bm25 k=5 (workbench)"),
        (lock(job("2")), "bm25 k=5 (suite, prompt or sandbox)"),
    ],
)
def test_a_job_that_runs_anew_is_told_with_what_has_changed(now: Lock, said: str) -> None:
    assert list(changes(lock(job()), now)) == [said]


def test_what_does_not_change_an_identity_and_new_jobs_are_no_change() -> None:
    added = job("9").model_copy(update={"arguments": {"router": "random"}})
    later = lock(job(), added, trials=5, packages={"inspect-ai": "0.4"})
    assert list(changes(lock(job()), later)) == []


def test_an_endpoint_that_has_moved_is_told_and_kept_in_the_lock(tmp_path: Path) -> None:
    """The trials of one endpoint were once said to be of the next."""

    def at(endpoint: str) -> Lock:
        model = LockedModel(id="some/model", endpoint=endpoint, generate={})
        return lock(job(), models={"some/model": model})

    assert list(moved_endpoints(tmp_path, at("http://one"))) == []
    write_lock(tmp_path, at("http://one"))
    (line,) = moved_endpoints(tmp_path, at("http://two"))
    assert "some/model was called at http://one before" in line
    for endpoint in ("http://two", "http://two", "http://three"):
        write_lock(tmp_path, at(endpoint))
    now = read_lock(tmp_path)
    assert now is not None
    assert now.models["some/model"].endpoint == "http://three"
    assert now.models["some/model"].earlier == ("http://one", "http://two")


def test_other_settings_of_a_provider_make_another_job() -> None:
    """Inspect ran them again, while the forecast said that all was done."""
    other = job().model_copy(update={"settings": {"timeout": 200}})
    assert other.place != job().place


def prepared(
    model: str = "none", agent: str = "oracle", router: str | None = None, pool: str | None = None
) -> Any:
    """A job without its Inspect task, which nothing here asks for."""
    condition: ConditionName = "gold" if router is None else "routed"
    return Prepared(Job(model, agent, condition, "progressive", router, None, pool), cast(Any, None))


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        ({}, {"model": "none/none"}, "models: 'none' and 'none/none' are the same; leave one out"),
        ({}, {"agent": "auto"}, "agents: 'oracle' and 'auto' are the same on model 'none'"),
        ({"router": "bm25"}, {"router": "mine"}, "routers: 'bm25' and 'mine' are the same on model"),
        (
            {"router": "bm25", "pool": "p"},
            {"router": "bm25", "pool": "pools/p.yaml"},
            "pools: 'p' and 'pools/p.yaml' are the same on model 'none'",
        ),
    ],
)
def test_one_thing_under_two_names_is_refused(first: Any, second: Any, said: str) -> None:
    parts = [prepared(**first), prepared(**second)]
    jobs = [
        job().model_copy(
            update={
                "model": "none/none",
                "agent": part.job.agent,
                "routers": {} if part.job.router is None else {part.job.router: "same recipe"},
            }
        )
        for part in parts
    ]
    with pytest.raises(UsageError) as caught:
        refuse_doubles(parts, lock(*jobs))
    assert str(caught.value).startswith(said)
    refuse_doubles(parts[:1], lock(*jobs[:1]))


def test_routers_that_differ_and_agents_that_differ_are_two() -> None:
    parts = [prepared(router="bm25"), prepared(router="mine"), prepared(agent="nop", router="bm25")]
    routers = ({"bm25": "one"}, {"mine": "two"}, {"bm25": "one"})
    jobs = [job().model_copy(update={"routers": found}) for found in routers]
    refuse_doubles(parts, lock(*jobs))
