"""How long do 10,440 trials take to report, in how much memory, and against Inspect's own reader?

    python bench/report.py [TRIALS_PER_TASK]

Writes two logs in Inspect's format (87 tasks x 4 arms x 15 trials x 2 models, some 6 KB of transcript
each), then times ``workbench report`` in a process of its own. The peer is
``inspect_ai.log.read_eval_log_sample`` on the first samples of the same log, per sample.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path
from typing import Any

from workbench.core.record import Exposure, Outcome, RouteInfo, Spend, TrialRecord
from workbench.reporting.logfile import read_samples
from workbench.reporting.trial import split_id

TASKS = 87
ARMS = ("none", "gold", "routed-bm25", "routed-random")
MODELS = ("mockllm/alpha", "mockllm/beta")
PEER = 200
MODULE = "import sys; from workbench.cli.main import main; main(sys.argv[1:])"
WORDS = ("skill", "router", "task", "agent", "file", "table", "column", "verify", "write", "load", "shell")


def record(task: int, arm: str, epoch: int, model: str, rng: random.Random) -> TrialRecord:
    """A trial whose success depends on its task, arm and luck."""
    _, treatment = split_id(f"t@{arm}")
    lift = {"none": 0.0, "gold": 0.45, "routed-bm25": 0.3, "routed-random": 0.0}[arm]
    passed = rng.random() < (task % 10) / 20 + lift
    gold = (f"gt/{task}",)
    ranking = [{"id": f"skill/{rng.randrange(9999)}", "score": 1.0 - n / 50} for n in range(50)]
    return TrialRecord(
        suite="skillsbench",
        task=f"task-{task:02d}",
        epoch=epoch,
        condition=treatment.condition,
        router=treatment.router,
        model=model,
        agent="skill_agent",
        seed=0,
        sandbox="docker-sdk",
        task_digest=f"{task:064x}",
        group={"difficulty": ("easy", "medium", "hard")[task % 3]},
        route=RouteInfo(
            router=treatment.router,
            router_fingerprint=treatment.router,
            pool="skillsbench",
            pool_fingerprint="f" * 64,
            pool_size=2636,
            index_fingerprint=None,
            k=5,
            ranking=ranking if treatment.router else (),
            gold=gold,
            gold_in_pool=gold,
            metrics={"Hit@1": float(task % 2), "nDCG@10": 0.5} if treatment.router else {},
        ),
        exposure=Exposure(disclosure="progressive", routed=gold if lift else ()),
        outcome=Outcome(status="scored", reward=float(passed), funnel="passed" if passed else "not_loaded"),
        spend=Spend(total_tokens=4000, cost_usd=0.02, agent_seconds=40.0, turns=9),
    )


def sample(task: int, arm: str, epoch: int, model: str, rng: random.Random) -> dict[str, Any]:
    """One sample of a log, with a transcript of messages."""
    found = record(task, arm, epoch, model, rng)
    messages = [
        {"role": role, "content": " ".join(rng.choices(WORDS, k=60)), "id": f"m{n}"}
        for n in range(8)
        for role in ("user" if n % 2 == 0 else "assistant",)
    ]
    reward = found.outcome.reward
    return {
        "id": f"task-{task:02d}@{arm}",
        "epoch": epoch,
        "input": " ".join(rng.choices(WORDS, k=80)),
        "target": "reward 1",
        "messages": messages,
        "output": {"model": model, "choices": []},
        "scores": {
            "workbench": {
                "value": {"reward": reward},
                "metadata": {"record": found.model_dump(mode="json")},
            }
        },
        "metadata": {},
        "store": {},
        "events": [],
        "model_usage": {},
    }


def header(model: str, trials: int, stamp: str) -> dict[str, Any]:
    """The part that names the plan."""
    ids = [f"task-{task:02d}@{arm}" for task in range(TASKS) for arm in ARMS]
    return {
        "version": 2,
        "status": "success",
        "eval": {
            "eval_id": model,
            "run_id": model,
            "created": stamp,
            "task": "workbench/skillsbench",
            "task_id": model,
            "dataset": {"name": "skillsbench", "samples": len(ids), "sample_ids": ids},
            "model": model,
            "config": {"epochs": trials},
            "scorers": [{"name": "workbench"}],
            "metadata": {"suite": "skillsbench"},
        },
        "plan": {"name": "plan", "steps": []},
        "stats": {"started_at": stamp, "completed_at": stamp, "model_usage": {}},
    }


def write_log(path: Path, model: str, trials: int, rng: random.Random) -> None:
    """One finished log."""
    top = header(model, trials, "2026-11-30T12:00:00+00:00")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(
            "_journal/start.json", json.dumps({"version": 2, "eval": top["eval"], "plan": top["plan"]})
        )
        for epoch in range(1, trials + 1):
            for task in range(TASKS):
                for arm in ARMS:
                    body = sample(task, arm, epoch, model, rng)
                    archive.writestr(f"samples/{body['id']}_epoch_{epoch}.json", json.dumps(body))
        archive.writestr("header.json", json.dumps(top))


def reported(folder: Path, *options: str) -> tuple[float, float]:
    """Seconds and peak megabytes of one ``workbench report``."""
    started = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, "-c", MODULE, "report", str(folder), *options], stdout=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(process.pid, 0)
    if os.waitstatus_to_exitcode(status) != 0:
        raise SystemExit(f"workbench report {' '.join(options)} failed")
    return time.monotonic() - started, usage.ru_maxrss / 1024


def per_sample(log: Path) -> tuple[float, float]:
    """Milliseconds a sample: our reader, and Inspect's."""
    from inspect_ai.log import read_eval_log_sample

    started = time.monotonic()
    count = sum(1 for _ in read_samples(log))
    ours = (time.monotonic() - started) / count
    names = [f"task-{task:02d}@{arm}" for task in range(TASKS) for arm in ARMS][:PEER]
    read_eval_log_sample(str(log), names[0], 1)
    started = time.monotonic()
    for name in names:
        read_eval_log_sample(str(log), name, 1)
    return 1000 * ours, 1000 * (time.monotonic() - started) / len(names)


def say(line: str) -> None:
    """One line of the result."""
    sys.stdout.write(f"{line}\n")


def main() -> None:
    """Measure and print."""
    trials = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    rng = random.Random(0)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        logs = [folder / f"2026-11-30T12-00-0{n}_skillsbench_{n}.eval" for n in range(len(MODELS))]
        for log, model in zip(logs, MODELS, strict=True):
            write_log(log, model, trials, rng)
        size = sum(log.stat().st_size for log in logs) / 1e6
        say(f"{TASKS * len(ARMS) * trials * len(MODELS):,} trials in {size:.0f} MB of logs")
        page, table = folder / "report.html", folder / "trials.parquet"
        for what, options in (
            ("terminal", ()),
            ("html", ("--html", str(page))),
            (
                "html, json, csv, parquet",
                (
                    "--html",
                    str(page),
                    "--json",
                    str(folder / "r.json_"),
                    "--csv",
                    str(folder / "r.csv"),
                    "--parquet",
                    str(table),
                ),
            ),
        ):
            seconds, peak = reported(folder, *options)
            say(f"workbench report, {what}: {seconds:.1f} s, {peak:,.0f} MB at most")
        say(f"page: {page.stat().st_size / 1e6:.1f} MB; parquet: {table.stat().st_size / 1e6:.2f} MB")
        ours, theirs = per_sample(logs[0])
        say(f"one sample: {ours:.2f} ms here, {theirs:.2f} ms by inspect_ai ({theirs / ours:.0f} times)")


if __name__ == "__main__":
    main()
