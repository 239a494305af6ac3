"""The ``docker-sdk`` sandbox of Inspect: containers through the docker SDK, nothing but an engine needed.

One image serves all conditions of a task and is built before the first sample. A container has
no network unless told, few rights, hard limits, and nothing of the host. A command that fails is
a result; a container or an engine that fails is an error and is never shown as a result.
"""

from __future__ import annotations

import posixpath
import shlex
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, Literal, overload

import anyio
from inspect_ai._util.cpu import effective_cpu_count
from inspect_ai.util import (
    ExecResult,
    OutputLimitExceededError,
    SandboxConnection,
    SandboxEnvironment,
    SandboxEnvironmentConfigType,
    SandboxEnvironmentLimits,
)
from pydantic import BaseModel
from typing_extensions import override

from workbench.core.errors import UsageError, WorkbenchError
from workbench.core.types import Network
from workbench.sandboxing import archive, files, network
from workbench.sandboxing.availability import engine_url
from workbench.sandboxing.cleaning import Swept
from workbench.sandboxing.cleanup import clean_up, for_people
from workbench.sandboxing.config import DockerConfig
from workbench.sandboxing.configuration import resolve
from workbench.sandboxing.counters import Counts, count
from workbench.sandboxing.engine import Engine
from workbench.sandboxing.fleet import Fleet, Started, shared_fleet
from workbench.sandboxing.judging import Judging
from workbench.sandboxing.losses import Losses
from workbench.sandboxing.refusals import not_started
from workbench.sandboxing.services import services
from workbench.sandboxing.transfer import Tree, unpack
from workbench.sandboxing.watchdog import DEFAULT_MB

_LONGEST_PATH = 4095
"""Bytes; Linux' PATH_MAX without its end."""
_NO_USER = "unable to find user"
"""The engine's words on a USER of the image that the image does not know: no command will ever run."""
_NOTE_BYTES = 80
"""Room for our own line at the end of standard error."""


