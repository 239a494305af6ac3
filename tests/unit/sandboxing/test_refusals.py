"""A container that an engine refuses for what its task asks is the task's matter, and is not tried again."""

from __future__ import annotations

from typing import Any

import pytest

from workbench.core.errors import POLICY, InfrastructureError
from workbench.sandboxing.archive import owner
from workbench.sandboxing.config import DockerConfig
from workbench.sandboxing.container import Container
from workbench.sandboxing.engine import Engine
from workbench.sandboxing.fleet import Fleet

IMAGE = {"Id": "sha256:1", "Config": {}}
SERVICE = {"Id": "sha256:1", "Config": {"Entrypoint": ["/no/such"]}}
NO_SHELL = 'OCI runtime create failed: exec: "/bin/sh": stat /bin/sh: no such file or directory: unknown'
NO_SHELL_PODMAN = (
    "crun: executable file `/bin/sh` not found: No such file or directory: OCI runtime attempted"
)
REFUSALS = [
    (400, NO_SHELL, IMAGE, "task:unsupported", "no usable /bin/sh .*start FROM an image with a shell"),
    (500, NO_SHELL_PODMAN, IMAGE, "task:unsupported", "no usable /bin/sh"),
    (
        400,
        NO_SHELL.replace("/bin/sh", "/no/such"),
        SERVICE,
        "task:unsupported",
        "ENTRYPOINT cannot run: /no/such",
    ),
    (
        500,
        "write cpu.cfs_quota_us: invalid argument: unknown",
        IMAGE,
        "task:unsupported",
        "change its limits",
    ),
    (
        400,
        "Cannot mkdir: /etc/passwd is not a directory",
        IMAGE,
        "task:unsupported",
        "refuses what the task asks",
    ),
    (500, "fork/exec /usr/bin/runc: resource temporarily unavailable", IMAGE, "infra:start", "temporarily"),
    (500, "no space left on device", IMAGE, "infra:start", "no space"),
    (409, "Conflict. The container name is already in use", IMAGE, "infra:start", "Conflict"),
]


@pytest.mark.parametrize(("status", "said", "image", "cause", "shown"), REFUSALS)
async def test_only_the_machines_own_refusals_are_worth_another_try(
    fake: Any, status: int, said: str, image: dict[str, Any], cause: str, shown: str
) -> None:
    fake.images = {"x": image, "sha256:1": image}
    fake.refuse = [("^/containers/c1/start$", status, said)]
    with pytest.raises(InfrastructureError, match=shown) as refused:
        await Fleet(Engine(fake.url)).start(DockerConfig(image="x"))
    assert refused.value.cause == cause
    assert POLICY[cause].retry == (cause == "infra:start")


@pytest.mark.parametrize(
    ("code", "cause"), [(0, "task:unsupported"), (1, "task:unsupported"), (137, "infra:start")]
)
async def test_an_entrypoint_that_ends_is_the_images_fault_unless_it_was_killed(
    fake: Any, code: int, cause: str
) -> None:
    fake.images = {"x": SERVICE, "sha256:1": SERVICE}
    fake.state = {"Running": False, "Status": "exited", "ExitCode": code}
    with pytest.raises(InfrastructureError, match=r"ENTRYPOINT ended.*exit code \d+") as ended:
        await Fleet(Engine(fake.url)).start(DockerConfig(image="x"))
    assert ended.value.cause == cause


async def test_an_image_whose_user_does_not_exist_says_so_instead_of_failing_every_command(
    fake: Any, container: Container
) -> None:
    container.user = "ghost"
    fake.output = [(1, b"unable to find user ghost: no matching entries in passwd file")]
    fake.record = {"Running": False, "ExitCode": 126, "Pid": 0}
    with pytest.raises(InfrastructureError, match="correct USER in the Dockerfile") as refused:
        await owner(container, None)
    assert refused.value.cause == "task:unsupported"
