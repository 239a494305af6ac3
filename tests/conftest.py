"""Shared fixtures and the switches that decide which tests may be skipped."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

REQUIRE_DOCKER = "WORKBENCH_REQUIRE_DOCKER"

# As many tests run as there are cores; threads of their own would only wait for each other.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# A busy machine is no failure, and the same commit meets the same examples everywhere.
settings.register_profile("workbench", deadline=None, derandomize=True)
settings.load_profile("workbench")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--run-paid", action="store_true", help="run tests that call a paid API")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    reason = None if config.getoption("--run-paid") else pytest.mark.skip(reason="paid: give --run-paid")
    for item in items:
        if reason is not None and "paid" in item.keywords:
            item.add_marker(reason)


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests never read or write the user's cache; one cache serves a whole session."""
    shared = Path(os.environ.get("WORKBENCH_TEST_CACHE") or tmp_path_factory.getbasetemp() / "cache")
    monkeypatch.setenv("SKILL_WORKBENCH_CACHE", str(shared))
    monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")


@pytest.fixture
def docker_engine() -> None:
    """A running engine, or a skip with the reason; with WORKBENCH_REQUIRE_DOCKER=1 a failure."""
    import docker

    try:
        client = docker.from_env(timeout=10)
        client.ping()
        client.close()
    except docker.errors.DockerException as error:
        message = f"no Docker engine: {error}"
        if os.environ.get(REQUIRE_DOCKER) == "1":
            pytest.fail(message)
        # Containers cannot be had without an engine, and the rest can be tested. The skip names what failed;
        # `.ci/run` sets the variable, so that there it is a failure.
        pytest.skip(message)
