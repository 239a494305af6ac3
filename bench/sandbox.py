"""Our Docker sandbox beside raw docker and Inspect's own provider. Run: python bench/sandbox.py [IMAGE]

Medians in milliseconds and ratios to each peer, on one engine in one run; the rivals take turns at
every measurement, so that a busy machine is fair to all. Inspect's provider needs engine 24.0.6 and
the compose plugin; where it cannot run, the reason is printed and its columns stay empty.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import date
from pathlib import Path
from typing import Any

import anyio
import click
from inspect_ai.util import SandboxEnvironment

from workbench.sandboxing import labels
from workbench.sandboxing.availability import engine_status
from workbench.sandboxing.base import Bases
from workbench.sandboxing.config import DockerConfig
from workbench.sandboxing.engine import Engine
from workbench.sandboxing.fleet import Fleet
from workbench.sandboxing.providers.docker import DockerSandbox
from workbench.sandboxing.transfer import put_tree

TIMES, FEW = 20, 7
ROUNDS, AT_ONCE, IN_A_ROW = 10, 2, 5
SLOW_ROUNDS = 2
"""Rounds that Inspect's provider takes part in: all ten would take minutes."""
KILOBYTE = b"\0\xff\\n" * 256
FOLDER = {f"skill/references/{i}.md": (b"x" * 2000, False) for i in range(40)}
COMPOSE = """services:
  default:
    image: {image}
    command: "tail -f /dev/null"
    init: true
    network_mode: none
    stop_grace_period: 1s
"""
"""What Inspect writes for a Dockerfile of the user's."""
Call = Callable[[], Awaitable[Any]]
Rivals = dict[str, Call]


async def turns(rivals: Rivals, times: int = TIMES) -> dict[str, float]:
    """Milliseconds that each rival's call takes, the median; the first turn is left out."""
    taken: dict[str, list[float]] = {name: [] for name in rivals}
    for number in range(times + 1):
        for name, call in rivals.items():
            began = time.perf_counter()
            await call()
            if number:
                taken[name].append((time.perf_counter() - began) * 1e3)
    return {name: statistics.median(each) for name, each in taken.items()}


async def race(ones: Rivals) -> dict[str, float]:
    """Milliseconds per sample where `AT_ONCE` run side by side, the median of the rounds."""
    taken: dict[str, list[float]] = {name: [] for name in ones}
    for number in range(ROUNDS):
        for name, one in ones.items():
            if name == "Inspect" and number >= SLOW_ROUNDS:
                continue
            began = time.perf_counter()
            async with anyio.create_task_group() as tasks:
                for _ in range(AT_ONCE):
                    tasks.start_soon(_several, one)
            taken[name].append((time.perf_counter() - began) * 1e3 / (AT_ONCE * IN_A_ROW))
    return {name: statistics.median(each) for name, each in taken.items()}


async def _several(one: Call) -> None:
    for _ in range(IN_A_ROW):
        await one()


def calls(box: SandboxEnvironment) -> Rivals:
    """What agents and harness ask of a sandbox."""
    return {
        "exec": lambda: box.exec(["true"]),
        "write_file 1 kB": lambda: box.write_file("/tmp/file", KILOBYTE),
        "read_file 1 kB": lambda: box.read_file("/tmp/file", text=False),
        "folder of 40 files": lambda: put_tree(box, FOLDER, "/tmp"),
    }


class Ours:
    """Our provider with all its isolation."""

    def __init__(self, fleet: Fleet, image: str) -> None:
        self._fleet = fleet
        self._config = DockerConfig(image=image)

    async def box(self, *, channel: bool = True) -> DockerSandbox:
        """A sandbox; without its channel a command goes by the engine's exec."""
        made = DockerSandbox(await self._fleet.start(self._config), self._config)
        made.container.channels &= channel
        return made

    async def idle(self) -> None:
        """A sandbox up and down."""
        await self._fleet.remove([(await self._fleet.start(self._config)).container])

    async def sample(self) -> None:
        """A sandbox up, one command, and down."""
        made = await self.box()
        await made.exec(["true"])
        await self._fleet.remove([made.container])

    @asynccontextmanager
    async def lent(self) -> AsyncIterator[Rivals]:
        """The calls to measure."""
        made, plain = await self.box(), await self.box(channel=False)

        async def verified() -> None:
            async with made.judged("none", fresh=True) as (where, _):
                await where.exec(["true"])

        yield {
            **calls(made),
            "exec, no channel": calls(plain)["exec"],
            "up and down": self.idle,
            "fresh verifier": verified,
        }
        await self._fleet.remove([made.container, plain.container])


