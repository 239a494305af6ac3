"""Figures of a large pool: build, open, memory, reading. Run: python bench/pool.py [SKILLS]"""

from __future__ import annotations

import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import click

from workbench.core.workspace import Workspace
from workbench.skills.opening import PoolOpener

BODY_BYTES = 5_000
READ = """
import sys, time
from pathlib import Path
import click
from workbench.skills.pool import Pool

def memory():
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.exists() else []
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM")), float("nan"))

def timed(what, action, unit, factor, times=1):
    start = time.perf_counter()
    result = action()
    click.echo(f"{what:24}{(time.perf_counter() - start) * factor / times:10.2f} {unit}")
    return result

before = memory()
pool = timed("open", lambda: Pool(Path(sys.argv[1])), "ms", 1e3)
opened = memory()
ids = timed("all ids", pool.ids, "ms", 1e3)
some = ids[:: len(ids) // 1000 or 1]
timed("one skill by id", lambda: [pool.get(i) for i in some], "us", 1e6, len(some))
timed("stream every text", lambda: sum(len(skill.body) for skill in pool.skills()), "s", 1)
click.echo(f"{'memory before opening':24}{before:10.0f} MB")
click.echo(f"{'peak, once open':24}{opened:10.0f} MB")
click.echo(f"{'peak, all read':24}{memory():10.0f} MB")
"""


def write_records(path: Path, skills: int) -> None:
    """Records whose bodies are drawn from 2,000 made-up words, the same ones each time."""
    rng = random.Random(0)
    words = ["".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randint(3, 10))) for _ in range(2_000)]
    with path.open("w", encoding="utf-8") as file:
        for number in range(skills):
            body = " ".join(rng.choices(words, k=BODY_BYTES // 7))
            record = {"id": f"made/owner-{number % 5_000}/skill-{number}", "name": f"skill-{number}"}
            file.write(json.dumps({**record, "description": body[:150], "body": f"# Skill\n\n{body}"}) + "\n")


def main(skills: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        records, pool = Path(folder, "records.jsonl"), Path(folder, "records.pool")
        write_records(records, skills)
        opener = PoolOpener(Workspace((), Path(folder), Path(folder, "cache")))
        start = time.perf_counter()
        header = opener.build(opener.recipe(str(records)), pool)
        click.echo(f"{'skills':24}{header.count:10,}")
        click.echo(f"{'text':24}{header.text_bytes / 1e6:10.0f} MB")
        click.echo(f"{'build':24}{time.perf_counter() - start:10.2f} s")
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        click.echo(f"{'peak while building':24}{peak:10.0f} MB")
        click.echo(f"{'file':24}{pool.stat().st_size / 1e6:10.0f} MB")
        subprocess.run([sys.executable, "-c", READ, str(pool)], check=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 110_000)
