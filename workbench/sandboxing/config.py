"""What a container is made of: an image or the plan of one, limits, network, environment."""

from __future__ import annotations

import posixpath
import re
from typing import Any

from annotated_types import Ge, Le
from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from workbench.core.types import Network

_MOST_MB = 1 << 24
_EXAMPLE_MB = 1024
_MOST_PIDS = 1 << 22
"""The kernel's own bound."""
_LONGEST = 131_071
"""Bytes of one ``NAME=value`` that the kernel hands on; `_ALL_VARIABLES` of all that a task adds."""
_ALL_VARIABLES = 1 << 20
_OWN_MOUNTS = ("/", "/proc", "/sys", "/dev")
_HOST = re.compile(r"(?=.{1,253}\Z)(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z]{2,63}")


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class BuildPlan(_Frozen):
    """How to build one image, and what is known of it before. Made by `images.plan`.

    Attributes:
        tag: ``skill-workbench/task:<hash>``; names the content: context, modes, Dockerfile, choices.
        digest: sha256 of the same, hex.
        title: for people, e.g. the task's folder; not part of the digest.
        context: absolute path of the build context.
        dockerfile: path inside the context.
        empty: folders of the context that are sent without their contents.
        context_bytes: size of what is sent.
        base_images: images it starts from or copies from, as written.
        substitute_bases: a base that cannot be had may be replaced by one built from Debian packages.
        places: absolute container paths at which the emptied folders land as a whole.
        workdir: absolute; ``/`` where the Dockerfile sets none.
        user: as written, empty where the Dockerfile sets none.
        refusals: why the engine's classic builder cannot build it; empty when it can.
        notes: what was changed so that the classic builder can.
        timeout: seconds the build may take.
    """

    tag: str
    digest: str
    title: str
    context: str
    dockerfile: str
    empty: tuple[str, ...] = ()
    context_bytes: int = 0
    base_images: tuple[str, ...] = ()
    substitute_bases: bool = False
    places: tuple[str, ...] = ()
    workdir: str = "/"
    user: str = ""
    refusals: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    timeout: float = 600.0

    @property
    def needs_buildkit(self) -> bool:
        """Whether only BuildKit can build it."""
        return bool(self.refusals)


class DockerConfig(_Frozen):
    """One kind of container. Hashable: equal configurations share their preparation.

    Attributes:
        image: an image to run, or
        build: the plan of one; exactly one of the two.
        cpus: processors, from 0.01 (the kernel's least share); more than the machine has is cut to that.
        memory_mb: memory in MiB, swap included; cut like `cpus`.
        storage_mb: MiB for changed files, 10 GiB where not given; where the storage driver cannot
            enforce it, a watchdog kills what writes more.
        gpus: number of GPUs; refused with a reason, this provider has none to give.
        network: while the agent runs.
        allow: hosts, by exact name, whose ports 80 and 443 may be reached where `network` is ``none``.
        network_verify: what a later `set_network` may ask for.
        workdir: absolute; the image's where not given.
        user: name or uid[:gid]; the image's where not given.
        env: variables added to the image's; given as a mapping.
        pids: processes and threads.
        shm_mb: size of ``/dev/shm`` in MiB.
        tmpfs: absolute folders kept in memory, and their size in MiB; given as a mapping.
    """

    image: str | None = None
    build: BuildPlan | None = None
    cpus: float = Field(default=2.0, ge=0.01, le=4096, allow_inf_nan=False)
    memory_mb: int = Field(default=4096, ge=16, le=_MOST_MB)
    storage_mb: int | None = Field(default=None, ge=1, le=_MOST_MB)
    gpus: int = Field(default=0, ge=0)
    network: Network = "none"
    allow: tuple[str, ...] = ()
    network_verify: Network = "none"
    workdir: str | None = None
    user: str | None = None
    env: tuple[tuple[str, str], ...] = ()
    pids: int = Field(default=512, ge=16, le=_MOST_PIDS)
    shm_mb: int = Field(default=64, ge=1, le=_MOST_MB)
    tmpfs: tuple[tuple[str, int], ...] = ()

    @field_validator("env", "tmpfs", mode="before")
    @classmethod
    def _pairs(cls, value: Any) -> Any:
        """A mapping as sorted pairs, so that the configuration can be hashed."""
        return tuple(sorted(value.items())) if isinstance(value, dict) else value

    @field_validator("workdir")
    @classmethod
    def _absolute(cls, value: str | None) -> str | None:
        if value is not None and (not value.startswith("/") or "\0" in value):
            raise ValueError("must be an absolute path")
        return value

    @field_validator("env")
    @classmethod
    def _variables(cls, value: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
        for name, text in value:
            if not name or "=" in name or "\0" in name + text:
                raise ValueError(f"{name!r} cannot be a variable: a name without '=', a text without NUL")
            if len(f"{name}={text}".encode()) > _LONGEST:
                raise ValueError(f"{name} is longer than the {_LONGEST} bytes that a kernel hands on")
        if sum(len(name) + len(text.encode()) + 2 for name, text in value) > _ALL_VARIABLES:
            raise ValueError(f"all variables together must be at most {_ALL_VARIABLES} bytes")
        return value

    @field_validator("tmpfs")
    @classmethod
    def _folders(cls, value: tuple[tuple[str, int], ...]) -> tuple[tuple[str, int], ...]:
        for path, size in value:
            plain = posixpath.normpath(path)
            if not path.startswith("/") or "\0" in path or f"/{plain.lstrip('/')}" in _OWN_MOUNTS:
                raise ValueError(
                    f"{path!r} must be an absolute folder, and none of: {', '.join(_OWN_MOUNTS)}"
                )
            if not 1 <= size <= _MOST_MB:
                raise ValueError(f"{path}: must be 1 to {_MOST_MB} MiB")
        return value

    @field_validator("allow")
    @classmethod
    def _names(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for name in value:
            if not _HOST.fullmatch(name):
                raise ValueError(f"'{name}' is not the name of a host, e.g. pypi.org")
        return tuple(sorted({name.lower() for name in value}))

    @model_validator(mode="after")
    def _one_source(self) -> DockerConfig:
        if (self.image is None) == (self.build is None):
            raise ValueError("give either 'image' or 'build'")
        return self

    @property
    def reference(self) -> str:
        """The image's name or tag."""
        return self.build.tag if self.build else self.image or ""


def allowed(key: str) -> str:
    """What one of a configuration's limits may be, for people: ``0.01 to 4096, e.g. cpus = 2``."""
    field = DockerConfig.model_fields[key]
    low = next((bound.ge for bound in field.metadata if isinstance(bound, Ge)), None)
    high = next((bound.le for bound in field.metadata if isinstance(bound, Le)), None)
    return f"{low} to {high}, e.g. {key} = {field.default or _EXAMPLE_MB:g}"
