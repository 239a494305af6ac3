"""Commands in a real container: results, time-outs, process trees, memory."""

from __future__ import annotations

import re
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from inspect_ai.util._sandbox.limits import override_max_exec_output_size

from workbench.sandboxing.config import BuildPlan, DockerConfig
from workbench.sandboxing.losses import SandboxLostError, SandboxSpentError
from workbench.sandboxing.providers.docker import DockerSandbox

pytestmark = [pytest.mark.docker, pytest.mark.usefixtures("docker_engine")]
Start = Callable[[DockerConfig], Awaitable[DockerSandbox]]

DAEMON = "(setsid sh -c 'while :; do sleep 0.5; done' > /dev/null 2>&1 &);"
STUBBORN = "sh -c \"trap '' TERM INT HUP; while :; do sleep 0.5; done\" &"
NAKED = "env -i setsid sh -c 'env -i sleep 77 > /dev/null 2>&1 &';"
FORKS = "f() { f | f & }; (f) &"
FORKS_ALWAYS = """
import os, time
while True:
    try:
        os.fork() or {ends}
    except OSError:
        time.sleep(0.01)
"""


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


async def test_F32_SB_14_a_child_that_keeps_the_pipe_open_does_not_keep_the_caller(
    box: DockerSandbox,
) -> None:
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


@pytest.mark.parametrize("user", ["root", "nobody"])
async def test_F32_a_daemon_with_a_token_of_its_own_invention_is_killed_all_the_same(
    box: DockerSandbox, user: str
) -> None:
    daemon = "(SANDBOX_EXEC=x setsid sh -c 'while :; do sleep 0.5; done' > /dev/null 2>&1 &); sleep 60"
    with pytest.raises(TimeoutError):
        await box.exec(["sh", "-c", daemon], timeout=1, user=user)
    assert await processes(box) == []


@pytest.mark.usefixtures("enforced_limits")
async def test_F30_a_fork_bomb_is_bounded_and_dies_with_its_timeout(
    start: Start, root_image: BuildPlan
) -> None:
    box = await start(DockerConfig(build=root_image, pids=100))
    began = time.monotonic()
    with pytest.raises(TimeoutError):
        await box.exec(["sh", "-c", FORKS + " exec sleep 60"], timeout=1)
    assert time.monotonic() - began < 15
    assert await box.alive()
    assert await processes(box) == []


@pytest.mark.parametrize("ends", ["time.sleep(999)", "os._exit(0)"], ids=["processes", "zombies"])
async def test_F30_what_is_left_of_a_fork_bomb_does_not_keep_a_container_from_being_judged(
    start: Start, root_image: BuildPlan, ends: str
) -> None:
    box = await start(DockerConfig(build=root_image, pids=64))
    await box.exec(["sh", "-c", f'python3 -c "{FORKS_ALWAYS.format(ends=ends)}" > /dev/null 2>&1 &'])
    with anyio.fail_after(30):
        while await tasks(box) < 63:
            await anyio.sleep(0.1)
    await anyio.sleep(0.5)
    await box.settle()
    assert box.incidents == ["pids_limit"]
    for fresh in (True, False):
        async with box.judged("none", fresh=fresh) as (where, _):
            assert await processes(where) == []


async def tasks(box: DockerSandbox) -> int:
    """Processes in the container, by the engine's account."""
    container = box.container
    found: Any = await container.engine.call(lambda api: api.stats(container.id, stream=False, one_shot=True))
    return int(found["pids_stats"].get("current", 0))


async def test_F30_ten_thousand_orphans_are_reaped(start: Start, root_image: BuildPlan) -> None:
    box = await start(DockerConfig(build=root_image))
    await shell(box, "i=0; while [ $i -lt 10000 ]; do (: &); i=$((i+1)); done; sleep 0.5")
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
        done = await box.exec(["sh", "-c", "echo first; head -c 300000 /dev/zero; echo last"], timeout=60)
    assert done.stdout.startswith("first\n")
    assert done.stdout.endswith("last\n")
    assert "bytes of output left out" in done.stdout
    assert len(done.stdout.encode()) <= 10_000


LIMIT_MB = 64
FLOODS = {
    "one-line": ("head -c 1000000000 /dev/zero; echo", 1_000_000_001),
    "lines": ("yes 0123456789012345678 | head -c 300000000; echo", 300_000_001),
    "no-text": ("head -c 200000000 /dev/zero | tr '\\0' '\\377'; echo", 200_000_001),
}


@pytest.fixture
def peak() -> Callable[[], float]:
    """Says by how many MiB this process grew at most since the fixture was made."""

    def status(key: str) -> float:
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith(key)) / 1024

    Path("/proc/self/clear_refs").write_text("5")
    before = status("VmRSS")
    return lambda: status("VmHWM") - before


