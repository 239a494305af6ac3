"""SIGTERM and SIGHUP end a run as Ctrl-C does: its containers are removed before the process goes."""

from __future__ import annotations

import asyncio
import signal
import threading
from types import FrameType
from typing import Any

_NAMES = ("SIGTERM", "SIGHUP")
_SERVER = "uvicorn.server"
"""Inspect's control server runs in the main thread. It holds SIGINT and SIGTERM until it has stopped, puts
the handlers back that it found, and sends the signal again."""
_SERVER_SECONDS = 1.0


def heed() -> None:
    """Have both signals interrupt this process. Called while containers may be made; often is no matter.

    A handler of the program's own stays, and so does a signal that is ignored (``nohup``). Nothing
    happens outside the main thread, where Python takes no handlers.
    """
    if threading.current_thread() is not threading.main_thread():
        return
    for name in _NAMES:
        number = getattr(signal, name, None)
        if number is not None and (
            signal.getsignal(number) is signal.SIG_DFL or _held(signal.getsignal(number))
        ):
            signal.signal(number, _interrupt)


def _held(handler: Any) -> bool:
    return getattr(handler, "__module__", "") == _SERVER


def _interrupt(number: int, frame: FrameType | None) -> None:
    """What Ctrl-C does, also where a shell that put us in the background has had SIGINT ignored."""
    handler = signal.getsignal(signal.SIGINT)
    if not callable(handler):
        raise KeyboardInterrupt
    signal.raise_signal(signal.SIGINT)
    if _held(handler):
        loop = asyncio.get_running_loop()
        loop.call_soon_threadsafe(loop.call_later, _SERVER_SECONDS, _insist)


def _insist() -> None:
    """The server has sent SIGINT again by now; one that is ignored would have been all."""
    if not callable(signal.getsignal(signal.SIGINT)):
        raise KeyboardInterrupt
