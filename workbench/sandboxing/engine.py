"""The engine, reached through the docker SDK: calls in worker threads, and what their failures mean."""

from __future__ import annotations

import json
import os
import socket
import threading
from collections.abc import AsyncIterable, AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import anyio
import anyio.abc
import anyio.lowlevel
import anyio.to_thread
import httpx

from workbench.core.errors import InfrastructureError, MachineError
from workbench.sandboxing import podman
from workbench.sandboxing.availability import address, engine_status, engine_url, unsupported

if TYPE_CHECKING:
    from docker import APIClient

T = TypeVar("T")
MAX_CALLS = 16
"""Calls under way at once. A running command holds none: its stream is not a call."""
_limiter: anyio.lowlevel.RunVar[anyio.CapacityLimiter] = anyio.lowlevel.RunVar("engine_calls")


class EngineGoneError(InfrastructureError):
    """The engine does not answer."""

    def __init__(self, detail: str) -> None:
        super().__init__("infra:engine", detail)


class RefusedError(Exception):
    """The engine said no; the text is the engine's.

    Attributes:
        status: the HTTP status, 200 for a failure in the middle of a build, pull or import.
    """

    def __init__(self, message: str, status: int = 200) -> None:
        self.status = status
        super().__init__(message)


class Engine:
    """One Docker engine. Safe to share between threads and event loops.

    Args:
        url: ``unix://`` or ``tcp://`` address; found by `engine_url` where not given.
        timeout: seconds a call may be silent.

    Attributes:
        podman: whether it is Podman; known once it has answered.
    """

    def __init__(self, url: str | None = None, *, timeout: float = 60.0) -> None:
        self.url = url or engine_url()
        self.timeout = timeout
        self._lock = threading.Lock()
        self.podman = False
        self._api: APIClient | None = None

    async def call(self, work: Callable[[APIClient], T], *, repeatable: bool = False) -> T:
        """Run one blocking SDK call in a thread.

        Args:
            repeatable: asking twice does no harm, so a lost connection is tried once more.

        Raises:
            EngineGoneError: the engine does not answer.
            docker.errors.APIError: it answered that it will not.
        """
        try:
            limiter = _limiter.get()
        except LookupError:
            limiter = anyio.CapacityLimiter(MAX_CALLS)
            _limiter.set(limiter)
        return await anyio.to_thread.run_sync(self.blocking, work, repeatable, limiter=limiter)

    def blocking(self, work: Callable[[APIClient], T], repeatable: bool = True) -> T:
        """The same, in the calling thread."""
        import docker.errors
        import requests.exceptions

        try:
            return work(self.api())
        except docker.errors.APIError:
            raise
        except (docker.errors.DockerException, requests.exceptions.RequestException) as error:
            if repeatable:
                return self.blocking(work, repeatable=False)
            raise EngineGoneError(f"the engine at {self.url} does not answer: {error}") from error

    def api(self) -> APIClient:
        """The SDK's client, made at first use.

        Raises:
            MachineError: the address cannot be used, or the engine is too old.
        """
        with self._lock:
            if self._api is None:
                refused = unsupported(self.url, os.environ)
                if refused:
                    raise MachineError(refused)
                self._api = self._client()
            return self._api

    def close(self) -> None:
        """Give the connections back; the engine can be used again."""
        with self._lock:
            if self._api is not None:
                self._api.close()
            self._api = None

    def _client(self) -> APIClient:
        from docker import APIClient

        status = engine_status({"DOCKER_HOST": self.url})
        if status.api_version is None:
            raise EngineGoneError(status.reason)
        if not status.ok:
            raise MachineError(status.reason)
        self.podman = status.podman
        options: Any = {"version": status.api_version, "timeout": self.timeout}
        return APIClient(base_url=self.url, max_pool_size=2 * MAX_CALLS, **options)

    async def info(self) -> dict[str, Any]:
        """The engine's record of itself and its machine; asked before any work.

        Raises:
            MachineError: there is no engine to work with.
        """
        try:
            return await self.call(self.record, repeatable=True)
        except EngineGoneError as error:
            raise MachineError(error.detail) from None

    def record(self, api: APIClient) -> dict[str, Any]:
        """The same, for a call: with the limits that this engine can really set."""
        info = dict(api.info())
        return podman.corrected(info, podman.host_record(api)) if self.podman else info

    async def post(
        self,
        path: str,
        params: Mapping[str, str | Sequence[str]],
        each: Callable[[dict[str, Any]], None],
        *,
        content: AsyncIterable[bytes] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """A request that runs long (build, pull, import); `each` gets every event of the answer.

        Not through the SDK, which would block a thread that nothing can stop: here a deadline or
        Ctrl-C closes the connection, and the engine gives up the work.

        Raises:
            RefusedError: the engine said that it failed.
            EngineGoneError: the engine broke off.
        """
        options: Any = {"params": dict(params), "content": content, "headers": headers}
        async with self._stream("POST", path, options) as answer:
            if answer.status_code != 200:
                raise RefusedError(_message(await answer.aread()))
            async for line in answer.aiter_lines():
                event = json.loads(line) if line.strip() else {}
                if "error" in event:
                    raise RefusedError(str(event["error"]))
                each(event)

    async def fetch(self, path: str, params: Mapping[str, str], limit: int) -> bytes:
        """The body of an answer.

        The engine keeps a container locked while it sends an archive, so one that is too long is
        broken off by closing the connection.

        Raises:
            RefusedError: the engine would not; `status` says why.
            OverflowError: more than `limit` bytes.
            EngineGoneError: the engine broke off.
        """
        data = bytearray()
        options = {"params": dict(params), "headers": {"Accept-Encoding": "identity"}}
        async with self._stream("GET", path, options) as answer:
            if answer.status_code != 200:
                raise RefusedError(_message(await answer.aread()), answer.status_code)
            async for piece in answer.aiter_bytes():
                data += piece
                if len(data) > limit:
                    raise OverflowError(f"more than {limit} bytes")
        return bytes(data)

    async def pass_on(
        self, source: str, source_params: Mapping[str, str], target: str, target_params: Mapping[str, str]
    ) -> None:
        """Send the body of a GET's answer on as that of a PUT, without holding it.

        Raises:
            RefusedError: the engine would not give or take it; `status` says why.
            EngineGoneError: the engine broke off.
        """
        options = {"params": dict(source_params), "headers": {"Accept-Encoding": "identity"}}
        async with self._stream("GET", source, options) as given:
            if given.status_code != 200:
                raise RefusedError(_message(await given.aread()), given.status_code)
            body = {"params": dict(target_params), "content": given.aiter_bytes()}
            async with self._stream("PUT", target, body) as taken:
                if taken.status_code != 200:
                    raise RefusedError(_message(await taken.aread()), taken.status_code)

    @asynccontextmanager
    async def _stream(self, method: str, path: str, options: dict[str, Any]) -> AsyncIterator[httpx.Response]:
        where = address(self.url)
        host = "docker" if isinstance(where, str) else f"{where[0]}:{where[1]}"
        # Nothing is encrypted here, and loading certificates would take longer than the request.
        transport = httpx.AsyncHTTPTransport(verify=False, uds=where if isinstance(where, str) else None)
        base = f"http://{host}/v{self.api().api_version}"
        try:
            async with (
                httpx.AsyncClient(
                    base_url=base, transport=transport, timeout=None, trust_env=False
                ) as client,
                client.stream(method, path, **options) as answer,
            ):
                yield answer
        except httpx.TransportError as error:
            raise EngineGoneError(f"the engine at {self.url} broke off: {error!r}") from error

    async def image(self, name: str) -> dict[str, Any] | None:
        """The engine's record of a local image, ``None`` where there is none."""

        def look(api: Any) -> dict[str, Any]:
            return dict(api.inspect_image(name))

        try:
            return await self.call(look, repeatable=True)
        except Exception as error:
            if status_code(error) in (400, 404):
                return None
            raise

    async def connect(self) -> anyio.abc.ByteStream:
        """A raw connection, for a stream that the SDK cannot hand over without losing bytes."""
        where = address(self.url)
        try:
            if isinstance(where, str):
                return await anyio.connect_unix(where)
            return await anyio.connect_tcp(*where)
        except OSError as error:
            raise EngineGoneError(f"the engine at {self.url} does not answer: {error}") from error


def wire(url: str) -> socket.socket:
    """A raw connection that belongs to no event loop.

    Raises:
        EngineGoneError: nobody answers.
    """
    where = address(url)
    try:
        if not isinstance(where, str):
            return socket.create_connection(where, timeout=10)
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connection.connect(where)
        except BaseException:
            connection.close()
            raise
        return connection
    except OSError as error:
        raise EngineGoneError(f"the engine at {url} does not answer: {error}") from error


def status_code(error: BaseException) -> int | None:
    """The HTTP status of an engine's refusal, ``None`` for any other error.

    A container that does not run is 409, also for Podman, which answers 500.
    """
    response: Any = getattr(error, "response", None)
    code = None if response is None else getattr(response, "status_code", None)
    return 409 if code == 500 and podman.NOT_RUNNING in explanation(error) else code


def explanation(error: BaseException) -> str:
    """What the engine said, in one line."""
    text = getattr(error, "explanation", None) or str(error)
    if isinstance(text, bytes):
        text = text.decode("utf-8", "replace")
    return " ".join(str(text).split())


def _message(body: bytes) -> str:
    try:
        return str(json.loads(body)["message"])
    except (ValueError, KeyError, TypeError):
        return body.decode("utf-8", "replace")[:500]