class DockerSandbox(SandboxEnvironment):
    """One container.

    Attributes:
        started: the container, its image and its real limits.
        workdir: what relative paths are relative to.
    """

    def __init__(self, started: Started, config: DockerConfig) -> None:
        super().__init__()
        self.started = started
        self.config = config
        self.container = started.container
        self.workdir = config.workdir or started.image["Config"].get("WorkingDir") or "/"
        self._counted = self._settled = Counts()
        self._spent: tuple[str, ...] = ()
        self._disk_kills = 0
        self._owners: dict[str | None, tuple[int, int]] = {}

    @property
    def image(self) -> str:
        """The content id (``sha256:...``) of the image it was started from."""
        return str(self.started.image["Id"])

    @property
    def incidents(self) -> list[str]:
        """Limits that were met, by the counters as last read; they do not make a result invalid."""
        met = {
            "out_of_memory": self._counted.memory,
            "pids_limit": self._counted.pids,
            "disk_limit": self.container.disk_breaches,
        }
        return [name for name, times in met.items() if times or name in self._spent]

    @override
    async def exec(
        self,
        cmd: list[str],
        input: str | bytes | None = None,
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        user: str | None = None,
        timeout: int | None = None,
        timeout_retry: bool = True,
        concurrency: bool = True,
    ) -> ExecResult[str]:
        """Run a command, see `SandboxEnvironment.exec`.

        A command that times out is killed with all its processes and never run again, whatever
        `timeout_retry` says; how many run at once is bounded by the engine's calls, so
        `concurrency` has nothing to do. Output above the limit keeps its head and its tail.
        """
        limit = SandboxEnvironmentLimits.MAX_EXEC_OUTPUT_SIZE
        if len(cmd[0].encode()) > _LONGEST_PATH:  # would hang in the engine for ever
            return ExecResult(False, 126, "", "the program's name is too long\n")
        with Losses():
            done = await self.container.run(
                cmd,
                given=input.encode("utf-8") if isinstance(input, str) else input,
                cwd=posixpath.join(self.workdir, cwd or ""),
                env=env,
                user=user,
                timeout=timeout,
                limit=limit,
            )
        out, err = done.out.text(limit), done.err.text(limit - _NOTE_BYTES)
        if not done.started:
            if user is None and _NO_USER in err:
                await self._owner(None)
            return not_started(err)
        if done.code > 128:
            err += self._disk_note() or (await self._memory_note() if done.code == 137 else "")
        return ExecResult(done.code == 0, done.code, out, err)

    @override
    async def write_file(self, file: str, contents: str | bytes) -> None:
        data = contents.encode("utf-8") if isinstance(contents, str) else contents
        path = files.absolute(file, self.workdir)
        with Losses():
            await files.write(self.container, path, data, shown=file, user=None)

    @overload
    async def read_file(self, file: str, text: Literal[True] = True) -> str: ...

    @overload
    async def read_file(self, file: str, text: Literal[False]) -> bytes: ...

    @override
    async def read_file(self, file: str, text: bool = True) -> str | bytes:
        limit = SandboxEnvironmentLimits.MAX_READ_FILE_SIZE
        path = files.absolute(file, self.workdir)
        with Losses():
            data = await files.read(self.container, path, shown=file, user=None, limit=limit)
        if len(data) > limit:
            raise OutputLimitExceededError(SandboxEnvironmentLimits.MAX_READ_FILE_SIZE_STR, None)
        return data.decode("utf-8") if text else data

    async def put_files(self, tree: Tree, *, user: str | None = None) -> None:
        """Write files at absolute paths in one transfer, owned by `user`; missing folders are made.

        Existing files are replaced whatever their mode. The engine cannot see into folders kept in
        memory, so files for those go by the container's ``tar``.

        Raises:
            TrialError: ``infra:transfer``, or the container is gone.
        """
        hidden = ("/dev", *(path for path, _ in self.config.tmpfs))
        memory = {path: file for path, file in tree.items() if _below(path, hidden)}
        disk = {path: file for path, file in tree.items() if path not in memory}
        with Losses():
            if disk:
                await archive.put(self.container, disk, await self._owner(user))
        if memory:
            await unpack(self, "/", {path.lstrip("/"): file for path, file in memory.items()}, user)

    async def get_files(self, path: str, *, limit: int = 64 << 20) -> dict[str, tuple[bytes, bool]]:
        """Regular files at or below a path, relative to it, read without any program of the container.

        Raises:
            FileNotFoundError: no such path.
            OutputLimitExceededError: more than `limit` bytes.
        """
        with Losses():
            return await archive.get(self.container, files.absolute(path, self.workdir), limit)

    async def set_network(self, mode: Network) -> None:
        """Connect the running container to the outside, or cut it off again.

        Raises:
            UsageError: the configuration allows ``none`` only.
        """
        if mode == "public" and "public" not in (self.config.network, self.config.network_verify):
            raise UsageError("set_network('public'): the sandbox's network and network_verify are 'none'")
        with Losses():
            await network.join(self.container.engine, self.container.id, mode)

    async def note_services(self) -> None:
        """Call before the agent begins: services of the image that run by now are not the agent's."""
        if self.started.image["Config"].get("Entrypoint"):
            with Losses():
                self.started = replace(self.started, services=await services(self.container))

    @asynccontextmanager
    async def judged(
        self, network: Network, *, fresh: bool, keep: Sequence[str] = ()
    ) -> AsyncIterator[tuple[DockerSandbox, Swept]]:
        """Where a verifier may judge, and what of the agent's changes was undone for it; see `judging`.

        Args:
            network: the verifier's own.
            fresh: in a container of its own, which is gone after the context; else in this one, in
                which the image's own services go on (see `note_services`) and all else is killed.
            keep: absolute paths of the image that the agent was to change.

        Raises:
            TrialError: ``tamper``, it cannot be made fit; the container or the engine is gone.
        """
        judging = Judging(self.fleet(), self.started, self.config, keep)
        with Losses():
            if not fresh:
                yield self, await judging.shared(network)
                return
            async with judging.fresh(network) as (started, swept):
                yield type(self)(started, self.config), swept

    async def alive(self) -> bool:
        """Whether a random word comes back from the container; raises where the engine is gone."""
        with Losses():
            return await self.container.alive()

    async def settle(self) -> None:
        """Make sure that there is something to judge, and note in `incidents` the limits that were met.

        A container that runs is something, even if it has no memory or no process left for a command: the
        engine alone takes its files, or kills what is in the way.

        Raises:
            TrialError: the container or the engine is gone.
        """
        with Losses():
            if await self.container.alive():
                self._counted = self._settled = await self._counts()
                return
            lost = await self.container.lost("the sandbox does not answer")
            if not lost.state.get("Running"):
                raise lost
            self._spent = lost.spent

    async def ran_out_of_memory(self) -> bool:
        """Whether a process was killed for want of memory since the agent ended, by the kernel's count.

        Raises:
            TrialError: the container or the engine is gone.
        """
        with Losses():
            return (await self._counts()).memory > self._settled.memory

    async def _counts(self) -> Counts:
        """The kernel's counters; processes in the background meet limits unseen.

        Without a limit of the container's own a counter is the machine's.
        """
        found, unlimited = await count(self.container), self.started.limits.unlimited
        return Counts(
            memory=0 if "memory" in unlimited else found.memory, pids=0 if "pids" in unlimited else found.pids
        )

    @override
    async def connection(self, *, user: str | None = None) -> SandboxConnection:
        if not (await self.container.state()).get("Running"):
            raise ConnectionError(f"container {self.container.id[:12]} is not running")
        shell = "command -v bash > /dev/null && exec bash -l; exec sh -l"
        who = ["--user", user] if user else []
        command = ["docker", "exec", "-it", *who, self.container.id[:12], "sh", "-c", shell]
        attach: Sequence[Any] = ["remote-containers.attachToRunningContainer", self.container.id[:12]]
        return SandboxConnection(
            type="docker-sdk",
            command=shlex.join(command),
            vscode_command=None if user else list(attach),
            container=self.container.id[:12],
        )

    @override
    def default_polling_interval(self) -> float:
        return 0.2

    @override
    @classmethod
    def default_concurrency(cls) -> int | None:
        """Twice the processors: an agent mostly waits for its model."""
        return 2 * effective_cpu_count()

    @override
    @classmethod
    def config_files(cls) -> list[str]:
        return ["Dockerfile"]

    @override
    @classmethod
    def config_deserialize(cls, config: dict[str, Any]) -> BaseModel:
        return DockerConfig.model_validate(config)

    @override
    @classmethod
    async def task_init_environment(
        cls, config: SandboxEnvironmentConfigType | None, metadata: dict[str, str]
    ) -> dict[str, str]:
        """Called for every selected sample before `task_init`: the time to learn which images are needed."""
        with _Prerequisites():
            cls.fleet().expect(resolve(config))
        return {}

    @override
    @classmethod
    async def task_init(cls, task_name: str, config: SandboxEnvironmentConfigType | None) -> None:
        """Build all expected images. A failing one excludes its own samples only."""
        with _Prerequisites():
            await cls.fleet().prepare(resolve(config))

    @override
    @classmethod
    async def sample_init(
        cls, task_name: str, config: SandboxEnvironmentConfigType | None, metadata: dict[str, str]
    ) -> dict[str, SandboxEnvironment]:
        wanted = resolve(config)
        return {"default": cls(await cls.fleet().start(wanted), wanted)}

    @override
    @classmethod
    async def sample_cleanup(
        cls,
        task_name: str,
        config: SandboxEnvironmentConfigType | None,
        environments: dict[str, SandboxEnvironment],
        interrupted: bool,
    ) -> None:
        with anyio.CancelScope(shield=True):
            await cls.fleet().remove(
                [each.as_type(DockerSandbox).container for each in environments.values()]
            )

    @override
    @classmethod
    async def task_cleanup(
        cls, task_name: str, config: SandboxEnvironmentConfigType | None, cleanup: bool
    ) -> None:
        with anyio.CancelScope(shield=True):
            await cls.fleet().close(cleanup=cleanup)

    @override
    @classmethod
    async def cli_cleanup(cls, id: str | None) -> None:
        with for_people():
            await clean_up(Engine(), id)

    @classmethod
    def fleet(cls) -> Fleet:
        """Where containers are started; a subclass may have one of its own."""
        return shared_fleet(engine_url())

    async def _owner(self, user: str | None) -> tuple[int, int]:
        """uid and gid of a user, by the container's own books."""
        if user not in self._owners:
            self._owners[user] = await archive.owner(self.container, user)
        return self._owners[user]

    def _disk_note(self) -> str:
        """A line for standard error when a kill was the disk limit's doing."""
        if self.container.disk_breaches <= self._disk_kills:
            return ""
        self._disk_kills = self.container.disk_breaches
        return f"\n[killed: the disk limit of {self.config.storage_mb or DEFAULT_MB} MiB was reached]\n"

    async def _memory_note(self) -> str:
        """A line for standard error when a kill was the memory limit's doing, by the kernel's counters."""
        before = self._counted.memory
        with Losses():
            self._counted = await self._counts()
        if self._counted.memory <= before:
            return ""
        return f"\n[killed: the memory limit of {self.started.limits.memory >> 20} MiB was reached]\n"


def _below(path: str, folders: tuple[str, ...]) -> bool:
    return any(path.startswith(f"{folder.rstrip('/')}/") for folder in folders)


class _Prerequisites:
    """Within this context an error that stops the run is one that Inspect shows as one line."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, WorkbenchError):
            from inspect_ai._util.error import PrerequisiteError

            raise PrerequisiteError(getattr(error, "detail", str(error))) from None
