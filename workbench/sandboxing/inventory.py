"""The images we made: what is there, and taking it away."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from workbench.sandboxing import labels
from workbench.sandboxing.engine import Engine, EngineGoneError, explanation, status_code
from workbench.sandboxing.usage import forget, use_of


@dataclass(frozen=True)
class OwnImage:
    """An image of ours.

    Attributes:
        name: its tag, ``<none>`` when another image took the tag.
        id: ``sha256:...``.
        kind: ``task`` or ``base``.
        size_bytes: with the base that it shares with others; `own_bytes` is what it alone takes, and what
            removing it frees, ``None`` where the engine does not say.
        containers: how many use it, running or not.
        substitutes: bases of the Dockerfile that others stand in for.
        tasks: ``suite/task`` it was made for, as far as this machine knows.
        built, used: when it was made and last wanted, seconds since the epoch.
        by_a_run: whether a run that goes on wants it.
        plan: digest of its plan.
    """

    name: str
    id: str
    kind: str
    size_bytes: int
    containers: int
    substitutes: tuple[str, ...] = ()
    own_bytes: int | None = None
    tasks: tuple[str, ...] = ()
    built: float = 0.0
    used: float = 0.0
    by_a_run: bool = False
    plan: str = ""

    @property
    def in_use(self) -> bool:
        """Whether it must stay."""
        return bool(self.containers) or self.by_a_run

    @property
    def suites(self) -> tuple[str, ...]:
        """The suites it was made for."""
        return tuple(sorted({task.partition("/")[0] for task in self.tasks if "/" in task}))


def inventory(engine: Engine) -> list[OwnImage]:
    """Our images: bases, then tasks by name.

    Images that others built on ours carry our labels, but not our names.

    Raises:
        EngineGoneError, MachineError: no engine to ask.
    """
    found: Any = engine.blocking(lambda api: api.images(filters={"label": labels.IMAGE}))
    containers: Any = engine.blocking(lambda api: api.containers(all=True))
    users = [str(container["ImageID"]) for container in containers]
    shared = _shared(engine)
    images = [
        _own(record, users.count(str(record["Id"])), shared.get(str(record["Id"])))
        for record in found
        if _ours(record)
    ]
    return sorted(images, key=lambda image: (image.kind, image.tasks, image.built, image.id))


def remove(engine: Engine, images: Iterable[OwnImage]) -> tuple[list[str], dict[str, str]]:
    """Remove images, those built on others first; (names removed, name -> why it stays)."""
    removed: list[str] = []
    kept: dict[str, str] = {}
    for image in sorted(images, key=lambda image: image.kind, reverse=True):
        name = image.id if image.name == "<none>" else image.name
        try:
            engine.blocking(lambda api, name=name: api.remove_image(name))  # type: ignore[misc]
            removed.append(image.name)
            if image.plan and image.name != "<none>":
                forget(image.plan)
        except Exception as error:
            if status_code(error) is None:
                raise
            kept[name] = explanation(error)
    return removed, kept


def _shared(engine: Engine) -> dict[str, int]:
    """Image id -> bytes that it shares with others; nothing where the engine takes too long to add it up."""
    try:
        found: Any = engine.blocking(lambda api: api.df(), repeatable=False)
    except Exception as error:
        if status_code(error) is None and not isinstance(error, EngineGoneError):
            raise
        return {}
    sizes = {str(record["Id"]): int(record.get("SharedSize") or 0) for record in found.get("Images") or ()}
    return {id: size for id, size in sizes.items() if size >= 0}


def _ours(record: dict[str, Any]) -> bool:
    if labels.RUN in record["Labels"]:  # the files of a trial, taken for its verification
        return False
    tags = _tags(record)
    if not tags:
        return bool(record["Labels"].get(labels.IMAGE) == "task")
    return all(tag.startswith(f"{labels.REPOSITORY}/") for tag in tags)


def _own(record: dict[str, Any], containers: int, shared: int | None) -> OwnImage:
    marks = record["Labels"]
    size, built = int(record.get("Size") or 0), float(record.get("Created") or 0)
    plan = str(marks.get(labels.PLAN) or "")
    use = use_of(plan) if plan else None
    return OwnImage(
        next(iter(_tags(record)), "<none>"),
        str(record["Id"]),
        str(marks[labels.IMAGE]),
        size,
        containers,
        tuple(json.loads(marks.get(labels.SUBSTITUTES) or "{}")),
        own_bytes=None if shared is None else max(size - shared, 0),
        tasks=use.tasks if use else (),
        built=built,
        used=max(built, use.used) if use else built,
        by_a_run=bool(use and use.by_a_run),
        plan=plan,
    )


def _tags(record: dict[str, Any]) -> list[str]:
    """An image's names; Podman puts a registry before them."""
    tags = [str(tag) for tag in record.get("RepoTags") or () if tag != "<none>:<none>"]
    return [tag.removeprefix("docker.io/").removeprefix("localhost/") for tag in tags]
