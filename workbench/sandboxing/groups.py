"""Tasks side by side whose first error comes out as itself, so that callers can tell what it is."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import anyio.abc


@asynccontextmanager
async def together() -> AsyncIterator[anyio.abc.TaskGroup]:
    """A task group; when tasks fail, the first failure is raised without a group around it."""
    try:
        async with anyio.create_task_group() as tasks:
            yield tasks
    except ExceptionGroup as failures:
        raise failures.exceptions[0] from None
