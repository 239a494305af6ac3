"""A scripted, deterministic model endpoint: real HTTP, OpenAI's chat format, faults on demand.

In a test::

    with OpenAIServer([Reply(status=429, headers={"retry-after": "1"}), "hello"]) as server:
        ...  # base_url=server.url
    assert server.attempts == [2]  # one logical call, asked twice

A script is a list (the n-th request gets the n-th step) or a function of the request. A step is a
text, a call ``("bash", {"cmd": "ls"})``, a list of calls made in parallel, or a `Reply`, which can
also be wrong in every way that a network or a model can. `agents` makes a script that plays a
whole trial without state: which agent plays is decided by a marker in the first user message, which
step by the number of assistant messages so far, so that any number of trials can run at once.

By hand, printing the address to give as ``--model-base-url``::

    python tests/servers/openai_server.py --script script.json --port 0

with ``{"agents": {"MARKER": [STEP, ...]}, "default": [STEP, ...]}`` or ``{"replies": [STEP, ...]}``,
where a STEP is as above in JSON, and an object holds the fields of `Reply`.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import groupby
from pathlib import Path
from types import TracebackType
from typing import Any

COUNTED: Mapping[str, Any] = {"counted": True}
"""The usage of a reply that says nothing else: a quarter of the characters, as a number of tokens."""


@dataclass(frozen=True)
class Call:
    """A tool call. Arguments that are a string are sent as they are; an `id` of "" is left out."""

    name: str
    arguments: Any = field(default_factory=dict)
    id: str | None = None


@dataclass(frozen=True)
class Reply:
    """What the server answers; everything that is not given is well-formed.

    Attributes:
        message: further fields of the message (refusal, ...); `choice` of the choice (logprobs, ...).
        usage: as sent; ``None`` leaves it out.
        body: sent in place of a completion, with `status` and `headers`.
        delay: seconds before the first byte.
        events: further stream events (e.g. an error), sent before the last one.
        pause: seconds between two stream events.
        cut: the connection is closed after this many bytes of the body (stream: events).
        stall: nothing more is sent after this many stream events, and the connection stays open.
    """

    text: str | None = None
    calls: tuple[Call, ...] = ()
    reasoning: str | None = None
    finish: str | None = None
    message: Mapping[str, Any] = field(default_factory=dict)
    choice: Mapping[str, Any] = field(default_factory=dict)
    usage: Mapping[str, Any] | None = field(default_factory=lambda: COUNTED)
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str | None = None
    delay: float = 0.0
    events: tuple[Mapping[str, Any], ...] = ()
    pause: float = 0.0
    cut: int | None = None
    stall: int | None = None


Step = str | tuple[str, Any] | Call | Sequence[Any] | Mapping[str, Any] | Reply


@dataclass(frozen=True)
class Request:
    """A request as received; `at` is a monotonic time in seconds."""

    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]
    at: float

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The conversation."""
        return list(self.body["messages"])

    @property
    def tools(self) -> list[str]:
        """Names of the tools offered."""
        return [tool.get("function", tool)["name"] for tool in self.body.get("tools", [])]

    @property
    def prompt(self) -> str:
        """Text of the first user message."""
        first = next((m["content"] for m in self.messages if m["role"] == "user"), "")
        return first if isinstance(first, str) else "\n".join(part.get("text", "") for part in first)


Script = Sequence[Step] | Callable[[Request], Step]


def as_reply(step: Step) -> Reply:
    """The reply of a step in any of its forms."""
    if isinstance(step, Reply):
        return step
    if isinstance(step, str):
        return Reply(text=step)
    if isinstance(step, Mapping):
        given = dict(step)
        given["calls"] = tuple(map(_as_call, given.get("calls", ())))
        return Reply(**given)
    if isinstance(step, Call) or (len(step) == 2 and isinstance(step[0], str)):
        return Reply(calls=(_as_call(step),))
    return Reply(calls=tuple(map(_as_call, step)))


def _as_call(call: Any) -> Call:
    return call if isinstance(call, Call) else Call(*call)


