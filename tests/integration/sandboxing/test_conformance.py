"""Inspect's portable checks of a sandbox, on an image whose user is root and on one whose is not."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import anyio
import pytest
from inspect_ai.util._sandbox.self_check import *  # noqa: F403

from workbench.sandboxing.config import BuildPlan, DockerConfig
from workbench.sandboxing.providers.docker import DockerSandbox

pytestmark = [pytest.mark.docker, pytest.mark.usefixtures("docker_engine")]


@pytest.fixture(scope="module", params=["root", "user"])
def shared_sandbox(
    request: pytest.FixtureRequest,
    start: Callable[[DockerConfig], Awaitable[DockerSandbox]],
    root_image: BuildPlan,
    user_image: BuildPlan,
) -> DockerSandbox:
    return anyio.run(start, DockerConfig(build=root_image if request.param == "root" else user_image))


@pytest.fixture
def sandbox_env(shared_sandbox: DockerSandbox) -> DockerSandbox:
    return shared_sandbox
