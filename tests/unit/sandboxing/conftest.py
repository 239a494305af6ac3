"""A scripted engine: a real HTTP server on a unix socket that fails when and how it is told."""

from __future__ import annotations

import contextlib
import json
import re
import socketserver
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from workbench.sandboxing.container import Container
from workbench.sandboxing.engine import Engine


class FakeEngine:
    """What the engine answers.

    Attributes:
        answers: path -> (status, value) of what is answered otherwise than by what follows.
        output: (stream, bytes) frames of an exec; `early` sends them with the answer's head,
            `silent` sends them and leaves the stream open.
        record: the engine's record of the exec after it ended.
        state: of the container, ``None`` when there is no such container.
        states: earlier states, each told once.
        stats: the engine's statistics of the container.
        echo: whether the container answers when it is asked whether it is alive.
        hang: paths (regular expressions) that are never answered; `drop` whose connection is cut.
        refuse: (path, status, message) of requests that are refused, once for each entry.
        asked: method and path of every request; `bodies` what came with those that make something.
        events: what a build or pull says.
        images: name or id -> the engine's record of an image; `pulls` those that are there after a pull.
    """

    def __init__(self, path: Path) -> None:
        self.url = f"unix://{path}"
        self.answers: dict[str, tuple[int, object]] = {}
        self.version = "1.41"
        self.output: list[tuple[int, bytes]] = []
        self.early = self.silent = self.echo = False
        self.record: dict[str, Any] = {"Running": False, "ExitCode": 0, "Pid": 7}
        self.state: dict[str, Any] | None = {"Running": True, "Status": "running", "ExitCode": 0}
        self.states: list[dict[str, Any]] = []
        self.stats: dict[str, Any] = {}
        self.hang = self.drop = "^$"
        self.refuse: list[tuple[str, int, str]] = []
        self.asked: list[str] = []
        self.bodies: list[str] = []
        self.events: list[dict[str, Any]] = [{}]
        self.info: dict[str, Any] = {}
        self.images: dict[str, dict[str, Any]] = {}
        self.pulls: dict[str, dict[str, Any]] = {}
        self.closing = threading.Event()

    def asked_word(self, command: list[str]) -> None:
        """A live container gives back the word that `Container.alive` asks for."""
        if self.echo and command[2:4] == ['echo "$1"', "sh"]:
            self.output = [(1, command[4].encode() + b"\n")]

    def times(self, pattern: str) -> int:
        """How often a path was asked for."""
        return sum(bool(re.search(pattern, line)) for line in self.asked)


class _Handler(BaseHTTPRequestHandler):
    fake: FakeEngine
    protocol_version = "HTTP/1.1"

    def handle(self) -> None:
        """A client that gave up has gone before its answer."""
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            super().handle()

    def handle_any(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length)
        path = re.sub(r"^/v1\.\d+", "", self.path.partition("?")[0])
        self.fake.asked.append(f"{self.command} {path}")
        if path.endswith("/create"):
            self.fake.bodies.append(self.path + body.decode())
        if path.startswith("/containers/") and path.endswith("/exec"):
            self.fake.asked_word(json.loads(body).get("Cmd") or [])
        if re.search(self.fake.hang, path):
            self.fake.closing.wait()
            self.close_connection = True
        elif re.search(self.fake.drop, path):
            self.close_connection = True
        elif path in self.fake.answers:
            self.json(*self.fake.answers[path])
        else:
            self.answer(path)

    do_GET = do_POST = do_DELETE = handle_any

    def answer(self, path: str) -> None:
        fake = self.fake
        refused = next((each for each in fake.refuse if re.search(each[0], path)), None)
        if refused is not None:
            fake.refuse.remove(refused)
            self.json(refused[1], {"message": refused[2]})
        elif path in ("/version", "/info"):
            self.json(
                200, {"ApiVersion": fake.version, "Version": "fake"} if path == "/version" else fake.info
            )
        elif path in ("/containers/json", "/images/json", "/networks"):
            self.json(200, [])
        elif path.startswith("/exec/"):
            self.stream() if path.endswith("/start") else self.json(200, fake.record)
        elif path in ("/containers/create", "/networks/create"):
            self.json(201, {"Id": "c1"})
        elif path.startswith("/containers/"):
            self.container(path)
        elif path.startswith("/images/") and path.endswith("/json"):
            found = fake.images.get(unquote(path.removeprefix("/images/").removesuffix("/json")))
            self.json(200 if found else 404, found or {"message": "No such image"})
        else:
            fake.images |= fake.pulls if path == "/images/create" else {}
            self.raw(200, b"".join(json.dumps(event).encode() + b"\n" for event in fake.events))

    def container(self, path: str) -> None:
        if self.fake.state is None:
            self.json(404, {"message": "No such container"})
        elif path.endswith("/exec"):
            self.json(201, {"Id": "e1"})
        elif path.endswith("/logs"):
            self.raw(200, b"")
        elif path.endswith("/stats"):
            self.json(200, self.fake.stats)
        else:
            state = self.fake.states.pop(0) if self.fake.states else self.fake.state
            self.json(200, {"State": state, "Config": {"Tty": True}})

    def stream(self) -> None:
        head = b"HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n"
        frames = b"".join(
            bytes([stream, 0, 0, 0]) + len(data).to_bytes(4, "big") + data
            for stream, data in self.fake.output
        )
        self.connection.sendall(head + frames if self.fake.early else head)
        if not self.fake.early:
            time.sleep(0.01)
            self.connection.sendall(frames)
        if self.fake.silent:
            self.fake.closing.wait()
        self.close_connection = True

    def json(self, status: int, value: object) -> None:
        self.raw(status, json.dumps(value).encode())

    def raw(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Silent."""


class _Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True

    def get_request(self) -> tuple[Any, Any]:
        connection, _ = super().get_request()
        return connection, ("unix", 0)


@pytest.fixture
def fake(tmp_path: Path) -> Iterator[FakeEngine]:
    path = tmp_path / "engine.sock"
    engine = FakeEngine(path)
    handler = type("Handler", (_Handler,), {"fake": engine})
    with _Server(str(path), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield engine
        engine.closing.set()
        server.shutdown()
        thread.join()


@pytest.fixture
def engine(fake: FakeEngine) -> Iterator[Engine]:
    engine = Engine(fake.url, timeout=0.2)
    yield engine
    engine.close()


@pytest.fixture
def container(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> Container:
    monkeypatch.setattr("workbench.sandboxing.ending._SETTLES", (0.001,) * 3)
    return Container(engine, "c1")
