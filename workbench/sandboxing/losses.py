"""A lost container or engine as an error with its cause, so that it never passes for a result.

None of these is Inspect's ``SandboxUnavailableError``, which a tool call would show to the model as its own
failure while the sample runs on without a sandbox.
"""

from __future__ import annotations

from inspect_ai._util.exception import TerminateSampleError

from workbench.core.errors import InfrastructureError, TrialError
from workbench.sandboxing.container import ContainerLostError
from workbench.sandboxing.engine import EngineGoneError


class SandboxLostError(InfrastructureError):
    """The container (``infra:sandbox_lost``) or the engine (``infra:engine``) is gone; no result is known."""


class SandboxSpentError(TrialError, TerminateSampleError):
    """The container is gone because its commands used it up, by the engine's account (``agent_resource``).

    It ends an Inspect sample as a limit does: without an error, and scored.
    """

    def __init__(self, detail: str) -> None:
        super().__init__("agent_resource", detail)


class Losses:
    """Within this context a lost container or engine is one of the two errors above."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, ContainerLostError):
            if error.spent:
                raise SandboxSpentError(str(error)) from error
            raise SandboxLostError("infra:sandbox_lost", str(error)) from error
        if isinstance(error, EngineGoneError):
            raise SandboxLostError(error.cause, error.detail) from error
