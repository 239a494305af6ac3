"""SRA-Bench: how long 5,400 questions take to load, and 1,000 answers beside a bare client's.

Run: python bench/sra.py [--data DIR] [--answers 1000] [--connections 32] [--delay 3.0]

The endpoint is scripted, in a process of its own, and answers after a fixed delay. The peer is a loop
over ``litellm.acompletion`` with the same messages and as many connections; it keeps nothing. Ours
routes nothing (no skills), and keeps a full log with a joint record for each answer. CPU time says what
an answer takes of this machine however busy it is; ours is counted without its start-up, which is shown.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import click

ROOT = Path(__file__).resolve().parent.parent
os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
MODEL = "openai/gpt-4o-mini"
COUNT = 5_400


@dataclass(frozen=True)
class Took:
    """What a run took, in seconds: by the clock, and of processors (its own and its children's)."""

    wall: float
    cpu: float


@contextmanager
def timed(taken: list[Took]) -> Iterator[None]:
    """Adds what the block took to `taken`."""
    wall, before = time.monotonic(), os.times()
    yield
    spent = (after - then for after, then in zip(os.times()[:4], before[:4], strict=True))
    taken.append(Took(time.monotonic() - wall, sum(spent)))


def made(folder: Path) -> Path:
    """5,400 questions in the published format, made from the sample's."""
    own = [
        json.loads(f.read_text()) for f in sorted((ROOT / "tasks/srabench/sample/instances").glob("*.json"))
    ]
    (folder / "instances").mkdir(parents=True)
    for instances in own:
        name = instances[0]["dataset"]
        size = 1_000 if name == "logicbench" else (COUNT - 1_000) // (len(own) - 1)
        many = [{**instances[n % len(instances)], "instance_id": f"{name}_{n:05d}"} for n in range(size)]
        (folder / "instances" / f"{name}.json").write_text(json.dumps(many))
    return folder


@contextmanager
def endpoint(delay: float, folder: Path) -> Iterator[str]:
    """A scripted endpoint in a process of its own; its base URL."""
    script = folder / "script.json"
    script.write_text(json.dumps({"agents": {}, "default": [{"text": "The answer is yes.", "delay": delay}]}))
    command = [sys.executable, str(ROOT / "tests/servers/openai_server.py"), "--script", str(script)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


def bare(url: str, questions: list[str], connections: int) -> Took:
    """A loop over LiteLLM's client."""
    import anyio

    from workbench.models.library import close_clients, load_litellm

    litellm = load_litellm()

    async def run() -> Took:
        taken: list[Took] = []
        slots = anyio.Semaphore(connections)

        async def ask(text: str) -> None:
            async with slots:
                messages = [{"role": "user", "content": text}]
                await litellm.acompletion(model=MODEL, api_base=url, api_key="none", messages=messages)

        with timed(taken):
            async with anyio.create_task_group() as group:
                for text in questions:
                    group.start_soon(ask, text)
        await close_clients()
        return taken[0]

    return anyio.run(run)


def ours(url: str, data: Path, answers: int, connections: int, folder: Path) -> Took:
    """`inspect eval` over the same questions, start-up, loading and log included."""
    command = [
        str(Path(sys.executable).parent / "inspect"), "eval", "workbench/srabench", "--display", "none",
        *("-T", f"data={data}", "-T", "subset=logicbench", "--conditions", "none", "--limit", str(answers)),
        *("--pool", "srabench-sample", "--log-dir", str(folder / "logs")),
        *("--model", f"litellm/{MODEL}", "--model-base-url", url, "-M", "api_key=none"),
        *("--max-connections", str(connections), "--max-samples", str(connections)),
    ]  # fmt: skip
    taken: list[Took] = []
    with timed(taken):
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return taken[0]


@click.command()
@click.option(
    "--data", type=click.Path(path_type=Path), help="The published instances, in place of made ones."
)
@click.option("--answers", type=click.IntRange(2, 1_000), default=1_000, show_default=True)
@click.option("--connections", default=32, show_default=True)
@click.option("--delay", default=3.0, show_default=True, help="Seconds that the endpoint takes.")
def main(data: Path | None, answers: int, connections: int, delay: float) -> None:
    """Print what was measured."""
    from workbench.benchmarks.suite import load_suite
    from workbench.core.workspace import find_workspace

    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        place = made(folder / "data")
        started = time.monotonic()
        suite = load_suite("srabench", find_workspace(ROOT), data or place)
        click.echo(f"{len(suite.tasks):,} questions read in {time.monotonic() - started:.2f} s")
        asked = [
            task.instruction
            for task in load_suite("srabench", find_workspace(ROOT), place).subset(["logicbench"]).tasks
        ]
        questions = asked[:answers]
        with endpoint(delay, folder) as url:
            peer = bare(url, questions, connections)
            start = ours(url, place, 1, connections, folder)
            own = ours(url, place, answers, connections, folder)
        click.echo(f"{answers:,} answers, {connections} connections, {delay:g} s each:")
        ratio = own.wall / peer.wall
        click.echo(f"  time: bare LiteLLM {peer.wall:.1f} s, ours {own.wall:.1f} s, ratio {ratio:.2f}")
        each = [1000 * cpu / answers for cpu in (peer.cpu, own.cpu - start.cpu)]
        click.echo(f"  CPU time of an answer: {each[0]:.1f} ms and {each[1]:.1f} ms")
        click.echo(f"  one answer, start-up included: {start.wall - delay:.1f} s and its delay")


if __name__ == "__main__":
    main()
