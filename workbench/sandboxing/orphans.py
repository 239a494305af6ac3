"""What runs that are over have left with the engine: found by their labels, and taken away."""

from __future__ import annotations

import logging
from typing import Any

from workbench.core.errors import UsageError
from workbench.sandboxing import labels
from workbench.sandboxing.container import Container
from workbench.sandboxing.engine import Engine, explanation, status_code
from workbench.sandboxing.gateway import open_up
from workbench.sandboxing.groups import together

logger = logging.getLogger(__name__)


async def sweep(engine: Engine, *, only: str | None = None) -> tuple[int, int]:
    """Remove our containers whose process is gone; strangers' containers are never touched.

    Args:
        only: remove the one container of ours with this id (or its first four digits or more), used or not.

    Returns:
        (removed, left because somebody uses them or they resist).

    Raises:
        UsageError: several begin with `only`; none is removed.
    """
    filters = {"label": labels.RUN}
    found: Any = await engine.call(lambda api: api.containers(all=True, filters=filters), repeatable=True)
    if only is not None:
        found = [record for record in found if len(only) >= 4 and str(record["Id"]).startswith(only)]
        if len(found) > 1:
            ids = ", ".join(str(record["Id"])[:12] for record in found)
            raise UsageError(f"several containers begin with {only}: {ids}; give more of the id")
    stale = [Container(engine, str(record["Id"])) for record in found if only or _over(record)]
    gone: list[Container] = []

    async def remove(container: Container) -> None:
        if await _remove_quietly(container):
            gone.append(container)

    async with together() as tasks:
        for container in stale:
            tasks.start_soon(remove, container)
    if only is None:
        await _sweep_others(engine)
    return len(gone), len(found) - len(gone)


async def _sweep_others(engine: Engine) -> None:
    """Remove the networks of trials, and the images made for verification, of runs that are over."""
    filters = {"label": labels.OWNER}
    images: Any = await engine.call(lambda api: api.images(filters=filters), repeatable=True)
    networks: Any = await engine.call(lambda api: api.networks(filters=filters), repeatable=True)
    for record in filter(_over, networks):
        await open_up(engine, str(record["Id"]))
    for record in filter(_over, images):
        await drop_image(engine, str(record["Id"]))


async def drop_image(engine: Engine, image: str) -> None:
    """Remove a snapshot; one that is in use stays for the next sweep."""
    try:
        await engine.call(lambda api: api.remove_image(image, force=True, noprune=True))
    except Exception as error:
        if status_code(error) is None:
            raise


def _over(record: dict[str, Any]) -> bool:
    owner = labels.Owner.parse((record.get("Labels") or {}).get(labels.OWNER, ""))
    return owner is not None and owner.gone()


async def _remove_quietly(container: Container) -> bool:
    """Whether it is gone."""
    try:
        await container.remove()
        return True
    except Exception as error:
        logger.warning("container %s could not be removed: %s", container.id[:12], explanation(error))
        return False