class Raw:
    """The docker command line: what a script would pay."""

    def __init__(self, image: str) -> None:
        # Marked, so that a bench that is broken off is swept by the next run.
        marks = (f"--label={labels.RUN}={labels.token()}", f"--label={labels.OWNER}={labels.Owner.current()}")
        self._run = ("--network", "none", *marks, image)

    async def idle(self) -> None:
        """A container up and down."""
        name = f"bench-{time.monotonic_ns()}"
        await docker("run", "-d", "--name", name, *self._run, "sleep", "3600")
        await docker("rm", "-f", name)

    async def sample(self) -> None:
        """A container that lives for one command."""
        await docker("run", "--rm", *self._run, "true")

    @asynccontextmanager
    async def lent(self) -> AsyncIterator[Rivals]:
        """The calls to measure."""
        name = f"bench-{time.monotonic_ns()}"
        await docker("run", "-d", "--name", name, *self._run, "sleep", "3600")
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "file")
            file.write_bytes(KILOBYTE)
            for path, (data, _) in FOLDER.items():
                Path(folder, path).parent.mkdir(parents=True, exist_ok=True)
                Path(folder, path).write_bytes(data)
            execute = ("exec", name, "true")
            yield {
                "exec": lambda: docker(*execute),
                "exec, no channel": lambda: docker(*execute),
                "write_file 1 kB": lambda: docker("cp", str(file), f"{name}:/tmp/file"),
                "read_file 1 kB": lambda: docker("cp", f"{name}:/tmp/file", str(file)),
                "folder of 40 files": lambda: docker("cp", f"{folder}/skill", f"{name}:/tmp"),
                "up and down": self.idle,
            }
        await docker("rm", "-f", name)


async def docker(*arguments: str) -> None:
    """One docker command."""
    await anyio.run_process(["docker", *arguments], stdout=subprocess.DEVNULL)


class Inspects:
    """Inspect's own provider, on the compose file that it writes itself for a Dockerfile."""

    def __init__(self, image: str) -> None:
        from inspect_ai.util._sandbox.docker.docker import DockerSandboxEnvironment

        self._image = image
        self._file = ""
        self._provider = DockerSandboxEnvironment

    @asynccontextmanager
    async def lent(self) -> AsyncIterator[Rivals]:
        """The calls to measure.

        Raises:
            PrerequisiteError: it cannot run on this machine.
        """
        from inspect_ai.util._sandbox.docker.prereqs import validate_prereqs

        await validate_prereqs()
        with tempfile.TemporaryDirectory() as folder:
            self._file = str(Path(folder, "compose.yaml"))
            Path(self._file).write_text(COMPOSE.format(image=self._image))
            await self._provider.task_init("bench", self._file)
            boxes = await self._provider.sample_init("bench", self._file, {})
            mine = calls(boxes["default"])
            yield {**mine, "exec, no channel": mine["exec"], "up and down": self.idle}
            await self._provider.sample_cleanup("bench", self._file, boxes, False)
            await self._provider.task_cleanup("bench", self._file, True)

    async def idle(self) -> None:
        """A sandbox up and down."""
        boxes = await self._provider.sample_init("bench", self._file, {})
        await self._provider.sample_cleanup("bench", self._file, boxes, False)

    async def sample(self) -> None:
        """A sandbox up, one command, and down."""
        boxes = await self._provider.sample_init("bench", self._file, {})
        await boxes["default"].exec(["true"])
        await self._provider.sample_cleanup("bench", self._file, boxes, False)


async def measured(fleet: Fleet, image: str) -> dict[str, dict[str, float]]:
    """What was measured -> rival -> milliseconds."""
    rivals: dict[str, Ours | Raw | Inspects] = {"ours": Ours(fleet, image), "docker": Raw(image)}
    rivals["Inspect"] = Inspects(image)
    async with AsyncExitStack() as stack:
        lent: dict[str, Rivals] = {}
        for name, rival in rivals.items():
            try:
                lent[name] = await stack.enter_async_context(rival.lent())
            except Exception as error:
                if name != "Inspect":
                    raise
                click.echo(f"Inspect's own provider cannot run here: {str(error).strip().splitlines()[0]}")
        found: dict[str, dict[str, float]] = {}
        for what in lent["ours"]:
            times = FEW if what in ("up and down", "fresh verifier") else TIMES
            found[what] = await turns(
                {name: each[what] for name, each in lent.items() if what in each}, times
            )
        samples: Rivals = {name: rivals[name].sample for name in lent}
        found[f"{ROUNDS * AT_ONCE * IN_A_ROW} samples, {AT_ONCE} at once"] = await race(samples)
    return found


def show(found: Mapping[str, Mapping[str, float]]) -> None:
    """The table."""
    click.echo(f"{'ms, median':22}{'ours':>9}{'docker':>9}{'ratio':>7}{'Inspect':>9}{'ratio':>7}")
    for what, each in found.items():
        mine = each["ours"]
        click.echo(
            f"{what:22}{mine:9.1f}{_beside(mine, each.get('docker'))}{_beside(mine, each.get('Inspect'))}"
        )


def _beside(value: float, peer: float | None) -> str:
    return f"{'-':>9}{'-':>7}" if peer is None else f"{peer:9.1f}{value / peer:7.3f}"


def _load() -> str:
    return " ".join(f"{each:.1f}" for each in os.getloadavg())


async def main(image: str | None) -> None:
    """Measure and print."""
    fleet = Fleet(Engine())
    name = image or await Bases(fleet.engine).substitute()
    before = _load()
    try:
        found = await measured(fleet, name)
    finally:
        await fleet.close(cleanup=True)
    status = engine_status()
    click.echo(
        f"engine {status.version}, API {status.api_version}, {date.today()}, {os.cpu_count()} processors"
    )
    click.echo(f"load average before: {before}, after: {_load()}")
    show(found)


if __name__ == "__main__":
    anyio.run(main, sys.argv[1] if len(sys.argv) > 1 else None)
