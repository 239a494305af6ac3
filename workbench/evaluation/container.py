"""Which sandbox a trial runs in, and what is known of its container, behind Inspect's proxy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inspect_ai.util import SandboxEnvironment
from inspect_ai.util._sandbox.registry import registry_find_sandboxenv

from workbench.core.errors import UsageError
from workbench.evaluation.layout import HOME

if TYPE_CHECKING:
    from workbench.sandboxing.providers.docker import DockerSandbox

PROVIDER = "docker-sdk"
LOCAL = "local"


def provider_of(environment: SandboxEnvironment) -> str:
    """What the sandbox is called on the command line.

    Raises:
        UsageError: a provider that cannot run these tasks. Nothing may be installed in it: what
            is right in a container would overwrite the host in a sandbox that is none.
    """
    for provider in (LOCAL, PROVIDER):
        try:
            environment.as_type(registry_find_sandboxenv(provider))
        except TypeError:
            continue
        return provider
    usual = f"workbench tasks run in '{PROVIDER}' or '{LOCAL}'"
    raise UsageError(f"{usual}; leave out --sandbox, or give one of them")


def docker_of(environment: SandboxEnvironment) -> DockerSandbox | None:
    """Our Docker sandbox, ``None`` in another one."""
    from workbench.sandboxing.providers.docker import DockerSandbox

    try:
        return environment.as_type(DockerSandbox)
    except TypeError:
        return None


def verifiers_home(environment: SandboxEnvironment) -> dict[str, str]:
    """``HOME`` for root: the image's own, not what an agent may have written into ``/etc/passwd``.

    A verifier's installers read their settings there.
    """
    box = docker_of(environment)
    if box is None:
        return {}
    pairs = (entry.partition("=") for entry in box.started.image["Config"].get("Env") or ())
    return {"HOME": next((value for name, _, value in pairs if name == "HOME"), HOME)}


def image_of(environment: SandboxEnvironment) -> str | None:
    """Content id of the container's image."""
    box = docker_of(environment)
    return None if box is None else box.image


def notes_of(environment: SandboxEnvironment) -> list[str]:
    """What of the sandbox is not as the task asked: substituted bases, limits that are not enforced."""
    box = docker_of(environment)
    if box is None:
        return []
    swapped = {} if box.started.build is None else box.started.build.substitutes
    bases = [f"base image {new} in place of {old}" for old, new in sorted(swapped.items())]
    return [*bases, *box.started.limits.notes]
