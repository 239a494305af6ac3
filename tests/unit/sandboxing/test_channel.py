"""A channel runs a command as the engine would, in a real shell; what it cannot, it leaves to the engine."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.sandboxing.attach import Collector
from workbench.sandboxing.channel import MAX_INPUT, Channel, ChannelClosedError, Job, Until, Wire

SHELLS = [shell for shell in ("dash", "bash", "busybox") if shutil.which(shell)]


class Shell:
    """A local shell whose two streams are framed as the engine frames them."""

    def __init__(self, name: str) -> None:
        ours, theirs = socket.socketpair()
        command = [name, "sh"] if name == "busybox" else [name]
        relay = (
            "import os, selectors, subprocess, sys\n"
            "s = os.fdopen(int(sys.argv[1]), 'wb', 0); c = subprocess.Popen(sys.argv[2:], stdin=s,"
            " stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)\n"
            "sel = selectors.DefaultSelector(); sel.register(c.stdout, 1, 1); sel.register(c.stderr, 1, 2)\n"
            "while sel.get_map():\n"
            "  for key, _ in sel.select():\n"
            "    d = os.read(key.fd, 65536)\n"
            "    if d: s.write(bytes([key.data, 0, 0, 0]) + len(d).to_bytes(4, 'big') + d)\n"
            "    else: sel.unregister(key.fileobj)\n"
        )
        fd = theirs.fileno()
        self.process = subprocess.Popen([sys.executable, "-c", relay, str(fd), *command], pass_fds=[fd])
        theirs.close()
        self.channel = Channel(Wire(ours))

    async def run(
        self, *command: str, processes: int = 10**6, **job: object
    ) -> tuple[int | None, bytes, bytes]:
        out, err = Collector(1 << 20), Collector(1 << 20)
        code = await self.channel.run(Job(command, **{"cwd": "/", **job}), out, err, processes)  # type: ignore[arg-type]
        return code, out.data(), err.data()


@pytest.fixture(params=SHELLS)
def shell(request: pytest.FixtureRequest) -> Iterator[Shell]:
    made = Shell(request.param)
    yield made
    made.channel.close()
    made.process.wait(timeout=10)


async def test_streams_codes_folder_and_environment_are_its_own(shell: Shell, tmp_path: Path) -> None:
    script = 'pwd; echo "$A"; echo err >&2; exit 7'
    odd = 'it\'s "quoted" $HOME `x` \\ \n end'
    for _ in range(3):
        code, out, err = await shell.run("sh", "-c", script, cwd=str(tmp_path), env={"A": odd})
        assert (code, out, err) == (7, f"{tmp_path}\n{odd}\n".encode(), b"err\n")
    assert await shell.run("sh", "-c", "echo $A") == (0, b"\n", b"")


async def test_the_shell_adds_nothing_to_the_environment_that_it_was_given(shell: Shell) -> None:
    _, out, _ = await shell.run("env", cwd="/tmp")
    given = subprocess.run(
        [sys.executable, "-c", "import os; print(*os.environ)"], capture_output=True, text=True
    )
    added = {line.partition("=")[0] for line in out.decode().splitlines()} - set(given.stdout.split())
    assert added <= {"_", "SHLVL"}


async def test_input_arrives_byte_for_byte_and_an_absent_one_is_empty(shell: Shell) -> None:
    given = bytes(range(256)) * 8 + b"%s\\n'"
    assert await shell.run("cat", given=given) == (0, given, b"")
    assert await shell.run("cat") == (0, b"", b"")
    assert (await shell.run("true", given=b"x" * MAX_INPUT))[0] == 0
    assert await shell.run("cat", given=b"y") == (0, b"y", b"")


async def test_a_killed_command_is_a_code_and_the_shell_says_nothing_of_its_own(shell: Shell) -> None:
    assert await shell.run("sh", "-c", "kill -9 $$") == (137, b"", b"")
    assert await shell.run("sh", "-c", "exec 1>&- 2>&-; exit 3") == (3, b"", b"")


async def test_what_a_shell_does_otherwise_is_left_to_the_engine(shell: Shell) -> None:
    assert (await shell.run("no-such-program"))[0] is None
    assert (await shell.run("cd"))[0] is None
    assert (await shell.run("true", cwd="/no/such/folder"))[0] is None
    assert await shell.run("echo", "lives") == (0, b"lives\n", b"")


@pytest.mark.parametrize(
    "job",
    [
        Job(["x"], "/", {"PATH": "/"}),
        Job(["x"], "/", {"a-b": "1"}),
        Job(["x"], "/", given=b"x" * (MAX_INPUT + 1)),
        Job(["x" * 200_000], "/"),
        Job(["x\0"], "/"),
    ],
)
def test_a_command_that_does_not_fit_is_known_before_it_is_sent(job: Job) -> None:
    assert not job.fits()


async def test_a_process_that_is_left_behind_ends_the_channel(shell: Shell) -> None:
    code, out, _ = await shell.run("sh", "-c", "sleep 0.3 & echo x", processes=0)
    assert (code, out, shell.channel.usable()) == (0, b"x\n", False)


async def test_a_shell_that_is_killed_says_whether_the_command_had_begun(shell: Shell) -> None:
    assert (await shell.run("true"))[0] == 0
    with pytest.raises(ChannelClosedError) as closed:
        await shell.run("sh", "-c", "kill -9 $PPID; sleep 1")
    assert closed.value.started
    assert not shell.channel.usable()


@given(st.lists(st.binary(max_size=9)), st.integers(1, 7))
def test_a_marker_is_found_however_it_is_cut(pieces: list[bytes], size: int) -> None:
    data = b"".join(pieces).replace(b"MARK", b"")
    sink = Collector(1 << 20)
    until = Until(sink, b"MARK")
    whole = data + b"MARK" + b" 0 3\n"
    for at in range(0, len(whole), size):
        until.add(whole[at : at + size])
    assert (sink.data() + until.after, until.met) == (data + b" 0 3\n", True) or b"MARK" in data + b"MARK"[:3]
