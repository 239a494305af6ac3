"""Holding trials back while the machine cannot take any, instead of failing one after the other."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable

import anyio

from workbench.core.errors import InfrastructureError

logger = logging.getLogger(__name__)
Obstacle = Callable[[], Awaitable[InfrastructureError | None]]
"""Says what is in the way now, if anything is."""


class Pause:
    """The wait of all trials of a process. Once it was in vain, nobody waits again before the way is free.

    Args:
        seconds: how long an obstacle may last; `step` between two looks at it.
    """

    def __init__(self, seconds: float = 120.0, step: float = 1.0) -> None:
        self._seconds = seconds
        self._step = step
        self._lock = anyio.Lock()
        self._in_vain = False

    async def wait(self, obstacle: Obstacle) -> None:
        """Return once nothing is in the way.

        Raises:
            InfrastructureError: what still was when time was up.
        """
        found = await obstacle()
        if found is not None and not self._in_vain:
            async with self._lock:
                found = await self._waited(obstacle)
        self._in_vain = found is not None
        if found is not None:
            raise found

    async def _waited(self, obstacle: Obstacle) -> InfrastructureError | None:
        found = await obstacle()
        if found is None or self._in_vain:
            return found
        logger.warning("trials wait, for %g s at most: %s", self._seconds, found.detail)
        with anyio.move_on_after(self._seconds):
            while found is not None:
                await anyio.sleep(self._step)
                found = await obstacle()
        return found
