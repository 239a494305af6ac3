"""The program of a gateway: lets connections through to hosts of a list, by the name that a client asks for.

Its text is run in the gateway's container, so it uses the standard library alone.
"""

from __future__ import annotations

import asyncio
import ipaddress
import re
import socket
import sys
from collections.abc import Awaitable, Callable, Sequence

PORTS = (80, 443)
_FIRST = 16384
"""Bytes that a client may send before it has said whom it wants."""
_SECONDS = 10.0
_HANDSHAKE = 22
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Connect = Callable[[str, int], Awaitable[Streams]]


def server_name(hello: bytes) -> str | None:
    """The server name in a TLS ClientHello; ``None`` where it is not whole or names nobody."""
    if len(hello) < 5 or hello[0] != _HANDSHAKE or len(hello) < 5 + int.from_bytes(hello[3:5], "big"):
        return None
    body = hello[5:]
    at = 38
    at += 1 + body[at]
    at += 2 + int.from_bytes(body[at : at + 2], "big")
    at += 1 + body[at]
    end = at + 2 + int.from_bytes(body[at : at + 2], "big")
    at += 2
    while at + 4 <= min(end, len(body)):
        kind, size = int.from_bytes(body[at : at + 2], "big"), int.from_bytes(body[at + 2 : at + 4], "big")
        if kind == 0:
            length = int.from_bytes(body[at + 7 : at + 9], "big")
            return body[at + 9 : at + 9 + length].decode("ascii")
        at += 4 + size
    return None


def host_header(request: bytes) -> str | None:
    """The one ``Host`` of an HTTP request; ``None`` where its head is not whole or has none or several."""
    head, end, _ = request.partition(b"\r\n\r\n")
    hosts = re.findall(rb"(?im)^host:[ \t]*([^\r\n:]+)", head) if end else []
    return bytes(hosts[0]).decode("ascii").strip() if len(hosts) == 1 else None


class Doorkeeper:
    """Answers on the ports of one gateway.

    Args:
        allowed: names of hosts, lower case.
        connect: (name, port) -> a connection; by default to public addresses only.
    """

    def __init__(self, allowed: Sequence[str], connect: Connect | None = None) -> None:
        self.allowed = frozenset(allowed)
        self._connect = connect or connect_publicly

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, from its first bytes to its end."""
        out = None
        try:
            port = int(writer.get_extra_info("sockname")[1])
            async with asyncio.timeout(_SECONDS):
                first, name = await self._asked(reader, server_name if port == 443 else host_header)
                if name is None or name.lower().rstrip(".") not in self.allowed:
                    return
                back, out = await self._connect(name, port)
            out.write(first)
            await asyncio.gather(_pipe(reader, out), _pipe(back, writer))
        except (OSError, IndexError, ValueError, TimeoutError):
            pass
        finally:
            for end in (writer, out):
                if end is not None:
                    end.close()

    async def _asked(
        self, reader: asyncio.StreamReader, read: Callable[[bytes], str | None]
    ) -> tuple[bytes, str | None]:
        """What a client sent until it named a host, and that name."""
        first = b""
        while len(first) < _FIRST:
            piece = await reader.read(_FIRST)
            if not piece:
                break
            first += piece
            name = read(first)
            if name is not None:
                return first, name
        return first, None


async def connect_publicly(name: str, port: int) -> Streams:
    """A connection to a host's first address that is one of the public internet.

    Raises:
        OSError: it has none, or does not answer.
    """
    found = await asyncio.get_running_loop().getaddrinfo(name, port, type=socket.SOCK_STREAM)
    for entry in found:
        if ipaddress.ip_address(str(entry[4][0])).is_global:
            return await asyncio.open_connection(str(entry[4][0]), port)
    raise OSError(f"{name} has no public address")


async def _pipe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
        writer.write_eof()
    except (OSError, RuntimeError):
        pass


async def main(allowed: Sequence[str]) -> None:
    """Listen until killed; says ``ready`` once connections are taken."""
    keeper = Doorkeeper(allowed)
    servers = [await asyncio.start_server(keeper.serve, "0.0.0.0", port) for port in PORTS]
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    await asyncio.gather(*(server.serve_forever() for server in servers))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
