"""Which tasks an image was made for, and when it was last wanted: kept on this machine, not in the image.

Images themselves say nothing of tasks; what they say can be found out from within a container.
"""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from workbench.core.atomic import write_text
from workbench.core.digest import short
from workbench.core.errors import MachineError
from workbench.core.workspace import cache_root
from workbench.sandboxing.config import BuildPlan
from workbench.sandboxing.labels import Owner

_MOST_TASKS = 50


class _Entry(BaseModel):
    """One file, named by the digest of a plan."""

    model_config = ConfigDict(frozen=True)
    schema_version: int = 1
    tasks: tuple[str, ...]
    used: float
    owner: str


@dataclass(frozen=True)
class Use:
    """What is known of an image's use.

    Attributes:
        tasks: titles of its plans, ``suite/task`` or a folder; the latest last.
        used: when it was last wanted, seconds since the epoch.
        by_a_run: whether the process that wanted it last is still there.
    """

    tasks: tuple[str, ...]
    used: float
    by_a_run: bool


def note(plan: BuildPlan) -> None:
    """Remember that this process wants the image of a plan; a full disk is no reason not to run."""
    before = _read(_file(plan.digest))
    others = [task for task in (before.tasks if before else ()) if task != plan.title]
    tasks = (*others, plan.title)[-_MOST_TASKS:]
    entry = _Entry(tasks=tasks, used=time.time(), owner=str(Owner.current()))
    with contextlib.suppress(MachineError):
        write_text(_file(plan.digest), entry.model_dump_json())


def use_of(digest: str) -> Use | None:
    """What is known of the image of a plan with this digest; ``None`` where it was made elsewhere."""
    entry = _read(_file(digest))
    if entry is None:
        return None
    owner = Owner.parse(entry.owner)
    return Use(entry.tasks, entry.used, owner is not None and not owner.gone())


def forget(digest: str) -> None:
    """The image is gone."""
    _file(digest).unlink(missing_ok=True)


def _file(digest: str) -> Path:
    return cache_root() / "images" / f"{short(digest)}.json"


def _read(file: Path) -> _Entry | None:
    try:
        return _Entry.model_validate_json(file.read_bytes())
    except (OSError, ValidationError):
        return None
