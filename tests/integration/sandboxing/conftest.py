"""Images and containers for the tests that need an engine; the base comes from Debian packages."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import anyio
import pytest

from workbench.sandboxing.availability import engine_status
from workbench.sandboxing.base import Bases
from workbench.sandboxing.config import BuildPlan, DockerConfig
from workbench.sandboxing.debian import DEBIAN_PYTHON
from workbench.sandboxing.engine import Engine
from workbench.sandboxing.fleet import Fleet
from workbench.sandboxing.images import build, plan
from workbench.sandboxing.limits import unenforced
from workbench.sandboxing.podman import NO_ALLOW_LIST
from workbench.sandboxing.providers.docker import DockerSandbox

ROOT_IMAGE = f"FROM {DEBIAN_PYTHON}\nWORKDIR /job\n"
USER_IMAGE = f"""FROM {DEBIAN_PYTHON}
RUN adduser --disabled-password --gecos '' agent
USER agent
WORKDIR /home/agent
"""


@pytest.fixture(scope="session")
def engine() -> Engine:
    """The engine, with the base image in it; without one a skip, or a failure where it is required."""
    status = engine_status()
    if not status.ok:
        (pytest.fail if os.environ.get("WORKBENCH_REQUIRE_DOCKER") == "1" else pytest.skip)(status.reason)
    engine = Engine(status.url)
    anyio.run(Bases(engine).substitute)
    return engine


@pytest.fixture(scope="session")
def allow_lists(engine: Engine) -> None:
    """An engine that holds a container to an allow-list, as Docker does.

    Podman cannot, and the provider refuses such a task there: test_podman's
    test_an_allow_list_is_refused_with_the_reason. So on Podman there is no gateway to look at.
    """
    if engine.podman:
        pytest.skip(f"nothing to look at, for it is refused (test_podman): {NO_ALLOW_LIST}")


@pytest.fixture(scope="session")
def enforced_limits(engine: Engine) -> None:
    """An engine that holds containers to their limits, as any does that has cgroups.

    A rootless one with cgroup v1 cannot, and says so: test_limits. What these tests do would take the memory
    and the processes of the whole machine there.
    """
    lacking = unenforced(engine.blocking(engine.record))
    if lacking:
        pytest.skip(f"would take all that this machine has: no limit on {', '.join(lacking)} (test_limits)")


@pytest.fixture(scope="session")
def planned(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], BuildPlan]:
    """Builds the image of a Dockerfile's text."""

    def planned(text: str) -> BuildPlan:
        folder = tmp_path_factory.mktemp("image")
        (folder / "Dockerfile").write_text(text)
        made = plan(folder)
        result = anyio.run(lambda: build([made], engine=engine))[made.tag]
        assert result.ok, result.error
        return made

    return planned


@pytest.fixture(scope="session")
def root_image(planned: Callable[[str], BuildPlan]) -> BuildPlan:
    return planned(ROOT_IMAGE)


@pytest.fixture(scope="session")
def user_image(planned: Callable[[str], BuildPlan]) -> BuildPlan:
    return planned(USER_IMAGE)


@pytest.fixture(scope="module")
def fleet(engine: Engine) -> Iterator[Fleet]:
    """The containers of one module; none is left."""
    fleet = Fleet(engine)
    yield fleet
    anyio.run(lambda: fleet.close(cleanup=True))
    assert not fleet.running


@pytest.fixture(scope="module")
def start(fleet: Fleet) -> Callable[[DockerConfig], Awaitable[DockerSandbox]]:
    """Starts a container that lives until the module's end."""

    async def start(config: DockerConfig) -> DockerSandbox:
        return DockerSandbox(await fleet.start(config), config)

    return start


@pytest.fixture
def context(tmp_path: Path) -> Path:
    """An empty build context."""
    folder = tmp_path / "environment"
    folder.mkdir()
    return folder
