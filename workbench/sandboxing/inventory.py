"""The images we made: what is there, and taking it away."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from workbench.sandboxing import labels
from workbench.sandboxing.engine import Engine, explanation, status_code


@dataclass(frozen=True)
class OwnImage:
    """An image of ours.

    Attributes:
        name: its tag, ``<none>`` when another image took the tag.
        id: ``sha256:...``.
        kind: ``task`` or ``base``.
        containers: how many use it, running or not.
        substitutes: bases of the Dockerfile that others stand in for.
    """

    name: str
    id: str
    kind: str
    size_bytes: int
    containers: int
    substitutes: tuple[str, ...] = ()


def inventory(engine: Engine) -> list[OwnImage]:
    """Our images, by name. Images that others built on ours carry our labels, but not our names.

    Raises:
        EngineGoneError, MachineError: no engine to ask.
    """
    found: Any = engine.blocking(lambda api: api.images(filters={"label": labels.IMAGE}))
    containers: Any = engine.blocking(lambda api: api.containers(all=True))
    users = [str(container["ImageID"]) for container in containers]
    images = [_own(record, users.count(str(record["Id"]))) for record in found if _ours(record)]
    return sorted(images, key=lambda image: (image.kind, image.name, image.id))


def remove(engine: Engine, images: Iterable[OwnImage]) -> tuple[list[str], dict[str, str]]:
    """Remove images, those built on others first; (names removed, name -> why it stays)."""
    removed: list[str] = []
    kept: dict[str, str] = {}
    for image in sorted(images, key=lambda image: image.kind, reverse=True):
        name = image.id if image.name == "<none>" else image.name
        try:
            engine.blocking(lambda api, name=name: api.remove_image(name))  # type: ignore[misc]
            removed.append(image.name)
        except Exception as error:
            if status_code(error) is None:
                raise
            kept[image.name] = explanation(error)
    return removed, kept


def _ours(record: dict[str, Any]) -> bool:
    if labels.RUN in record["Labels"]:  # the files of a trial, taken for its verification
        return False
    tags = _tags(record)
    if not tags:
        return bool(record["Labels"].get(labels.IMAGE) == "task")
    return all(tag.startswith(f"{labels.REPOSITORY}/") for tag in tags)


def _own(record: dict[str, Any], containers: int) -> OwnImage:
    marks = record["Labels"]
    name = next(iter(_tags(record)), "<none>")
    substitutes = json.loads(marks.get(labels.SUBSTITUTES) or "{}")
    size = int(record.get("Size") or 0)
    return OwnImage(name, str(record["Id"]), str(marks[labels.IMAGE]), size, containers, tuple(substitutes))


def _tags(record: dict[str, Any]) -> list[str]:
    """An image's names; Podman puts a registry before them."""
    tags = [str(tag) for tag in record.get("RepoTags") or () if tag != "<none>:<none>"]
    return [tag.removeprefix("docker.io/").removeprefix("localhost/") for tag in tags]
