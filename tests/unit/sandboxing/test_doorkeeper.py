"""A gateway lets a connection through by the name that the client asks for, and by nothing else."""

from __future__ import annotations

import asyncio
import contextlib
import ssl

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.sandboxing.config import DockerConfig
from workbench.sandboxing.doorkeeper import (
    Doorkeeper,
    Streams,
    connect_publicly,
    host_header,
    server_name,
)


def hello(name: str) -> bytes:
    """What a TLS client says first."""
    out = ssl.MemoryBIO()
    client = ssl.create_default_context().wrap_bio(ssl.MemoryBIO(), out, server_hostname=name)
    with pytest.raises(ssl.SSLWantReadError):
        client.do_handshake()
    return out.read()


def test_the_server_name_is_read_once_the_hello_is_whole() -> None:
    whole = hello("files.pypi.org")
    assert server_name(whole) == "files.pypi.org"
    assert {server_name(whole[:size]) for size in range(len(whole))} == {None}


def test_the_host_of_a_request_must_be_the_only_one() -> None:
    assert host_header(b"GET / HTTP/1.1\r\nHost: pypi.org:80\r\n\r\n") == "pypi.org"
    assert host_header(b"GET / HTTP/1.1\r\nhOsT:pypi.org\r\n") is None
    assert host_header(b"GET / HTTP/1.1\r\nHost: a.org\r\nHost: b.org\r\n\r\n") is None


@given(st.binary(max_size=200))
def test_garbage_names_nobody_or_is_an_error_that_closes_the_connection(data: bytes) -> None:
    for read in (server_name, host_header):
        with contextlib.suppress(IndexError, ValueError):
            assert read(data) is None or isinstance(read(data), str)


async def asked(request: bytes) -> bytes:
    """What a client gets who may reach ``allowed.org`` and ``localhost``."""
    upstream = await asyncio.start_server(_upstream, "127.0.0.1", 0)

    async def connect(name: str, port: int) -> Streams:
        if name == "localhost":
            return await connect_publicly(name, port)
        return await asyncio.open_connection("127.0.0.1", upstream.sockets[0].getsockname()[1])

    keeper = Doorkeeper(["allowed.org", "localhost"], connect)
    async with upstream, await asyncio.start_server(keeper.serve, "127.0.0.1", 0) as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.sockets[0].getsockname()[1])
        writer.write(request)
        writer.write_eof()
        answer = await reader.read()
        writer.close()
        return answer


async def _upstream(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"seen " + (await reader.readuntil(b"\r\n\r\n"))[:3])
    writer.close()


@pytest.mark.parametrize(
    ("host", "answer"),
    [("allowed.org", b"seen GET"), ("Allowed.ORG", b"seen GET"), ("other.org", b""), ("localhost", b"")],
)
async def test_only_hosts_of_the_list_are_reached_and_none_of_them_at_a_private_address(
    host: str, answer: bytes
) -> None:
    assert await asked(f"GET / HTTP/1.1\r\nHost: {host}\r\n\r\n".encode()) == answer


@pytest.mark.parametrize("name", ["*.org", "localhost", "1.2.3.4", "a b.org", "http://a.org", "a.org:80"])
def test_an_allow_list_holds_exact_names_of_hosts(name: str) -> None:
    with pytest.raises(ValueError, match="is not the name of a host"):
        DockerConfig(image="a", allow=(name,))