@pytest.mark.parametrize("channel", [True, False], ids=["channel", "engine"])
@pytest.mark.parametrize("flood", FLOODS)
async def test_F29_a_flood_of_output_is_counted_to_the_byte_and_costs_the_host_little_memory(
    flooded: DockerSandbox, peak: Callable[[], float], channel: bool, flood: str
) -> None:
    script, size = FLOODS[flood]
    flooded.container.channels = channel
    flooded.container.close_channels()
    done = await flooded.exec(["sh", "-c", f"{script}; echo error >&2"], timeout=60)
    grown = peak()
    head, left, tail = re.fullmatch(
        r"(?s)(.+)\n\[... (\d+) bytes of output left out ...]\n(.+)", done.stdout
    ).groups()  # type: ignore[union-attr]
    shown = sum(len(part) if flood == "no-text" else len(part.encode()) for part in (head, tail))
    assert (shown + int(left), tail[-1], done.stderr) == (size, "\n", "error\n")
    assert len(done.stdout.encode()) <= 10 << 20
    assert grown < LIMIT_MB


@pytest.mark.parametrize("channel", [True, False], ids=["channel", "engine"])
async def test_F29_a_command_that_never_stops_printing_ends_with_its_time_and_says_what_was_cut(
    flooded: DockerSandbox, peak: Callable[[], float], channel: bool
) -> None:
    flooded.container.channels = channel
    flooded.container.close_channels()
    with pytest.raises(TimeoutError) as late:
        await flooded.exec(["yes"], timeout=1)
    assert "bytes of output left out" in late.value.truncated_output  # type: ignore[attr-defined]
    assert peak() < LIMIT_MB


@pytest.fixture(scope="module")
def flooded(start: Start, root_image: BuildPlan) -> DockerSandbox:
    return anyio.run(start, DockerConfig(build=root_image))


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


@pytest.mark.usefixtures("enforced_limits")
async def test_F28_SB_12_a_memory_kill_is_named_and_the_container_lives(
    start: Start, root_image: BuildPlan
) -> None:
    box = await start(DockerConfig(build=root_image, memory_mb=64))
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


async def test_F27_a_container_that_its_memory_limit_ended_is_the_agents_doing(
    start: Start, root_image: BuildPlan
) -> None:
    box = await start(DockerConfig(build=root_image, memory_mb=24))
    with pytest.raises(SandboxSpentError, match=r"agent_resource.*exit code 137, out of memory"):
        await box.exec(["sh", "-c", "echo 1000 > /proc/1/oom_score_adj; cat /dev/zero > /dev/shm/x"])
    with pytest.raises(SandboxSpentError):
        await box.settle()


async def test_F27_a_container_with_no_memory_left_for_a_command_is_still_judged(
    start: Start, root_image: BuildPlan
) -> None:
    box = await start(DockerConfig(build=root_image, memory_mb=24))
    fill = 's=$(printf %4096s x); while printf %s "$s" >> /dev/shm/x; do :; done'
    with pytest.raises((SandboxSpentError, SandboxLostError)):
        await box.exec(["sh", "-c", fill])
    state = await box.container.state()
    if not state.get("Running"):
        # Of processes as small as these the kernel may take process 1 first, or an engine end all with one.
        # What that is called goes by what the engine knows: without its word nobody is blamed.
        ended, said = (
            (SandboxSpentError, "agent_resource.*out of memory")
            if state.get("OOMKilled")
            else (SandboxLostError, "infra:sandbox_lost")
        )
        with pytest.raises(ended, match=said):
            await box.settle()
        return
    await box.settle()
    assert box.incidents == ["out_of_memory"]


@pytest.mark.parametrize("says", ["exit 0", "kill -9 $$"])
async def test_F46_an_agent_that_swaps_the_shell_cannot_have_its_trial_taken_for_lost(
    start: Start, root_image: BuildPlan, says: str
) -> None:
    box = await start(DockerConfig(build=root_image))
    await box.write_file("/job/sh", f"#!/bin/bash\n{says}\n")
    assert (await box.exec(["bash", "-c", "chmod +x /job/sh; mv /job/sh /usr/bin/sh"])).success
    assert (await box.exec(["bash", "-c", "kill -9 $$"])).returncode == 137
    assert await box.alive()
    await box.settle()
    for fresh in (True, False):
        async with box.judged("none", fresh=fresh) as (where, swept):
            assert (await where.exec(["sh", "-c", "echo as it was"])).stdout == "as it was\n"
            assert swept.incidents == ["swept:program"]


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


async def test_a_shell_that_was_killed_does_not_hide_what_a_command_left_behind(box: DockerSandbox) -> None:
    """It was once still counted among the container's own processes."""
    for user in ("root", box.container.user):
        await box.exec(["true"], user=user)
    kill = "kill -9 $(ps -eo pid,args | awk '$2 == \"/bin/sh\" && NF == 2 {print $1}')"
    await box.container.run(["sh", "-c", kill], cwd="/", user="0", timeout=20, fast=False)
    await box.exec(["sh", "-c", "sleep 4322 > /dev/null 2>&1 &"])
    assert box.container._open[box.container.user or "0"].closed
    await box.exec(["sh", "-c", "kill -9 $(ps -eo pid,args | awk '/sleep 4322/ {print $1}')"])


async def test_a_program_with_an_endless_name_is_refused_before_it_can_hang_the_engine(
    box: DockerSandbox,
) -> None:
    done = await box.exec(["x" * 200_000], timeout=5)
    assert (done.returncode, done.stderr) == (126, "the program's name is too long\n")
    assert (await box.exec(["echo", "y" * 100_000], timeout=5)).success
