"""A socket before a real engine that can be taken away and brought back, as when its daemon restarts."""

from __future__ import annotations

import contextlib
import socket
import threading
from pathlib import Path


class Relay:
    """Passes every connection on to `target`, byte for byte, while it is up."""

    def __init__(self, path: Path, target: str) -> None:
        self.url = f"unix://{path}"
        self._path = path
        self._target = target
        self._open: list[socket.socket] = []
        self._listener: socket.socket | None = None
        self.up()

    def up(self) -> None:
        """Take connections."""
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(self._path))
        self._listener.listen(64)
        threading.Thread(target=self._accept, args=(self._listener,), daemon=True).start()

    def down(self) -> None:
        """Break off every connection and take no more."""
        self._path.unlink(missing_ok=True)
        for each in (self._listener, *self._open):
            if each is not None:
                with contextlib.suppress(OSError):
                    each.shutdown(socket.SHUT_RDWR)
                each.close()
        self._open.clear()

    def _accept(self, listener: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = listener.accept()
                engine = socket.socket(socket.AF_UNIX)
                engine.connect(self._target)
                self._open += [client, engine]
                for source, sink in ((client, engine), (engine, client)):
                    threading.Thread(target=_pump, args=(source, sink), daemon=True).start()


def _pump(source: socket.socket, sink: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(1 << 16):
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)
