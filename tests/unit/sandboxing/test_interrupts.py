"""SIGTERM and SIGHUP interrupt as Ctrl-C does, unless somebody has decided otherwise."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Iterator

import pytest
from uvicorn import Config, Server

from workbench.sandboxing import interrupts
from workbench.sandboxing.interrupts import heed

BOTH = (signal.SIGTERM, signal.SIGHUP)


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in (*BOTH, signal.SIGINT)}
    for number in BOTH:
        signal.signal(number, signal.SIG_DFL)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", BOTH)
@pytest.mark.parametrize("ctrl_c", [signal.default_int_handler, signal.SIG_IGN])
def test_both_signals_interrupt_even_where_ctrl_c_is_ignored(number: signal.Signals, ctrl_c: object) -> None:
    signal.signal(signal.SIGINT, ctrl_c)  # type: ignore[arg-type]
    heed()
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(number)


@pytest.mark.parametrize("ctrl_c", [signal.default_int_handler, signal.SIG_IGN])
def test_inspects_control_server_does_not_keep_sigterm_deadly_nor_swallow_it(
    ctrl_c: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(interrupts, "_SERVER_SECONDS", 0.1)
    signal.signal(signal.SIGINT, ctrl_c)  # type: ignore[arg-type]

    async def nothing(scope: object, receive: object, send: object) -> None: ...

    async def run() -> None:
        server = Server(Config(nothing))
        with server.capture_signals():
            heed()
            signal.raise_signal(signal.SIGTERM)
            assert server.should_exit
        await asyncio.sleep(10)

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(run())


@pytest.mark.parametrize("own", [signal.SIG_IGN, lambda number, frame: None], ids=["nohup", "handler"])
def test_what_a_program_has_decided_itself_stays(own: object) -> None:
    signal.signal(signal.SIGHUP, own)  # type: ignore[arg-type]
    heed()
    assert signal.getsignal(signal.SIGHUP) is own


def test_outside_the_main_thread_nothing_happens() -> None:
    thread = threading.Thread(target=heed)
    thread.start()
    thread.join()
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
