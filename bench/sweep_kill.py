"""Kill a sweep many times at random moments and resume it: what is lost, what runs twice, what is left?

    python bench/sweep_kill.py [--kills N] [--trials N] [--seed N] [--sandbox local|docker]

Runs the bundled suite once undisturbed and once with SIGKILLs, and compares the two reports: all of
them but times and names of logs. In containers, it also counts what these runs left in the engine.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from workbench.cli._sweep_fence import LEDGER
from workbench.cli._sweep_ledger import read_ledger, repeated
from workbench.reporting.announce import summary_of
from workbench.reporting.find import find_logs
from workbench.sandboxing import labels
from workbench.sandboxing.engine import Engine

SPEC = "suite: quickstart\nagents: [oracle]\nrouters: [bm25, random]\ntrials: {trials}\n"
MODULE = "import sys; from workbench.cli.main import main; main(sys.argv[1:])"
CELLS = 12 * 4
"""Tasks times arms."""
UNLIKE = {"log", "logs", "example", "seconds", "spending", "per_trial", "per_success", "front"}
"""Parts of a report that name logs or tell times, which no two runs share."""
PAUSE = 0.5
"""Longest wait, in seconds, between the last trial that is waited for and the kill."""


@dataclass
class Sweep:
    """One sweep in a folder of its own; `pids` are its processes so far."""

    folder: Path
    local: bool
    trials: int
    pids: set[int] = field(default_factory=set)

    @property
    def run(self) -> Path:
        """Where its logs go."""
        return self.folder / "results" / "kill"

    def start(self) -> subprocess.Popen[bytes]:
        """Begin or go on, in a process group of its own."""
        self.folder.mkdir(exist_ok=True)
        (self.folder / "kill.yaml").write_text(SPEC.format(trials=self.trials))
        process = subprocess.Popen(
            [sys.executable, "-c", MODULE, "sweep", "kill.yaml", "--max-samples", "2"],
            cwd=self.folder,
            env={**os.environ, "DOCKER_HOST": "unix:///nonexistent.sock"} if self.local else None,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self.pids.add(process.pid)
        return process

    def finish(self) -> float:
        """Go on to the end; returns seconds."""
        began = time.monotonic()
        if code := self.start().wait():
            raise SystemExit(f"the sweep in {self.folder} ended with {code}")
        return time.monotonic() - began

    def kill(self, after: int, pause: float) -> bool:
        """SIGKILL the group once `after` more trials have ended; whether it still ran."""
        until = lines(self.run / LEDGER) + after
        process = self.start()
        while process.poll() is None and lines(self.run / LEDGER) < until:
            time.sleep(0.02)
        time.sleep(pause)
        running = process.poll() is None
        if running:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return running

    def report(self) -> Any:
        """What its report says, without `UNLIKE`."""
        return without(summary_of(find_logs([self.run])).model_dump(mode="json"))


def without(part: Any) -> Any:
    """A report without what no two runs share."""
    if isinstance(part, dict):
        return {name: without(value) for name, value in part.items() if name not in UNLIKE}
    return [without(value) for value in part] if isinstance(part, list) else part


def differing(first: Any, second: Any, where: str = "report") -> Iterator[str]:
    """Places at which two reports differ."""
    if isinstance(first, dict) and isinstance(second, dict) and first.keys() == second.keys():
        for name in first:
            yield from differing(first[name], second[name], f"{where}.{name}")
    elif isinstance(first, list) and isinstance(second, list) and len(first) == len(second):
        for number, pair in enumerate(zip(first, second, strict=True)):
            yield from differing(*pair, f"{where}.{number}")
    elif first != second:
        yield f"{where}: {first} undisturbed, {second}"


def lines(path: Path) -> int:
    """Lines of a file that may not be there yet."""
    return path.read_text().count("\n") if path.is_file() else 0


def left(engine: Engine, pids: Iterable[int]) -> dict[str, int]:
    """What lies in the engine that these processes of this machine made."""
    by = {"label": labels.OWNER}
    found: dict[str, Any] = {
        "containers": engine.blocking(lambda api: api.containers(all=True, filters=by)),
        "networks": engine.blocking(lambda api: api.networks(filters=by)),
        "images of trials": engine.blocking(lambda api: api.images(all=True, filters=by)),
    }
    owners = {
        kind: [labels.Owner.parse(row["Labels"][labels.OWNER]) for row in rows]
        for kind, rows in found.items()
    }
    here, mine = labels.Owner.current(), set(pids)
    return {
        kind: sum(o is not None and o.boot == here.boot and o.pid in mine for o in rows)
        for kind, rows in owners.items()
    }


def say(line: str) -> None:
    """One line of the result."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def disturb(sweep: Sweep, kills: int, rng: random.Random, engine: Engine | None) -> int:
    """Kill it `kills` times while trials run; returns how many kills found it running."""
    hits, most = 0, 0
    reach = max(1, 2 * sweep.trials * CELLS // kills - 2)
    for number in range(1, kills + 1):
        hits += sweep.kill(rng.randint(1, reach), rng.uniform(0, PAUSE))
        if engine is not None:
            most = max(most, sum(left(engine, sweep.pids).values()))
        if sys.stderr.isatty():
            sys.stderr.write(f"\r{number} of {kills} kills, {lines(sweep.run / LEDGER)} trials ended")
    if engine is not None:
        say(f"most that lay in the engine after a kill: {most}")
    return hits


def options() -> argparse.Namespace:
    """What was typed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--trials", type=int, default=5, help="of every task in every arm")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--sandbox", choices=("local", "docker"), default="local")
    return parser.parse_args()


def main() -> None:
    """Print what happened."""
    chosen = options()
    engine = Engine() if chosen.sandbox == "docker" else None
    planned = chosen.trials * CELLS
    with tempfile.TemporaryDirectory() as name:
        calm, rough = (Sweep(Path(name) / kind, engine is None, chosen.trials) for kind in ("calm", "rough"))
        say(f"undisturbed: {planned} trials in {calm.finish():.0f} s")
        began = time.monotonic()
        hits = disturb(rough, chosen.kills, random.Random(chosen.seed), engine)
        rough.finish()
        say(f"{hits} of {chosen.kills} kills hit a running sweep")
        say(f"kills and resumes: {time.monotonic() - began:.0f} s")
        found = rough.report()
        unlike = list(differing(calm.report(), found))
        say(f"scored, each counted once: {found['scored']} of {planned}; same report: {not unlike}")
        for line in unlike[:5]:
            say(f"  {line}")
        ended = sum(1 for _ in read_ledger(rough.run / LEDGER))
        say(f"trials that ended, all starts together: {ended}; scored twice: {repeated(rough.run / LEDGER)}")
        if engine is not None:
            counts = left(engine, calm.pids | rough.pids)
            say("left in the engine: " + ", ".join(f"{count} {kind}" for kind, count in counts.items()))


if __name__ == "__main__":
    main()
