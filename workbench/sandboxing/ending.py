"""How a container ended, by the engine's account: its state, the limits it exhausted, its last words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import anyio

from workbench.sandboxing.engine import Engine, explanation, status_code
from workbench.sandboxing.limits import exhausted

_LOG_LINES = 20
_KILLED = 137
_SETTLES = (0.05, 0.1, 0.25, 0.5, 1.0)
"""Seconds between looks at a container whose end nothing explains yet; of one that ended, the first few."""
_COUNTS_IN = 3


@dataclass(frozen=True)
class Ended:
    """What the engine says of a container from which no command comes back.

    Attributes:
        state: its record of the state; empty where the container was removed.
        spent: limits that were exhausted, by name.
        log: the end of its log.
    """

    state: dict[str, Any]
    spent: tuple[str, ...] = ()
    log: str = ""

    def __str__(self) -> str:
        if not self.state:
            return "the container was removed"
        parts = [f"status {self.state.get('Status')}", f"exit code {self.state.get('ExitCode')}"]
        parts += [name.replace("_", " ") for name in self.spent]
        if self.state.get("Error"):
            parts.append(str(self.state["Error"]))
        now = "runs, but its commands are lost" if self.state.get("Running") else "is gone"
        tail = f"; its last output: {self.log}" if self.log else ""
        return f"the container {now} ({', '.join(parts)}){tail}"


async def how_it_ended(engine: Engine, container: str, disk_breaches: int) -> Ended:
    """What became of a container.

    The engine calls one running for a while after the kernel ended its processes, and knows that memory ran
    out only once the kernel's count is in, so what nothing explains is asked again.

    Args:
        disk_breaches: how often the container was seen beyond its disk limit.

    Raises:
        EngineGoneError: nobody can say.
    """
    for at, pause in enumerate((*_SETTLES, None)):
        state = await state_of(engine, container)
        spent = await _spent(engine, container, state, disk_breaches) if state else ()
        ended = not state.get("Running") and (state.get("ExitCode") != _KILLED or at >= _COUNTS_IN)
        if spent or ended or pause is None:
            break
        await anyio.sleep(pause)
    return Ended(state, spent, await _log_tail(engine, container) if state else "")


async def state_of(engine: Engine, container: str) -> dict[str, Any]:
    """The engine's record of a container's state; empty when there is no such container."""
    try:
        found: Any = await engine.call(lambda api: api.inspect_container(container), repeatable=True)
    except Exception as error:
        if status_code(error) == 404:
            return {}
        raise
    return dict(found["State"])


async def _spent(
    engine: Engine, container: str, state: Mapping[str, Any], disk_breaches: int
) -> tuple[str, ...]:
    if state.get("OOMKilled"):
        return ("out_of_memory",)
    if not state.get("Running"):
        return ("disk_limit",) if disk_breaches else ()
    try:
        found: Any = await engine.call(lambda api: api.stats(container, stream=False, one_shot=True))
    except Exception as error:
        if status_code(error) is None:
            raise
        return ()
    return exhausted(found)


async def _log_tail(engine: Engine, container: str) -> str:
    try:
        text: Any = await engine.call(lambda api: api.logs(container, tail=_LOG_LINES))
    except Exception as error:
        return f"(no log: {explanation(error)})"
    return " | ".join(bytes(text).decode("utf-8", "replace").split("\n"))[-2000:].strip(" |")
