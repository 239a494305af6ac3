"""``inspect sandbox cleanup docker-sdk [ID]``."""

from __future__ import annotations

from workbench.core.errors import UsageError
from workbench.core.terminal import console
from workbench.sandboxing import network
from workbench.sandboxing.engine import Engine
from workbench.sandboxing.orphans import sweep


async def clean_up(engine: Engine, id: str | None) -> None:
    """Remove what runs that are over have left, or the one container of ours with this id.

    Raises:
        UsageError: none of ours has it.
    """
    out = console()
    if id is None:
        removed, used = await sweep(engine)
        await network.remove_unused(engine)
        out.print(f"removed {removed} containers of runs that are over")
        if used:
            out.print(
                f"left {used} of runs that go on; remove one with: inspect sandbox cleanup docker-sdk ID"
            )
        return
    if await sweep(engine, only=id) == (0, 0):
        raise UsageError(f"no container of this workbench has the id {id}")
    out.print(f"removed {id}")
