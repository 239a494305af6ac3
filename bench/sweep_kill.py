"""Kill a sweep many times at random moments and resume it: what is lost, and what runs twice?

    python bench/sweep_kill.py [KILLS] [SEED]

Runs the bundled suite in Inspect's local sandbox, once undisturbed and once with SIGKILLs, and
compares the two reports trial by trial.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from workbench.cli._sweep_fence import LEDGER
from workbench.cli._sweep_ledger import read_ledger, repeated
from workbench.reporting.find import find_logs
from workbench.reporting.read import Notes, read_trials

SPEC = "suite: quickstart\nagents: [oracle]\nrouters: [bm25, random]\ntrials: 5\n"
MODULE = "import sys; from workbench.cli.main import main; main(sys.argv[1:])"
PLANNED = 12 * 4 * 5


def start(folder: Path) -> subprocess.Popen[bytes]:
    """The sweep in a process group of its own."""
    (folder / "kill.yaml").write_text(SPEC)
    return subprocess.Popen(
        [sys.executable, "-c", MODULE, "sweep", "kill.yaml", "--max-samples", "2"],
        cwd=folder,
        env={**os.environ, "DOCKER_HOST": "unix:///nonexistent.sock"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def outcomes(folder: Path) -> dict[tuple[str, str, int], tuple[str, float | None]]:
    """Trial -> (status, reward); fails if one is counted twice."""
    found = {}
    for trial in read_trials(find_logs([folder / "results" / "kill"]), Notes()):
        key = (trial.task, trial.arm.label, trial.epoch)
        if key in found:
            raise SystemExit(f"{key} is counted twice")
        found[key] = (trial.status, trial.record.outcome.reward if trial.record else None)
    return found


def lines(path: Path) -> int:
    """Lines of a file that may not be there yet."""
    return path.read_text().count("\n") if path.is_file() else 0


def disturbed(folder: Path, kills: int, rng: random.Random) -> int:
    """Kill `kills` times while trials run, then let it finish; returns how many kills found it running."""
    hit = 0
    ledger = folder / "results" / "kill" / LEDGER
    for _ in range(kills):
        until = lines(ledger) + rng.randint(1, 2 * PLANNED // kills - 2)
        process = start(folder)
        while process.poll() is None and lines(ledger) < until:
            time.sleep(0.02)
        time.sleep(rng.uniform(0, 0.5))
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            hit += 1
        process.wait()
    if start(folder).wait() != 0:
        raise SystemExit("the resumed sweep did not end well")
    return hit


def say(line: str) -> None:
    """One line of the result."""
    sys.stdout.write(f"{line}\n")


def main() -> None:
    """Print what happened."""
    kills = int(sys.argv[1]) if len(sys.argv) > 1 else 30
    rng = random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 0)
    with tempfile.TemporaryDirectory() as name:
        calm, rough = Path(name) / "calm", Path(name) / "rough"
        calm.mkdir()
        rough.mkdir()
        start(calm).wait()
        expected = outcomes(calm)
        hit = disturbed(rough, kills, rng)
        found = outcomes(rough)
        ledger = rough / "results" / "kill" / LEDGER
        ended = sum(1 for _ in read_ledger(ledger))
        say(f"{hit} of {kills} kills hit a running sweep of {PLANNED} trials")
        say(f"counted once: {len(found)} of {PLANNED}; same as undisturbed: {found == expected}")
        say(f"trials that ended, all starts together: {ended}; scored twice: {repeated(ledger)}")


if __name__ == "__main__":
    main()
