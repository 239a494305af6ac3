"""One running container: commands run in it to the end, their process trees killed, its state read."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, repeat
from typing import Any

import anyio
import anyio.to_thread

from workbench.sandboxing import podman
from workbench.sandboxing.attach import Collector, ExecRefusedError, Splitter, attach, begin, pump
from workbench.sandboxing.channel import OWN_PROCESSES, Channel, ChannelClosedError, Job, Wire
from workbench.sandboxing.ending import how_it_ended, state_of
from workbench.sandboxing.engine import Engine, EngineGoneError, status_code, wire
from workbench.sandboxing.kill import KILL_ALL_SIGNAL, TOKEN, kill_command

_KILL_SECONDS = 3.0
_CANCEL_SECONDS = 10.0
_KILLED = 137
_ROOT = ("", "0", "root", "0:0")
_NOT_STARTED = {"Running": False, "ExitCode": 126, "Pid": 0}
_ASK_AGAIN = (0.0, 0.01, 0.05, 0.2, 0.5, 1.0, 2.0)
"""Seconds between looks at a command whose output has ended; the last repeats."""


@dataclass(frozen=True)
class Finished:
    """A command that ended.

    Attributes:
        code: exit code; 126 where `started` is false.
        started: false when the engine could not start it; `err` then holds the engine's words,
            which no command can forge.
    """

    code: int
    out: Collector
    err: Collector
    started: bool = True


class CommandTimeoutError(TimeoutError):
    """The command ran out of time and was killed with all its processes.

    Attributes:
        truncated_output: what it printed until then (Inspect shows it to the model).
        survived: whether something of it kept appearing although it was killed.
    """

    def __init__(self, seconds: float, output: str, survived: bool) -> None:
        self.truncated_output = output
        self.survived = survived
        super().__init__(f"Command timed out after {seconds:g} seconds")


class ContainerLostError(Exception):
    """The container does not run any more, or runs and no command can.

    Attributes:
        state: what the engine knows of it; empty when there is no such container.
        spent: limits that its own commands have exhausted, by the engine's counters, e.g. ``out_of_memory``;
            empty where nothing proves that they ended it.
    """

    def __init__(self, detail: str, state: Mapping[str, Any], spent: tuple[str, ...] = ()) -> None:
        self.state = state
        self.spent = spent
        super().__init__(detail)


class Container:
    """A running container. Commands may run side by side.

    Args:
        user: whom commands run as when they name nobody; empty is root.

    Attributes:
        channels: whether shells may stay in it, see `channel`; not beside services of its own.
        disk_breaches: how often its processes were killed for too many changed files.
    """

    def __init__(self, engine: Engine, id: str, user: str = "") -> None:
        self.engine = engine
        self.id = id
        self.user = user
        self.disk_breaches = 0
        self.channels = False
        self._open: dict[str, Channel] = {}
        self._opening: set[str] = set()
        self._tokens: set[str] = set()

    async def run(
        self,
        command: Sequence[str],
        *,
        given: bytes | None = None,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        user: str | None = None,
        timeout: float | None = None,
        limit: int = 1 << 20,
        fast: bool = True,
    ) -> Finished:
        """Run a command to its end.

        Args:
            given: standard input; ``None`` is an empty one.
            cwd: absolute.
            timeout: seconds, counted from its start; then its whole process tree is killed.
            limit: bytes kept of each output stream.
            fast: by a shell that stays, where it can; that takes a fork, which the engine does not need.

        Raises:
            CommandTimeoutError: out of time.
            ContainerLostError: the container is gone or went while the command ran.
            EngineGoneError: the engine is.
        """
        record, out, err = await self._execute(command, given, cwd, env or {}, user, timeout, limit, fast)
        return await self._finished(record, out, err)

    async def _execute(
        self,
        command: Sequence[str],
        given: bytes | None,
        cwd: str | None,
        env: Mapping[str, str],
        user: str | None,
        timeout: float | None,
        limit: int,
        fast: bool = True,
    ) -> tuple[dict[str, Any], Collector, Collector]:
        """Run a command to its end: the engine's record of it, and its output."""
        token = secrets.token_hex(12)
        out, err = Collector(limit), Collector(limit)
        marked = {**env, TOKEN: token}
        self._tokens.add(token)
        try:
            with anyio.fail_after(timeout):
                job = Job(command, cwd or "/", marked, given) if fast and self.channels and cwd else None
                record = await self._by_channel(job, user or self.user, out, err) if job else None
                if record is None:
                    exec_id = await self._create(command, given is not None, cwd, marked, user)
                    record = await self._stream(exec_id, given, out, err)
        except TimeoutError:
            dead = await self._kill(token, user)
            text = out.text(limit // 2) + err.text(limit // 2)
            raise CommandTimeoutError(timeout or 0.0, text, not dead) from None
        except anyio.get_cancelled_exc_class():
            with anyio.move_on_after(_CANCEL_SECONDS, shield=True):
                await self._kill(token, user)
            raise
        finally:
            self._tokens.discard(token)
        return record, out, err

    async def _by_channel(self, job: Job, user: str, out: Collector, err: Collector) -> dict[str, Any] | None:
        """Run a command by the user's channel; ``None`` where it has to go by the engine."""
        user = "0" if user in _ROOT else user
        channel = self._open.get(user)
        if not job.fits() or (channel is not None and channel.busy):
            return None
        try:
            if channel is None or not channel.usable():
                channel = await self._opened(user)
                if channel is None:
                    return None
            shells = sum(each.busy or each.usable() for each in self._open.values())
            code = await channel.run(job, out, err, OWN_PROCESSES + shells)
        except ChannelClosedError as error:
            if not error.started:
                return None
            if not await self.alive():
                raise await self.lost("a command was cut off") from None
            code = _KILLED
        return None if code is None else {"Running": False, "ExitCode": code, "Pid": 1}

    async def _opened(self, user: str) -> Channel | None:
        """A new channel of a user's, ``None`` while another command opens one: there is one at most."""
        if user in self._opening:
            return None
        self._opening.add(user)
        try:
            self._open[user] = await self._channel(user)
        finally:
            self._opening.discard(user)
        return self._open[user]

    async def _channel(self, user: str) -> Channel:
        exec_id = await self._create(["/bin/sh"], True, "/", {TOKEN: secrets.token_hex(12)}, user)
        connection = Wire(await anyio.to_thread.run_sync(wire, self.engine.url))
        try:
            await begin(self.engine, connection, exec_id)
        except ExecRefusedError as error:
            connection.close()
            if error.status in (404, 409):
                raise await self.lost("cannot run a command") from error
            raise ChannelClosedError(started=False) from error
        except BaseException:
            connection.close()
            raise
        return Channel(connection)

    def close_channels(self) -> None:
        """End the shells that stay; the next command opens one anew."""
        for channel in self._open.values():
            channel.close()
        self._open.clear()

    async def state(self) -> dict[str, Any]:
        """The engine's record of the container's state; empty when there is no such container."""
        return await state_of(self.engine, self.id)

    async def alive(self) -> bool:
        """Whether a random word comes back from a command run in the container.

        A shell that an agent has swapped gives no word back. Then the engine is asked to run the word, and
        says from within a living container that there is no such file.

        Raises:
            EngineGoneError: nobody can say.
        """
        word = secrets.token_hex(8)
        _, said = await self._asked(["/bin/sh", "-c", 'echo "$1"', "sh", word])
        if said.strip() == word:
            return True
        started, said = await self._asked([f"/{word}"])
        return not started and word in said and "no such file" in said.lower()

    async def _asked(self, command: Sequence[str]) -> tuple[bool, str]:
        """Whether a command was started, and what it or the engine said; nothing where neither did."""
        try:
            record, out, err = await self._execute(command, None, None, {}, None, 20.0, 1 << 10, fast=False)
        except (TimeoutError, ContainerLostError):
            return True, ""
        return bool(record.get("Pid")), (out.data() + err.data()).decode("utf-8", "replace")

    async def lost(self, what: str) -> ContainerLostError:
        """The error for a container that is gone, with its state and the end of its log."""
        ended = await how_it_ended(self.engine, self.id, self.disk_breaches)
        return ContainerLostError(f"{what}: {ended}", ended.state, ended.spent)

    async def remove(self) -> None:
        """Kill and remove the container and its volumes; nothing happens when it is gone already."""
        self.close_channels()
        try:
            await self.engine.call(lambda api: api.remove_container(self.id, v=True, force=True))
        except Exception as error:
            if status_code(error) not in (404, 409):
                raise

    async def _create(
        self, command: Sequence[str], stdin: bool, cwd: str | None, env: Mapping[str, str], user: str | None
    ) -> str:
        make = partial(_exec_create, container=self.id, cmd=list(command), stdin=stdin)
        pairs = [f"{key}={value}" for key, value in env.items()]
        work = partial(make, workdir=cwd, environment=pairs, user=user or self.user)
        try:
            return await self.engine.call(work, repeatable=True)
        except Exception as error:
            if status_code(error) in (404, 409):
                raise await self.lost("cannot run a command") from error
            raise

    async def _stream(
        self, exec_id: str, given: bytes | None, out: Collector, err: Collector
    ) -> dict[str, Any]:
        """Start an exec and take its output; the engine's record of it once it has ended."""

        async def running() -> bool:
            return bool((await self._inspect(exec_id))["Running"])

        try:
            stream, first = await attach(self.engine, exec_id)
        except ExecRefusedError as error:
            if error.status in (404, 409):
                raise await self.lost("cannot run a command") from error
            err.add(str(error).encode())
            return _NOT_STARTED
        try:
            await pump(stream, first, given, Splitter(out, err), running)
        finally:
            await anyio.aclose_forcefully(stream)
        record = await self._ended(exec_id)
        if self.engine.podman:
            record["Pid"] = int(podman.started(record["ExitCode"], out.data() + err.data()))
        return record

    async def _inspect(self, exec_id: str) -> dict[str, Any]:
        try:
            found: Any = await self.engine.call(lambda api: api.exec_inspect(exec_id), repeatable=True)
        except Exception as error:
            if status_code(error) == 404:
                raise await self.lost("a command's result is lost") from error
            raise
        return dict(found)

    async def _ended(self, exec_id: str) -> dict[str, Any]:
        """The engine's record of a command once it has ended; it may close its output long before."""
        for pause in chain(_ASK_AGAIN, repeat(_ASK_AGAIN[-1])):
            await anyio.sleep(pause)
            record = await self._inspect(exec_id)
            if not record["Running"]:
                return record
        raise AssertionError("unreachable")

    async def _finished(self, record: Mapping[str, Any], out: Collector, err: Collector) -> Finished:
        """The result, unless the container went with it. No process means that nothing was started."""
        if not record.get("Pid"):
            return await self._not_started(out, err)
        code = record.get("ExitCode")
        if code is None:
            raise await self.lost("a command's result is not known")
        # The engine may call a container running for a moment after its processes were killed, so ask it.
        if code > 128 and not out.seen and not err.seen and not await self.alive():
            raise await self.lost("a command was cut off")
        return Finished(int(code), out, err)

    async def _not_started(self, out: Collector, err: Collector) -> Finished:
        state = await self.state()
        if not state.get("Running") or state.get("Paused"):
            raise await self.lost("cannot run a command")
        words = Collector(err.limit)
        words.add(b" ".join((err.data() + out.data()).split()))
        return Finished(126, Collector(0), words, started=False)

    async def _kill(self, token: str, user: str | None) -> bool:
        """Kill what belongs to a token, as its own user and then as root; whether all of it is gone."""
        command = kill_command(token, self._tokens - {token})
        own = user or self.user
        dead = False
        for who in ("0",) if own.split(":")[0] in ("", "0", "root") else (own, "0"):
            dead = await self._kill_as(command, who)
        return dead

    async def _kill_as(self, command: Sequence[str], who: str) -> bool:
        """A fork bomb keeps a new process from running, so after a while process 1 is asked to kill."""
        for patience in (_KILL_SECONDS, 10 * _KILL_SECONDS):
            try:
                with anyio.fail_after(patience):
                    return await self._kill_once(command, who)
            except TimeoutError:
                with anyio.move_on_after(_KILL_SECONDS):
                    await self.kill_all()
            except (ContainerLostError, EngineGoneError):
                return True
        return False

    async def kill_all(self) -> None:
        """Have process 1 kill everything but itself, which takes no new process; not its services'."""
        try:
            await self.engine.call(lambda api: api.kill(self.id, signal=KILL_ALL_SIGNAL))
        except Exception as error:
            if status_code(error) not in (404, 409):
                raise

    async def _kill_once(self, command: Sequence[str], user: str | None) -> bool:
        exec_id = await self._create(command, False, "/", {}, user)
        out, err = Collector(4096), Collector(4096)
        record = await self._stream(exec_id, None, out, err)
        return (await self._finished(record, out, err)).code == 0


def _exec_create(api: Any, *, container: str, cmd: list[str], stdin: bool, **options: Any) -> str:
    found = api.exec_create(container, cmd, stdin=stdin, stdout=True, stderr=True, **options)
    return str(found["Id"])
