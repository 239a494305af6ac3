"""Why an engine would not make or start a container: for what the task asks, or for the machine's reasons."""

from __future__ import annotations

import re
from typing import Any

from inspect_ai.util import ExecResult

from workbench.core.errors import InfrastructureError
from workbench.sandboxing import podman
from workbench.sandboxing.engine import explanation, status_code

_PROGRAM = re.compile(
    r"(?:exec: \"|executable file [`'])(?P<program>[^\"`']+)[\"`'].*"
    r"(?P<why>no such file|not found|permission denied|is a directory|exec format error)",
    re.DOTALL,
)
_OWN_FAULT = re.compile(
    r"invalid argument|invalid mount|invalid environment|invalid specification|cannot unmarshal"
    r"|can't contain null|argument list too long|is not a directory|not a directory",
    re.IGNORECASE,
)
"""Words on settings that no engine takes, however often it is asked. All others may be the machine's."""


def refusal(error: BaseException, image: dict[str, Any]) -> InfrastructureError:
    """The error for a container that an engine has refused.

    Args:
        error: its refusal, with a status.
        image: the engine's record of the image.

    Returns:
        ``task:unsupported`` for what lies in the task or its image, which is not tried again; ``infra:start``
        for all else.
    """
    said = explanation(error)
    program = _PROGRAM.search(said)
    if program is not None:
        return InfrastructureError("task:unsupported", _no_program(program, image))
    if status_code(error) == 400 or _OWN_FAULT.search(said):
        return InfrastructureError(
            "task:unsupported",
            f"the engine refuses what the task asks for: {said}; change its limits or image",
        )
    return InfrastructureError("infra:start", said)


def _no_program(found: re.Match[str], image: dict[str, Any]) -> str:
    name, why = found["program"], found["why"].lower()
    if (image.get("Config") or {}).get("Entrypoint"):
        return f"the image's ENTRYPOINT cannot run: {name}: {why}; correct ENTRYPOINT in the Dockerfile"
    if name == "/bin/sh":
        return (
            f"the image has no usable /bin/sh ({why}), and commands are run by one; "
            "start FROM an image with a shell, e.g. debian:stable-slim or alpine"
        )
    return f"the image cannot run {name}: {why}; is it for this processor?"


def not_started(said: str) -> ExecResult[str]:
    """The result of a command that the engine could not start, as a shell would report it.

    Raises:
        PermissionError: it may not be run.
    """
    words = said.partition(podman.NOISE)[0]
    plain = words.lower()
    if "permission denied" in plain:
        raise PermissionError(words)
    missing = "executable file not found" in plain or "no such file or directory" in plain
    code = 126 if "chdir to " in plain or "chdir `" in plain or not missing else 127
    return ExecResult(False, code, "", words + "\n")
