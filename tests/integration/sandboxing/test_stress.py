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
    start: Callable[[DockerConfig], Awaitable[DockerSandbox]], root_image: BuildPlan, enforced_limits: None
) -> DockerSandbox:
    return anyio.run(start, DockerConfig(build=root_image, memory_mb=512, pids=128))


@pytest.fixture
def sandbox_env(stressed: DockerSandbox) -> DockerSandbox:
    return stressed
