"""Commands in a real container: results, time-outs, process trees, memory."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable

import anyio
import pytest
from inspect_ai.util._sandbox.limits import override_max_exec_output_size

from workbench.sandboxing.config import BuildPlan, DockerConfig
from workbench.sandboxing.losses import SandboxLostError
from workbench.sandboxing.providers.docker import DockerSandbox

pytestmark = [pytest.mark.docker, pytest.mark.usefixtures("docker_engine")]
Start = Callable[[DockerConfig], Awaitable[DockerSandbox]]

DAEMON = "(setsid sh -c 'while :; do sleep 0.5; done' > /dev/null 2>&1 &);"
STUBBORN = "sh -c \"trap '' TERM INT HUP; while :; do sleep 0.5; done\" &"
NAKED = "env -i setsid sh -c 'env -i sleep 77 > /dev/null 2>&1 &';"
FORKS = "f() { f | f & }; f"


@pytest.fixture(scope="module", params=["root", "user"])
def box(
    request: pytest.FixtureRequest, start: Start, root_image: BuildPlan, user_image: BuildPlan
) -> DockerSandbox:
    return anyio.run(
        start, DockerConfig(build=root_image if request.param == "root" else user_image, memory_mb=512)
    )


async def shell(box: DockerSandbox, script: str, timeout: int | None = 60) -> str:
    """Standard output of a script that must succeed."""
    done = await box.exec(["sh", "-c", script], timeout=timeout)
    assert done.success, done.stderr
    return done.stdout


async def processes(box: DockerSandbox) -> list[str]:
    """Command lines of what runs besides process 1, its sleep, shells that stay, and this question."""
    done = await box.exec(["ps", "-eo", "args="], user="root")
    rows = [row.strip() for row in done.stdout.splitlines()]
    own = ("ps -eo", "/bin/sh -c trap", "sleep 2147483647")
    return [row for row in rows if row != "/bin/sh" and not row.startswith(own)]


async def test_a_missing_working_directory_and_an_unknown_user_are_results(box: DockerSandbox) -> None:
    missing = await box.exec(["true"], cwd="/nope")
    unknown = await box.exec(["true"], user="nobody-here")
    assert (missing.success, missing.returncode, unknown.returncode) == (False, 126, 126)
    assert "/nope" in missing.stderr
    assert "nobody-here" in unknown.stderr


async def test_a_missing_program_is_a_result_as_a_shell_gives_it(box: DockerSandbox) -> None:
    done = await box.exec(["no-such-program"])
    assert (done.returncode, done.stdout) == (127, "")


async def test_SB_14_a_child_that_keeps_the_pipe_open_does_not_keep_the_caller(box: DockerSandbox) -> None:
    began = time.monotonic()
    done = await box.exec(["sh", "-c", "sleep 600 & echo done"], timeout=30)
    assert done.stdout == "done\n"
    assert time.monotonic() - began < 6
    await box.exec(["sh", "-c", "kill -9 $(ps -eo pid,args | awk '/sleep 600/ {print $1}')"], user="root")


async def test_a_command_that_closes_its_output_is_waited_for(box: DockerSandbox) -> None:
    done = await box.exec(["sh", "-c", "echo x; exec >&- 2>&-; sleep 1; exit 3"])
    assert (done.returncode, done.stdout) == (3, "x\n")
    with pytest.raises(TimeoutError):
        await box.exec(["sh", "-c", "exec >&- 2>&-; sleep 60"], timeout=1)
    assert await processes(box) == []


@pytest.mark.parametrize("left", [DAEMON, STUBBORN, NAKED], ids=["daemon", "stubborn", "naked"])
async def test_F32_a_timeout_leaves_no_process_and_runs_the_command_once(
    box: DockerSandbox, left: str
) -> None:
    await shell(box, "rm -f /tmp/ran")
    began = time.monotonic()
    with pytest.raises(TimeoutError) as late:
        await box.exec(["sh", "-c", f"echo ran >> /tmp/ran; echo partial; {left} sleep 60"], timeout=1)
    assert time.monotonic() - began < 10
    assert late.value.truncated_output == "partial\n"  # type: ignore[attr-defined]
    assert not late.value.survived  # type: ignore[attr-defined]
    assert await processes(box) == []
    assert await shell(box, "cat /tmp/ran") == "ran\n"


async def test_a_timeout_spares_what_earlier_commands_left_running(box: DockerSandbox) -> None:
    await box.exec(["sh", "-c", "sleep 555 > /dev/null 2>&1 &"])
    with pytest.raises(TimeoutError):
        await box.exec(["sleep", "60"], timeout=1)
    assert await processes(box) == ["sleep 555"]
    await box.exec(["sh", "-c", "kill -9 $(ps -eo pid,args | awk '/sleep 555/ {print $1}')"], user="root")


async def test_F30_a_fork_bomb_is_bounded_and_dies_with_its_timeout(
    start: Start, root_image: BuildPlan
) -> None:
    box = await start(DockerConfig(build=root_image, pids=100))
    if box.started.limits.unlimited:
        pytest.skip(f"limits: {', '.join(box.started.limits.notes)}")
    began = time.monotonic()
    with pytest.raises(TimeoutError):
        await box.exec(["sh", "-c", FORKS + "; exec sleep 60"], timeout=1)
    assert time.monotonic() - began < 15
    assert await box.alive()
    assert await processes(box) == []


async def test_F30_orphans_are_reaped(box: DockerSandbox) -> None:
    await shell(box, "for i in $(seq 200); do (true &) ; done; sleep 0.5")
    assert await shell(box, "ps -eo stat= | grep -c Z || true") == "0\n"


async def test_a_cancelled_command_is_killed(box: DockerSandbox) -> None:
    with anyio.move_on_after(1):
        await box.exec(["sh", "-c", f"{DAEMON} sleep 66"])
    assert await processes(box) == []


async def test_killing_everything_does_not_end_the_container(box: DockerSandbox) -> None:
    await box.exec(["sh", "-c", "kill -9 -1"])
    assert await shell(box, "echo still here") == "still here\n"


async def test_F29_output_beyond_the_limit_keeps_both_ends_and_says_so(box: DockerSandbox) -> None:
    with override_max_exec_output_size(10_000):
        done = await box.exec(["sh", "-c", "echo first; head -c 300000000 /dev/zero; echo last"], timeout=60)
    assert done.stdout.startswith("first\n")
    assert done.stdout.endswith("last\n")
    assert "bytes of output left out" in done.stdout
    assert len(done.stdout.encode()) <= 10_000


async def test_F29_bytes_that_are_no_text_are_replaced_not_fatal(box: DockerSandbox) -> None:
    assert await shell(box, r"printf 'a\377b'") == "a\ufffdb"


async def test_many_commands_at_once_do_not_mix_their_streams(box: DockerSandbox) -> None:
    results: dict[int, str] = {}

    async def one(number: int) -> None:
        done = await box.exec(["sh", "-c", "cat; echo err-$1 >&2", "sh", str(number)], input=f"in-{number}")
        results[number] = f"{done.stdout} {done.stderr.strip()}"

    async with anyio.create_task_group() as tasks:
        for number in range(40):
            tasks.start_soon(one, number)
    assert results == {number: f"in-{number} err-{number}" for number in range(40)}


async def test_SB_12_a_memory_kill_is_named_and_the_container_lives(
    start: Start, root_image: BuildPlan
) -> None:
    box = await start(DockerConfig(build=root_image, memory_mb=64))
    if box.started.limits.unlimited:
        pytest.skip(f"limits: {', '.join(box.started.limits.notes)}")
    done = await box.exec(["python3", "-c", "x = bytearray(1 << 30)"], timeout=60)
    assert done.returncode == 137
    assert "the memory limit of 64 MiB was reached" in done.stderr
    assert box.incidents == ["out_of_memory"]
    again = await box.exec(["sh", "-c", "kill -9 $$"])
    assert (again.returncode, again.stderr) == (137, "")


async def test_F27_a_container_killed_in_the_middle_is_lost(start: Start, root_image: BuildPlan) -> None:
    box = await start(DockerConfig(build=root_image))

    async def kill() -> None:
        await anyio.sleep(0.5)
        await box.container.engine.call(lambda api: api.kill(box.container.id))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(kill)
        with pytest.raises(SandboxLostError, match=r"infra:sandbox_lost.*exit code 137"):
            await box.exec(["sleep", "30"])
    with pytest.raises(SandboxLostError):
        await box.exec(["true"])
    with pytest.raises(SandboxLostError):
        await box.read_file("/etc/passwd")
    assert not await box.alive()


async def test_commands_go_by_a_shell_that_stays_until_something_is_left_behind(box: DockerSandbox) -> None:
    async def stays() -> bool:
        await box.exec(["true"])
        return not box.container._open[box.container.user or "0"].closed

    assert await stays()
    await box.exec(["sh", "-c", "sleep 4321 > /dev/null 2>&1 &"])
    assert not await stays()
    await box.exec(["sh", "-c", "kill -9 $(ps -eo pid,args | awk '/sleep 4321/ {print $1}')"])
    assert await stays()
    await box.exec(["sh", "-c", "kill -9 $PPID"])
    assert (await box.exec(["echo", "lives"])).stdout == "lives\n"
