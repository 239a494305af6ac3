"""A shell that stays in a container and runs one command after another, for a few milliseconds each.

Starting a process in a container is most of what an exec costs. A channel pays it once: the shell
reads a small script for each command, runs it as a child with an environment, folder and token of
its own, and prints the exit code behind a word that nobody can guess. Standard output and error
stay apart, since they are the shell's own two streams.

It is used again only while the container holds no other process than process 1, its sleep and the
channels: a process left behind by a command might write into the next one's output or into the
shell's input. Then, and for whatever a shell does otherwise than the engine (no such program or
folder, a PATH of its own, much input), a command goes by the engine's exec.
"""

from __future__ import annotations

import re
import secrets
import shlex
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import anyio

from workbench.sandboxing.attach import Collector, Splitter

OWN_PROCESSES = 2
"""Process 1 and its sleep."""
MAX_INPUT = 16 << 10
MAX_SCRIPT = 96 << 10
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PIECE = 1 << 18
PRELUDE = r"""exec 3>&2 2>/dev/null
f() {
  case $1 in */*) [ -f "$1" ] && [ -x "$1" ]; return;; esac
  IFS=:
  for d in $PATH; do [ -f "$d/$1" ] && [ -x "$d/$1" ] && unset IFS && return 0; done
  unset IFS
  return 1
}
"""
"""Error messages of the shell itself go nowhere; descriptor 3 is the commands' standard error."""


@dataclass(frozen=True)
class Job:
    """One command for a channel."""

    command: Sequence[str]
    cwd: str
    env: Mapping[str, str] = field(default_factory=dict)
    given: bytes | None = None

    def fits(self) -> bool:
        """Whether a shell runs it exactly as the engine would."""
        size = sum(map(len, self.command)) + sum(len(k) + len(v) for k, v in self.env.items())
        words = (*self.command, *self.env.values(), self.cwd)
        return (
            size <= MAX_SCRIPT
            and len(self.given or b"") <= MAX_INPUT
            and "PATH" not in self.env
            and all(map(_NAME.fullmatch, self.env))
            and not any("\0" in word for word in words)
        )

    def script(self, word: str) -> bytes:
        """What the shell is told; it answers ``WORD+`` first, and ``WORD CODE PROCESSES`` last."""
        exports = "".join(f"export {name}={shlex.quote(value)};" for name, value in self.env.items())
        run = f"(unset PWD OLDPWD; {exports} exec {shlex.join(self.command)}) 2>&3 3>&-"
        if self.given is None:
            run += " </dev/null"
        else:
            run = f"printf '%b' {shlex.quote(_escaped(self.given))} 3>&- | {run}"
        text = (
            f"if cd -- {shlex.quote(self.cwd)} && f {shlex.quote(self.command[0])}; then\n"
            f"printf '{word}+' >&3\n{run}\nc=$?\nelse printf '{word}+' >&3; c=f; fi\n"
            f"set -- /proc/[0-9]*\nprintf '{word} %s %s\\n' $c $#\nprintf '{word}-' >&3\n"
        )
        return text.encode("utf-8", "surrogateescape")


class ChannelClosedError(Exception):
    """The shell is gone. `started` says whether the command had begun."""

    def __init__(self, started: bool) -> None:
        self.started = started
        super().__init__("the channel is closed")


class Wire:
    """A connection that belongs to no event loop, so that it may outlive one."""

    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection
        self._socket.setblocking(False)

    async def send(self, data: bytes) -> None:
        """Send all of it."""
        view = memoryview(data)
        while view:
            try:
                view = view[self._socket.send(view) :]
            except BlockingIOError:
                await anyio.wait_writable(self._socket)
            except OSError as error:
                raise anyio.BrokenResourceError from error

    async def receive(self, max_bytes: int = 65536) -> bytes:
        """The next bytes. Raises EndOfStream."""
        while True:
            try:
                data = self._socket.recv(max_bytes)
            except BlockingIOError:
                await anyio.wait_readable(self._socket)
                continue
            except OSError as error:
                raise anyio.BrokenResourceError from error
            if not data:
                raise anyio.EndOfStream
            return data

    def quiet(self) -> bool:
        """Whether nothing has come, not even the end."""
        try:
            self._socket.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return True
        except OSError:
            pass
        return False

    def close(self) -> None:
        """Close it; the shell at its other end reads the end of its input and goes."""
        self._socket.close()


class Channel:
    """One shell. One command at a time: `busy` while it runs one, `closed` once it cannot be used any more.

    Args:
        wire: attached to the shell's streams; `first` is what already came of them.
    """

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self.busy = False
        self.closed = False
        self._fresh = True

    def usable(self) -> bool:
        """Whether it may run a command now; what came between two commands makes it unusable."""
        if not self.closed and not self.busy and not self._wire.quiet():
            self.close()
        return not self.closed and not self.busy

    async def run(self, job: Job, out: Collector, err: Collector, processes: int) -> int | None:
        """Run a command; its exit code, ``None`` where it must be run by the engine instead.

        Args:
            processes: how many processes the container may hold afterwards, for it to be used again.

        Raises:
            ChannelClosedError: the shell went.
        """
        word = secrets.token_hex(16)
        ended, began = Until(out, word.encode()), Until(Collector(0), f"{word}+".encode())
        errors = Until(err, f"{word}-".encode())
        splitter = Splitter(ended, _Both(began, errors))
        self.busy = True
        script = (PRELUDE.encode() if self._fresh else b"") + job.script(word)
        self._fresh = False
        try:
            await self._wire.send(script)
            while not (errors.met and ended.after.endswith(b"\n")):
                splitter.feed(await self._wire.receive(_PIECE))
        except BaseException as error:
            self.close()
            ended.flush()
            errors.flush()
            if isinstance(error, anyio.EndOfStream | anyio.BrokenResourceError):
                raise ChannelClosedError(began.met) from None
            raise
        finally:
            self.busy = False
        code, count = ended.after.split()
        if int(count) > processes:
            self.close()
        return None if code == b"f" else int(code)

    def close(self) -> None:
        """Use it no more."""
        if not self.closed:
            self.closed = True
            self._wire.close()


class Until:
    """Passes bytes on to a collector until a marker comes, which may be cut anywhere.

    Attributes:
        met: whether the marker has come; `after` is what came behind it.
    """

    def __init__(self, sink: Collector, marker: bytes) -> None:
        self._sink = sink
        self._marker = marker
        self._held = b""
        self.met = False
        self.after = b""

    def add(self, data: bytes) -> None:
        """Take the next bytes."""
        if self.met:
            self.after += data
            return
        data = self._held + data
        at = data.find(self._marker)
        if at >= 0:
            self.met, self.after, self._held = True, data[at + len(self._marker) :], b""
            self._sink.add(data[:at])
            return
        keep = len(self._marker) - 1
        self._held = data[-keep:]
        self._sink.add(data[:-keep])

    def flush(self) -> None:
        """No more will come: what was held back is output."""
        self._sink.add(self._held)
        self._held = b""


class _Both:
    """Standard error: what comes before the start is nobody's, what comes after is the command's."""

    def __init__(self, began: Until, errors: Until) -> None:
        self._began = began
        self._errors = errors

    def add(self, data: bytes) -> None:
        waiting = not self._began.met
        if waiting:
            self._began.add(data)
            data = self._began.after
        if data:
            self._errors.add(data)


def _escaped(data: bytes) -> str:
    """Bytes for the shell's ``printf '%b'``, which any shell knows."""
    return "".join(chr(b) if 32 <= b < 127 and b != 92 else f"\\0{b:03o}" for b in data)