def agents(marked: Mapping[str, Sequence[Step]], default: Sequence[Step] = ()) -> Callable[[Request], Step]:
    """A script that plays whole trials.

    Args:
        marked: marker -> steps; the first marker that the first user message contains decides.
        default: steps of a trial without a marker.

    Steps that call a tool which is not offered are left out (so that one script serves every
    condition); after the last step, the last one is repeated.
    """

    def play(request: Request) -> Step:
        steps = next((s for marker, s in marked.items() if marker in request.prompt), default)
        offered = set(request.tools)
        playable = [step for step in steps if {call.name for call in as_reply(step).calls} <= offered]
        if not playable:
            return refusal(400, "no agent of the script plays this task")
        turn = sum(message["role"] == "assistant" for message in request.messages)
        return playable[min(turn, len(playable) - 1)]

    return play


def refusal(status: int, message: str, *, code: str | None = None, **headers: str) -> Reply:
    """An error as OpenAI words it. Header names are given with ``_`` for ``-``."""
    error = {"message": message, "type": "error", "param": None, "code": code}
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply(status=status, headers=sent, body=json.dumps({"error": error}))


class OpenAIServer:
    """The server, on 127.0.0.1; a context manager that starts and stops it.

    Attributes:
        url: base URL to give to a client (ends in ``/v1``).
        requests: every request received, in order.
    """

    def __init__(self, script: Script, port: int = 0) -> None:
        self.requests: list[Request] = []
        self.closing = threading.Event()
        self._script = script
        self._lock = threading.Lock()
        self._http = _Http(("127.0.0.1", port), _Handler)
        self._http.owner = self
        self.port = int(self._http.server_address[1])
        self.url = f"http://127.0.0.1:{self.port}/v1"

    @property
    def attempts(self) -> list[int]:
        """How often each logical call was asked: runs of requests with one and the same body."""
        return [len(list(same)) for _, same in groupby(request.body for request in self.requests)]

    def answer(self, request: Request) -> Reply:
        """Record a request and choose its reply."""
        with self._lock:
            turn = len(self.requests)
            self.requests.append(request)
        if callable(self._script):
            return as_reply(self._script(request))
        if turn >= len(self._script):
            return refusal(400, f"the script has no step {turn + 1}")
        return as_reply(self._script[turn])

    def serve_forever(self) -> None:
        """Serve in this thread until `close`."""
        self._http.serve_forever(poll_interval=0.02)

    def close(self) -> None:
        """Stop; stalled connections end."""
        self.closing.set()
        self._http.shutdown()
        self._http.server_close()

    def __enter__(self) -> OpenAIServer:
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 512  # many trials connect at once
    owner: OpenAIServer

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that gave up waiting, as they should, are no news."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # each write is one packet: trickles and cuts come out as scripted
    wbufsize = 0
    disable_nagle_algorithm = True
    server: _Http

    def log_message(self, format: str, *args: Any) -> None:
        """Tests read `requests`, not a terminal."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        request = Request(self.path, dict(self.headers), body, time.monotonic())
        reply = self.server.owner.answer(request)
        self.wait(reply.delay)
        if reply.body is None and body.get("stream"):
            self.send_stream(reply, request)
        else:
            self.send_whole(reply, request)

    def wait(self, seconds: float | None) -> None:
        """Wait, but not longer than the server lives."""
        self.server.owner.closing.wait(seconds)

    def send_head(self, reply: Reply, own: Mapping[str, str]) -> None:
        self.send_response(reply.status)
        for name, value in {**own, **reply.headers}.items():
            self.send_header(name, value)
        self.end_headers()

    def send_whole(self, reply: Reply, request: Request) -> None:
        wire = _anthropic if request.path.endswith("/messages") else _completion
        body = reply.body if reply.body is not None else json.dumps(wire(reply, request))
        data = body.encode("utf-8")
        self.send_head(reply, {"content-type": "application/json", "content-length": str(len(data))})
        self.wfile.write(data[: reply.cut])
        self.close_connection = reply.cut is not None

    def send_stream(self, reply: Reply, request: Request) -> None:
        self.send_head(reply, {"content-type": "text/event-stream", "connection": "close"})
        for number, event in enumerate([*_events(reply, request), "[DONE]"]):
            if number == reply.stall:
                self.wait(None)
            if number in (reply.stall, reply.cut):
                return
            text = event if isinstance(event, str) else json.dumps(event)
            self.wfile.write(f"data: {text}\n\n".encode())
            self.wait(reply.pause)


def _tool_calls(reply: Reply, request: Request) -> list[dict[str, Any]]:
    """The calls of a reply; their ids are unique in the conversation and the same on every run."""
    turn = len(request.messages)
    calls = []
    for number, call in enumerate(reply.calls):
        text = call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments)
        made = {"type": "function", "function": {"name": call.name, "arguments": text}}
        name = f"call_{turn}_{number}" if call.id is None else call.id
        calls.append(made | ({"id": name} if name else {}))
    return calls


def _finish(reply: Reply) -> str:
    return reply.finish or ("tool_calls" if reply.calls else "stop")


def _usage(reply: Reply, request: Request) -> dict[str, Any] | None:
    if reply.usage is not COUNTED:
        return None if reply.usage is None else dict(reply.usage)
    asked = len(json.dumps(request.messages)) // 4 + 1
    said = len(json.dumps([reply.text, [call.arguments for call in reply.calls]])) // 4 + 1
    return {"prompt_tokens": asked, "completion_tokens": said, "total_tokens": asked + said}


def _completion(reply: Reply, request: Request) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": reply.text}
    if reply.calls:
        message["tool_calls"] = _tool_calls(reply, request)
    if reply.reasoning is not None:
        message["reasoning_content"] = reply.reasoning
    choice = {"index": 0, "message": {**message, **reply.message}, "finish_reason": _finish(reply)}
    usage = _usage(reply, request)
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": request.body.get("model", ""),
        "choices": [{**choice, **reply.choice}],
    } | ({} if usage is None else {"usage": usage})


def _events(reply: Reply, request: Request) -> Iterator[Mapping[str, Any]]:
    """The chunks of a streamed completion; texts and arguments come in pieces of 8 characters."""
    base = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "scripted"}

    def chunk(delta: Mapping[str, Any], finish: str | None = None, **more: Any) -> Mapping[str, Any]:
        return {**base, "choices": [{"index": 0, "delta": delta, "finish_reason": finish, **more}]}

    yield chunk({"role": "assistant", "content": ""})
    for piece in _pieces(reply.reasoning):
        yield chunk({"reasoning_content": piece})
    for piece in _pieces(reply.text):
        yield chunk({"content": piece})
    for index, call in enumerate(_tool_calls(reply, request)):
        function = call["function"]
        yield chunk({"tool_calls": [{**call, "index": index, "function": {**function, "arguments": ""}}]})
        for piece in _pieces(function["arguments"]):
            yield chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    yield from reply.events
    yield chunk(dict(reply.message), _finish(reply), **reply.choice)
    usage = _usage(reply, request)
    if usage is not None and request.body.get("stream_options", {}).get("include_usage"):
        yield {**base, "choices": [], "usage": usage}


def _pieces(text: str | None) -> Iterator[str]:
    return (text[start : start + 8] for start in range(0, len(text or ""), 8)) if text else iter(())


def _anthropic(reply: Reply, request: Request) -> dict[str, Any]:
    """The same reply in Anthropic's format; `reply.message["blocks"]` come first (thinking)."""
    content = list(reply.message.get("blocks", []))
    if reply.text is not None:
        content.append({"type": "text", "text": reply.text})
    for call in _tool_calls(reply, request):
        name, arguments = call["function"]["name"], json.loads(call["function"]["arguments"])
        content.append({"type": "tool_use", "id": call["id"], "name": name, "input": arguments})
    usage = {"input_tokens": 10, "output_tokens": 5} if reply.usage is COUNTED else reply.usage
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": request.body.get("model", ""),
        "content": content,
        "stop_reason": reply.finish or ("tool_use" if reply.calls else "end_turn"),
        "usage": usage,
    }


def read_script(path: Path) -> Script:
    """The script in a JSON file (its form is in the module's docstring)."""
    given = json.loads(path.read_text(encoding="utf-8"))
    if "replies" in given:
        return list(given["replies"])
    return agents(given.get("agents", {}), given.get("default", ()))


def main() -> None:
    """Serve a script until interrupted."""
    parser = argparse.ArgumentParser(description="A scripted OpenAI-compatible model endpoint")
    parser.add_argument("--script", type=Path, required=True, help="JSON file")
    parser.add_argument("--port", type=int, default=0, help="0: any free one")
    options = parser.parse_args()
    server = OpenAIServer(read_script(options.script), options.port)
    print(server.url, flush=True)  # noqa: T201
    with contextlib.suppress(KeyboardInterrupt):
        server.serve_forever()


if __name__ == "__main__":
    main()
