"""The stream of one exec: attached by an upgraded connection, input fed and output split at once.

The SDK's ``exec_start(socket=True)`` reads the answer's head through a buffer and hands over the
socket below it, so output that arrives with the head is lost when the machine is busy. This
module makes the one request itself, on a connection of its own, without a thread.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Awaitable, Callable
from itertools import chain, repeat
from typing import Protocol

import anyio
import anyio.abc

from workbench.sandboxing.engine import Engine, EngineGoneError
from workbench.sandboxing.groups import together

_HEAD_LIMIT = 65536
_PIECE = 1 << 18
_PIECES = 256
"""The largest share of a text that its cut may be off by."""
_NOTE_BYTES = 80
"""Room for the line that says what was left out."""
_LAST_WORDS = 0.2
"""Seconds to wait for output after the command ended while something else holds its pipes."""
_POLLS = (0.5, 1.0, 2.0, 5.0)
"""Seconds between the times the engine is asked whether the command still runs; the last repeats."""


class ExecRefusedError(Exception):
    """The engine would not start the exec. `status` is the HTTP status."""

    def __init__(self, status: int, message: str) -> None:
        self.status = status
        super().__init__(message)


class Collector:
    """Bytes of one output stream, of which at most `limit` are kept: the head and the tail.

    Attributes:
        seen: how many bytes came.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.seen = 0
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._tail_size = 0

    def add(self, data: bytes) -> None:
        """Take the next bytes."""
        self.seen += len(data)
        room = self.limit // 2 - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        if not data:
            return
        self._tail.append(data)
        self._tail_size += len(data)
        keep = self.limit - self.limit // 2
        while self._tail and self._tail_size - len(self._tail[0]) >= keep:
            self._tail_size -= len(self._tail.popleft())

    @property
    def parts(self) -> tuple[bytes, int, bytes]:
        """(head, bytes left out between, tail); the tail is empty when nothing was left out."""
        tail = b"".join(self._tail)
        if self.seen <= self.limit:
            return bytes(self._head) + tail, 0, b""
        tail = tail[len(tail) - (self.limit - self.limit // 2) :]
        return bytes(self._head), self.seen - self.limit, tail

    def data(self) -> bytes:
        """All bytes, for streams known to be below the limit."""
        head, _, tail = self.parts
        return head + tail

    def text(self, limit: int) -> str:
        """Text of at most `limit` bytes of UTF-8; bytes that were left out are counted where they were.

        Bytes that are no text become U+FFFD. Large outputs are not copied as a whole.
        """
        tail = memoryview(b"".join(self._tail))
        if self.seen <= self.limit:
            data = memoryview(b"".join((self._head, tail)))
            if len(data) <= limit and _fitting(data, limit) == len(data):
                return str(data, "utf-8", "replace")
            head = tail = data
        else:
            head, tail = memoryview(self._head), tail[len(tail) - (self.limit - self.limit // 2) :]
        room = max(limit - _NOTE_BYTES, 0) // 2
        first = _fitting(head, room)
        last = min(_fitting(tail, room, from_end=True), self.seen - first)
        begin, end = str(head[:first], "utf-8", "replace"), str(tail[len(tail) - last :], "utf-8", "replace")
        return f"{begin}\n[... {self.seen - first - last} bytes of output left out ...]\n{end}"


def _fitting(data: memoryview, room: int, *, from_end: bool = False) -> int:
    """How many bytes of `data`, counted in pieces, are text of at most `room` bytes of UTF-8."""
    step = max(1, min(_PIECE, room // _PIECES))
    fits = 0
    for at in range(0, len(data), step):
        piece = data[max(0, len(data) - at - step) : len(data) - at] if from_end else data[at : at + step]
        room -= len(str(piece, "utf-8", "replace").encode("utf-8"))
        if room < 0:
            break
        fits += len(piece)
    return fits


class Sink(Protocol):
    """Takes the bytes of one stream."""

    def add(self, data: bytes) -> None:
        """Take the next bytes."""


class Duplex(Protocol):
    """A connection for bytes; `receive` raises anyio's EndOfStream at its end."""

    async def send(self, item: bytes) -> None:
        """Send all of it."""

    async def receive(self) -> bytes:
        """The next bytes."""


class Splitter:
    """Takes the engine's multiplexed stream apart: frames of 8 bytes of head, then the payload."""

    def __init__(self, out: Sink, err: Sink) -> None:
        self._sinks = {0: out, 1: out, 2: err}
        self._head = b""
        self._left = 0
        self._sink = out

    def feed(self, data: bytes) -> None:
        """Take the next bytes of the stream, cut anywhere."""
        view = memoryview(data)
        while view:
            if self._left:
                piece = view[: self._left]
                self._sink.add(bytes(piece))
                self._left -= len(piece)
                view = view[len(piece) :]
                continue
            need = 8 - len(self._head)
            self._head += bytes(view[:need])
            view = view[need:]
            if len(self._head) == 8:
                self._sink = self._sinks.get(self._head[0], self._sink)
                self._left = int.from_bytes(self._head[4:], "big")
                self._head = b""


async def attach(engine: Engine, exec_id: str) -> tuple[anyio.abc.ByteStream, bytes]:
    """Start an exec; returns its stream, and what already came of it. Raises as `begin`."""
    stream = await engine.connect()
    try:
        return stream, await begin(engine, stream, exec_id)
    except BaseException:
        await anyio.aclose_forcefully(stream)
        raise


async def begin(engine: Engine, stream: Duplex, exec_id: str) -> bytes:
    """Start an exec over a connection of its own; what already came of it.

    Raises:
        ExecRefusedError: the engine answered with an error.
        EngineGoneError: it did not answer.
    """
    body = b'{"Detach":false,"Tty":false}'
    request = (
        f"POST /v{engine.api().api_version}/exec/{exec_id}/start HTTP/1.1\r\nHost: docker\r\n"
        "Content-Type: application/json\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    try:
        await stream.send(request.encode() + body)
        head, rest = await _head(stream)
        status = int(head.split(b" ", 2)[1])
    except (anyio.BrokenResourceError, anyio.EndOfStream, ValueError, IndexError) as error:
        raise EngineGoneError(f"the engine at {engine.url} broke off the exec: {error!r}") from error
    if status not in (101, 200):
        raise ExecRefusedError(status, await _message(stream, rest))
    return rest


async def pump(
    stream: anyio.abc.ByteStream,
    first: bytes,
    given: bytes | None,
    splitter: Splitter,
    running: Callable[[], Awaitable[bool]],
) -> None:
    """Feed input and take output until the command ended and its output is complete.

    A process that the command left behind may hold the pipes, so `running` is asked now and
    then; once the command is gone, its last words are waited for briefly.
    """
    splitter.feed(first)
    async with together() as tasks:
        if given is not None:
            tasks.start_soon(_feed, stream, given)
        await _take(stream, splitter, running)
        tasks.cancel_scope.cancel()


async def _feed(stream: anyio.abc.ByteStream, given: bytes) -> None:
    view = memoryview(given)
    try:
        for at in range(0, len(view), _PIECE):
            await stream.send(bytes(view[at : at + _PIECE]))
        await stream.send_eof()
    except (anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
        return


async def _take(
    stream: anyio.abc.ByteStream, splitter: Splitter, running: Callable[[], Awaitable[bool]]
) -> None:
    for patience in chain(_POLLS, repeat(_POLLS[-1])):
        with anyio.move_on_after(patience):
            return await _until_closed(stream, splitter)
        if not await running():
            with anyio.move_on_after(_LAST_WORDS):
                await _until_closed(stream, splitter)
            return None
    return None


async def _until_closed(stream: anyio.abc.ByteStream, splitter: Splitter) -> None:
    try:
        while True:
            splitter.feed(await stream.receive(_PIECE))
    except (anyio.EndOfStream, anyio.BrokenResourceError):
        return


async def _head(stream: Duplex) -> tuple[bytes, bytes]:
    """The answer's head, and what came after it."""
    data = b""
    while b"\r\n\r\n" not in data:
        data += await stream.receive()
        if len(data) > _HEAD_LIMIT:
            raise ValueError("no end of the answer's head")
    head, _, rest = data.partition(b"\r\n\r\n")
    return head, rest


async def _message(stream: Duplex, rest: bytes) -> str:
    """The text of an error answer."""
    with anyio.move_on_after(1.0):
        try:
            while not rest.rstrip().endswith(b"}") and len(rest) < _HEAD_LIMIT:
                rest += await stream.receive()
        except (anyio.EndOfStream, anyio.BrokenResourceError):
            pass
    start = rest.find(b"{")
    try:
        return str(json.loads(rest[start:])["message"]) if start >= 0 else rest.decode("utf-8", "replace")
    except (ValueError, KeyError, TypeError):
        return rest.decode("utf-8", "replace")
