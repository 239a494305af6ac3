"""A lost container or engine as the error that Inspect knows, so that it never passes for a result."""

from __future__ import annotations

from inspect_ai.util._sandbox.environment import SandboxUnavailableError

from workbench.sandboxing.container import ContainerLostError
from workbench.sandboxing.engine import EngineGoneError


class SandboxLostError(SandboxUnavailableError):
    """The container or the engine is gone; no result of the command is known.

    Attributes:
        cause: ``agent_resource`` (it took all memory; another container would not help),
            ``infra:sandbox_lost`` or ``infra:engine``, see `errors.POLICY`; the message starts with it.
        out_of_memory: whether the engine says that the container ran out of memory.
    """

    def __init__(self, cause: str, detail: str, *, out_of_memory: bool = False) -> None:
        self.cause = cause
        self.out_of_memory = out_of_memory
        super().__init__(f"[{cause}] {detail}")


class Losses:
    """Within this context a lost container or engine is a `SandboxLostError`."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, ContainerLostError):
            memory = error.out_of_memory
            cause = "agent_resource" if memory else "infra:sandbox_lost"
            raise SandboxLostError(cause, str(error), out_of_memory=memory) from error
        if isinstance(error, EngineGoneError):
            raise SandboxLostError(error.cause, error.detail) from error
