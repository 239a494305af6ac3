"""Checks of what a sandbox does under stress, for any Inspect provider, in the shape of Inspect's own checks.

Inspect's `self_check` asks whether a sandbox does what it is told; these ask what it does when a
command takes all it can get. A test module that defines the fixture ``sandbox_env`` (a running sandbox with
a memory limit of at most 1 GiB, a limit of processes, and no network) imports all of them:

    from workbench.sandboxing.stress import *

The image needs a POSIX shell and coreutils or busybox.
"""

from __future__ import annotations

# ruff: noqa: N802 - the ids of cases are written as they are looked for
import os
import time

import anyio
from inspect_ai.util import OutputLimitExceededError, SandboxEnvironment

_LIMIT_SLACK = 15.0
"""Seconds that a command may take to die after its time is over."""


async def test_F28_a_command_that_takes_all_memory_dies_and_the_sandbox_lives(
    sandbox_env: SandboxEnvironment,
) -> None:
    """Memory: the kill is a result, not a loss."""
    done = await sandbox_env.exec(["sh", "-c", "tail /dev/zero"], timeout=60)
    assert not done.success
    await _lives(sandbox_env)


async def test_F30_a_command_that_forks_without_end_dies_with_its_time(
    sandbox_env: SandboxEnvironment,
) -> None:
    """Processes: a fork bomb holds up nothing but itself."""
    await _times_out(sandbox_env, "f() { f | f & }; (f) & exec sleep 60", 2)
    await _lives(sandbox_env)


async def test_F30_orphans_do_not_pile_up(sandbox_env: SandboxEnvironment) -> None:
    """Zombies: process 1 takes away what nobody waits for."""
    await sandbox_env.exec(["sh", "-c", "for i in 1 2 3 4 5 6 7 8 9 10; do (sleep 0.1 &) ; done; sleep 0.5"])
    count = "grep -l '^State:.Z' /proc/[0-9]*/status 2> /dev/null | wc -l"
    done = await sandbox_env.exec(["sh", "-c", f"sleep 1; {count}"])
    assert int(done.stdout) == 0


async def test_F29_endless_output_ends_with_its_time(sandbox_env: SandboxEnvironment) -> None:
    """Output: a reader that cannot keep up does not keep a command alive."""
    await _times_out(sandbox_env, "yes", 2)
    await _lives(sandbox_env)


async def test_F29_huge_output_is_cut_or_refused_never_silently_lost(sandbox_env: SandboxEnvironment) -> None:
    """Output: 40 MB on one line."""
    try:
        done = await sandbox_env.exec(["sh", "-c", "head -c 40000000 /dev/zero | tr '\\0' x; echo end"])
    except OutputLimitExceededError:
        return
    assert len(done.stdout) < 20_000_000
    assert done.stdout.endswith("end\n")


async def test_F32_a_time_out_reaches_daemons_and_those_who_ignore_it(
    sandbox_env: SandboxEnvironment,
) -> None:
    """Time: a double-forked daemon and a process without ears for TERM are gone as well."""
    daemon = (
        "(setsid sh -c 'sleep 987654' > /dev/null 2>&1 &); trap '' TERM INT HUP; while :; do sleep 1; done"
    )
    await _times_out(sandbox_env, daemon, 2)
    done = await sandbox_env.exec(["sh", "-c", "cat /proc/[0-9]*/cmdline 2> /dev/null | tr '\\0' ' '"])
    assert "sleep 987654" not in done.stdout.replace("'sleep", "")


async def test_F32_a_grandchild_that_holds_the_pipe_does_not_hold_the_caller(
    sandbox_env: SandboxEnvironment,
) -> None:
    """Time: a call returns when its command has ended."""
    began = time.monotonic()
    done = await sandbox_env.exec(["sh", "-c", "sleep 30 & echo done"], timeout=60)
    assert done.stdout == "done\n"
    assert time.monotonic() - began < _LIMIT_SLACK


async def test_F33_there_is_no_way_out(sandbox_env: SandboxEnvironment) -> None:
    """Network: no interface but loopback, and no route."""
    done = await sandbox_env.exec(["sh", "-c", "cat /proc/net/dev /proc/net/route"])
    names = {line.partition(":")[0].strip() for line in done.stdout.splitlines() if ":" in line}
    assert names <= {"lo", "tunl0", "sit0", "ip6tnl0", "gre0", "gretap0", "erspan0", "ip_vti0", "ip6_vti0"}
    assert not [line for line in done.stdout.splitlines() if line.split()[1:2] == ["00000000"]]


async def test_F36_root_is_not_root_of_the_host(sandbox_env: SandboxEnvironment) -> None:
    """Rights: no mounts, no devices, no kernel settings."""
    for attempt in (
        "mount -t tmpfs x /mnt",
        "mknod /tmp/device b 8 0",
        "echo 1 > /proc/sys/vm/drop_caches",
        "ls /var/run/docker.sock",
    ):
        assert not (await sandbox_env.exec(["sh", "-c", attempt])).success, attempt


async def test_F42_the_hosts_environment_is_not_in_it(sandbox_env: SandboxEnvironment) -> None:
    """Secrets: no value of a variable of this process, usual ones aside."""
    usual = {"PATH", "HOME", "USER", "LOGNAME", "PWD", "OLDPWD", "SHELL", "LANG", "TERM", "SHLVL", "HOSTNAME"}
    seen = (await sandbox_env.exec(["sh", "-c", "cat /proc/[0-9]*/environ; env"])).stdout
    leaked = [name for name, value in os.environ.items() if len(value) > 12 and f"{name}={value}" in seen]
    assert not set(leaked) - usual


async def test_F37_many_commands_at_once_get_their_own_output(sandbox_env: SandboxEnvironment) -> None:
    """Crowds: twenty commands side by side, each with its own output and exit code."""
    found: dict[int, tuple[int, str]] = {}

    async def one(number: int) -> None:
        done = await sandbox_env.exec(["sh", "-c", f"sleep 0.2; echo {number}; exit {number}"])
        found[number] = (done.returncode, done.stdout)

    async with anyio.create_task_group() as tasks:
        for number in range(20):
            tasks.start_soon(one, number)
    assert found == {number: (number, f"{number}\n") for number in range(20)}


async def _times_out(sandbox_env: SandboxEnvironment, script: str, seconds: int) -> None:
    began = time.monotonic()
    try:
        await sandbox_env.exec(["sh", "-c", script], timeout=seconds, timeout_retry=False)
    except TimeoutError:
        assert time.monotonic() - began < seconds + _LIMIT_SLACK
        return
    raise AssertionError("no TimeoutError")


async def _lives(sandbox_env: SandboxEnvironment) -> None:
    assert (await sandbox_env.exec(["echo", "lives"], timeout=30)).stdout == "lives\n"
