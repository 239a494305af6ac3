"""``inspect sandbox cleanup docker-sdk [ID]``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import click

from workbench.core.errors import MachineError, TrialError, UsageError, WorkbenchError
from workbench.core.terminal import console, safe
from workbench.sandboxing import labels, network
from workbench.sandboxing.engine import Engine
from workbench.sandboxing.orphans import sweep


async def clean_up(engine: Engine, id: str | None) -> None:
    """Remove what runs that are over have left, or the one container of ours with this id.

    Raises:
        UsageError: none of ours has it, or several begin with it.
        MachineError: it cannot be removed, or there is no engine.
    """
    out = console()
    await engine.info()
    if id is not None:
        removed, left = await sweep(engine, only=id)
        if removed + left == 0:
            known = "docker ps --all --filter label=" + labels.RUN
            raise UsageError(f"no container of this workbench has the id {safe(id)}; list them with: {known}")
        if not removed:
            raise MachineError(f"container {safe(id)} cannot be removed; try: docker rm --force {safe(id)}")
        out.print(f"removed {safe(id)}")
        return
    removed, used = await sweep(engine)
    await network.remove_unused(engine)
    out.print(f"removed {removed} containers of runs that are over")
    if used:
        out.print(f"left {used} of runs that go on; remove one with: inspect sandbox cleanup docker-sdk ID")


@contextmanager
def for_people() -> Iterator[None]:
    """Within this context an error of ours is one line and an exit code for Inspect's command line."""
    try:
        yield
    except WorkbenchError as error:
        raise _ShownError(error) from None


class _ShownError(click.ClickException):
    def __init__(self, error: WorkbenchError) -> None:
        lost = isinstance(error, TrialError)
        self.exit_code = MachineError.exit_code if lost else error.exit_code  # type: ignore[misc]
        super().__init__(error.detail if isinstance(error, TrialError) else str(error))
