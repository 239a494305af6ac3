"""An engine that goes away in the middle of a run and comes back."""

from __future__ import annotations

import contextlib
import os
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from docker.errors import APIError

from tests.integration.evaluation.conftest import Bench
from tests.servers.relay import Relay
from workbench.sandboxing import labels
from workbench.sandboxing.availability import engine_url
from workbench.sandboxing.engine import Engine

pytestmark = pytest.mark.docker
TIME = f"1.{os.getpid()}"
"""Seconds that an agent works, as they stand in its command."""


@pytest.fixture
def relay(tmp_path: Path, docker_engine: None) -> Iterator[Relay]:
    url = engine_url()
    if not url.startswith("unix://"):
        # The test takes the engine's socket away and gives it back, by a relay in front of it. An engine at
        # tcp:// has none; CI's has, so nothing is skipped there, and F25 is held on a fake engine besides.
        pytest.skip(
            "no unix socket of the engine to take away (F25 without one: unit/sandboxing/test_faults)"
        )
    relay = Relay(tmp_path / "engine.sock", url.removeprefix("unix://"))
    yield relay
    relay.down()


def at_work(engine: Engine) -> dict[str, Any] | None:
    """The engine's record of the container in which the agent works now."""
    found: Any = engine.blocking(lambda api: api.containers(filters={"label": labels.TRIAL}))
    for record in found:
        with contextlib.suppress(APIError):  # somebody else's, and gone meanwhile
            told: Any = engine.blocking(lambda api, id=record["Id"]: api.top(id, "-eo pid,args"))  # type: ignore[misc]
            if any(row[-1] == f"sleep {TIME}" for row in told["Processes"] or ()):
                return dict(record)
    return None


def replace(engine: Engine, record: dict[str, Any]) -> str:
    """Take a container away and start another one under its name."""
    name = str(record["Names"][0]).lstrip("/")

    def work(api: Any) -> str:
        api.remove_container(record["Id"], force=True)
        made = str(api.create_container(record["ImageID"], ["sleep", "600"], name=name)["Id"])
        api.start(made)
        return made

    return engine.blocking(work, repeatable=False)


def test_F25_F27_an_engine_that_restarts_holds_the_queue_and_nothing_is_lost_or_counted_twice(
    docker: Bench,
    suite_of,  # type: ignore[no-untyped-def]
    relay: Relay,
) -> None:
    task = suite_of(docker.folder, f"sleep {TIME}\necho done > /app/done.txt\n")
    (task / "tests" / "test.sh").write_text(
        "#!/bin/bash\ngrep -c done /app/done.txt > /logs/verifier/reward.txt\n"
    )
    docker.env["DOCKER_HOST"] = relay.url
    engine = Engine()
    run = docker.start("eval", "workbench/own", "--conditions", "none,gold", "--max-samples", "1")
    while (found := at_work(engine)) is None:
        assert run.poll() is None
        time.sleep(0.1)
    relay.down()
    decoy = replace(engine, found)
    try:
        time.sleep(1.5)
        assert run.poll() is None
        relay.up()
        run.wait(timeout=60)
        (first,) = docker.logs()
        outcomes = {name: record.outcome for name, record in docker.records(first).items()}
        assert sorted((o.status, o.cause or "", o.reward) for o in outcomes.values()) == [
            ("excluded", "infra:engine", None),
            ("scored", "", 1.0),
        ]
        docker.inspect("eval-retry", first.location.removeprefix("file://"))
        second = docker.logs()[-1]
        assert Counter(sample.id for sample in second.samples or ()) == {"only@none": 1, "only@gold": 1}
        assert {record.outcome.reward for record in docker.records(second).values()} == {1.0}
        kept = {sample.uuid for sample in first.samples or () if sample.error is None}
        assert kept < {sample.uuid for sample in second.samples or ()}
        assert at_work(engine) is None
    finally:
        engine.blocking(lambda api: api.remove_container(decoy, force=True), repeatable=False)
