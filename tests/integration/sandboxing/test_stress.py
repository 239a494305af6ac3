"""Our portable checks under stress, on our own provider."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import anyio
import pytest

from workbench.sandboxing.config import BuildPlan, DockerConfig
from workbench.sandboxing.providers.docker import DockerSandbox
from workbench.sandboxing.stress import *  # noqa: F403

pytestmark = [pytest.mark.docker, pytest.mark.usefixtures("docker_engine")]


@pytest.fixture(scope="module")
def stressed(
    start: Callable[[DockerConfig], Awaitable[DockerSandbox]], root_image: BuildPlan
) -> DockerSandbox:
    box = anyio.run(start, DockerConfig(build=root_image, memory_mb=512, pids=128))
    if box.started.limits.unlimited:
        pytest.skip(f"would take all that this machine has: {'; '.join(box.started.limits.notes)}")
    return box


@pytest.fixture
def sandbox_env(stressed: DockerSandbox) -> DockerSandbox:
    return stressed
