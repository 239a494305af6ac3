"""Images that are unlike others: what can be run is run as its Dockerfile says, the rest says why not."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import anyio
import pytest

from workbench.core.errors import InfrastructureError
from workbench.sandboxing.config import BuildPlan, DockerConfig
from workbench.sandboxing.debian import DEBIAN_PYTHON
from workbench.sandboxing.engine import Engine
from workbench.sandboxing.images import build, plan
from workbench.sandboxing.providers.docker import DockerSandbox

pytestmark = [pytest.mark.docker, pytest.mark.usefixtures("docker_engine")]
BASE = f"FROM {DEBIAN_PYTHON}\n"
GHOST = "ghost"
"""A user that the image does not know."""
FOREVER = 'ENTRYPOINT ["/bin/sh", "-c", "sleep 1000"]\n'

DECLARED = """SHELL ["/bin/bash", "-euo", "pipefail", "-c"]
HEALTHCHECK --interval=1s CMD /bin/false
STOPSIGNAL SIGUSR1
ONBUILD RUN exit 1
EXPOSE 80
ENV A="one\\n\\
two" U="ü☃" ENV=/evil BASH_ENV=/evil
WORKDIR /a b/ü
VOLUME ["/a b/ü"]
"""
RUNS = {
    "all that a Dockerfile can declare": (DECLARED, "0 /a b/ü"),
    "uid without a name": ("USER 12345:54321\n", "12345 /"),
    "no users, a dead link": ("RUN rm /etc/passwd /etc/group; ln -s /not/yet /w\nWORKDIR /w\n", "0 /not/yet"),
    "large variables": (f"ENV A={'x' * 60000}\nENV B={'y' * 60000}\n", "0 /"),
    "ENTRYPOINT that stays": (FOREVER, "0 /"),
}
REFUSED = {
    "no shell": ("FROM scratch\nCOPY file /file\n", "no usable /bin/sh.*start FROM an image with a shell"),
    "a shell that cannot run": (
        BASE + 'RUN ["/bin/bash", "-c", "chmod 644 /bin/dash"]\n',
        "no usable /bin/sh .permission denied",
    ),
    "ENTRYPOINT that is not there": (BASE + 'ENTRYPOINT ["/no/such"]\n', "ENTRYPOINT cannot run: /no/such"),
    "ENTRYPOINT that ends": (BASE + "ENTRYPOINT echo said\n", 'last output: said; .*end with: exec "\\$@"'),
    "ENTRYPOINT that fails": (BASE + 'ENTRYPOINT ["/bin/false"]\n', "exit code 1.*an ENTRYPOINT must stay"),
}


@pytest.fixture(scope="module")
def odd(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> dict[str, BuildPlan]:
    """All of them, built side by side."""
    texts = {name: BASE + text for name, (text, _) in RUNS.items()}
    texts |= {name: text for name, (text, _) in REFUSED.items()} | {GHOST: f"{BASE}USER {GHOST}\n"}
    plans = {}
    for name, text in texts.items():
        folder = tmp_path_factory.mktemp("image")
        (folder / "Dockerfile").write_text(text)
        (folder / "file").touch()
        plans[name] = plan(folder)
    results = anyio.run(lambda: build(plans.values(), engine=engine))
    assert [result.error for result in results.values() if not result.ok] == []
    return plans


@pytest.mark.parametrize("name", RUNS)
async def test_an_odd_image_runs_as_its_dockerfile_says(
    odd: dict[str, BuildPlan],
    start: Callable[[DockerConfig], Awaitable[DockerSandbox]],
    name: str,
) -> None:
    _, expected = RUNS[name]
    box = await start(DockerConfig(build=odd[name]))
    done = await box.exec(["sh", "-c", 'echo "$(id -u) $(pwd)"'], timeout=30)
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, expected, "")
    await box.write_file("/tmp/a file", "ü")
    assert await box.read_file("/tmp/a file") == "ü"
    await box.put_files({"/skills/a/SKILL.md": (b"x", False)})
    assert await box.get_files("/skills/a") == {"SKILL.md": (b"x", False)}
    assert await box.alive()


@pytest.mark.parametrize("name", REFUSED)
async def test_an_image_that_no_command_can_run_in_is_refused_for_good_and_says_what_to_do(
    odd: dict[str, BuildPlan],
    start: Callable[[DockerConfig], Awaitable[DockerSandbox]],
    name: str,
) -> None:
    _, said = REFUSED[name]
    with pytest.raises(InfrastructureError, match=said) as refused:
        await start(DockerConfig(build=odd[name]))
    assert refused.value.cause == "task:unsupported"


async def test_an_image_whose_user_is_not_there_says_so_at_the_first_command(
    odd: dict[str, BuildPlan],
    start: Callable[[DockerConfig], Awaitable[DockerSandbox]],
) -> None:
    box = await start(DockerConfig(build=odd[GHOST]))
    with pytest.raises(InfrastructureError, match="user 'ghost'.*correct USER in the Dockerfile"):
        await box.exec(["true"])
