"""Our Docker sandbox beside raw docker and Inspect's own provider. Run: python bench/sandbox.py [IMAGE]

Medians in milliseconds, and ratios to a peer in the same run on the same engine. Inspect's provider
needs engine 24.0.6 and the compose plugin; where it cannot run, the reason is printed and its
column stays empty.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import click
from inspect_ai.util import SandboxEnvironment

from workbench.sandboxing import labels
from workbench.sandboxing.base import Bases
from workbench.sandboxing.config import DockerConfig
from workbench.sandboxing.engine import Engine
from workbench.sandboxing.fleet import Fleet
from workbench.sandboxing.providers.docker import DockerSandbox
from workbench.sandboxing.transfer import put_tree

TIMES = 20
ROUNDS, AT_ONCE, IN_A_ROW = 10, 2, 5
KILOBYTE = b"\0\xff\\n" * 256
FOLDER = {f"skill/references/{i}.md": (b"x" * 2000, False) for i in range(40)}


async def median(call: Callable[[], Awaitable[Any]], times: int = TIMES) -> float:
    """Milliseconds of a call, the first one left out."""
    await call()
    taken = []
    for _ in range(times):
        began = time.perf_counter()
        await call()
        taken.append((time.perf_counter() - began) * 1e3)
    return statistics.median(taken)


async def calls(box: SandboxEnvironment) -> dict[str, float]:
    """The calls that agents and harness make."""
    return {
        "exec": await median(lambda: box.exec(["true"])),
        "write_file 1 kB": await median(lambda: box.write_file("/tmp/file", KILOBYTE)),
        "read_file 1 kB": await median(lambda: box.read_file("/tmp/file", text=False)),
        "folder of 40 files": await median(lambda: put_tree(box, FOLDER, "/tmp"), 5),
    }


async def race(ones: dict[str, Callable[[], Awaitable[None]]]) -> dict[str, float]:
    """Milliseconds per sample, `AT_ONCE` at a time; the rivals take turns, so that a busy machine is fair."""
    taken = dict.fromkeys(ones, 0.0)
    for _ in range(ROUNDS):
        for name, one in ones.items():
            began = time.perf_counter()
            async with anyio.create_task_group() as tasks:
                for _ in range(AT_ONCE):
                    tasks.start_soon(_several, one)
            taken[name] += time.perf_counter() - began
    return {name: seconds * 1e3 / (ROUNDS * AT_ONCE * IN_A_ROW) for name, seconds in taken.items()}


async def _several(one: Callable[[], Awaitable[None]]) -> None:
    for _ in range(IN_A_ROW):
        await one()


async def ours(fleet: Fleet, config: DockerConfig) -> dict[str, float]:
    """Our provider with all its isolation."""
    box = DockerSandbox(await fleet.start(config), config)
    found = await calls(box)
    box.container.channels = False
    box.container.close_channels()
    found["exec, engine's own"] = await median(lambda: box.exec(["true"]))

    async def verified() -> None:
        async with box.judged("none", fresh=True) as (where, _):
            await where.exec(["true"])

    found["fresh verifier"] = await median(verified, 5)
    await fleet.remove([box.container])
    return found


async def raw(image: str) -> dict[str, float]:
    """The docker command line: what a script would pay."""
    name = f"bench-{time.monotonic_ns()}"
    # A bench that is broken off is swept by the next run.
    marks = (f"--label={labels.RUN}={labels.token()}", f"--label={labels.OWNER}={labels.Owner.current()}")
    await docker("run", "-d", "--network", "none", "--name", name, *marks, image, "sleep", "1000")
    with tempfile.NamedTemporaryFile() as file:
        Path(file.name).write_bytes(KILOBYTE)
        found = {
            "exec": await median(lambda: docker("exec", name, "true")),
            "write_file 1 kB": await median(lambda: docker("cp", file.name, f"{name}:/tmp/file")),
            "read_file 1 kB": await median(lambda: docker("cp", f"{name}:/tmp/file", file.name)),
        }
    await docker("rm", "-f", name)
    return found


async def docker(*arguments: str) -> None:
    """One docker command."""
    await anyio.run_process(["docker", *arguments], stdout=subprocess.DEVNULL)


async def inspects(image: str) -> dict[str, float]:
    """Inspect's own provider, on the same image."""
    from inspect_ai.util._sandbox.docker.docker import DockerSandboxEnvironment as Theirs
    from inspect_ai.util._sandbox.docker.prereqs import validate_prereqs

    await validate_prereqs()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "compose.yaml")
        file.write_text(
            f"services:\n  default:\n    image: {image}\n    network_mode: none\n    command: sleep 1000\n"
        )
        await Theirs.task_init("bench", str(file))
        boxes = await Theirs.sample_init("bench", str(file), {})
        found = await calls(boxes["default"])
        await Theirs.sample_cleanup("bench", str(file), boxes, False)
        await Theirs.task_cleanup("bench", str(file), True)
    return found


async def samples(fleet: Fleet, config: DockerConfig) -> dict[str, float]:
    """Samples of one trivial command from start to removal: ours, and what ``docker run`` takes for them."""
    image = config.reference

    async def sample() -> None:
        made = DockerSandbox(await fleet.start(config), config)
        await made.exec(["true"])
        await fleet.remove([made.container])

    run = ("run", "--rm", "--network", "none", image, "true")
    return await race({"ours": sample, "docker": lambda: docker(*run)})


async def main(image: str | None) -> None:
    """Measure and print."""
    fleet = Fleet(Engine())
    name = image or await Bases(fleet.engine).substitute()
    try:
        mine = await ours(fleet, DockerConfig(image=name))
        each = await samples(fleet, DockerConfig(image=name))
    finally:
        await fleet.close(cleanup=True)
    theirs: dict[str, float] = {}
    try:
        theirs = await inspects(name)
    except Exception as error:
        click.echo(f"Inspect's own provider cannot run here: {str(error).strip().splitlines()[0]}")
    plain = await raw(name)
    mine["sample of one exec"], plain["sample of one exec"] = each["ours"], each["docker"]
    click.echo(f"{'ms, median':22}{'ours':>9}{'docker':>9}{'ratio':>7}{'Inspect':>9}{'ratio':>7}")
    for what, value in mine.items():
        click.echo(
            f"{what:22}{value:9.1f}{_beside(value, plain.get(what))}{_beside(value, theirs.get(what))}"
        )


def _beside(value: float, peer: float | None) -> str:
    return f"{'-':>9}{'-':>7}" if peer is None else f"{peer:9.1f}{value / peer:7.2f}"


if __name__ == "__main__":
    anyio.run(main, sys.argv[1] if len(sys.argv) > 1 else None)
