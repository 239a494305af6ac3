"""A run of the SkillRouter benchmark with the numbers that its authors' own scorer gives it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from workbench.metrics.scoring import Relevance

DATA = Path(__file__).resolve().parents[1] / "data" / "routing" / "parity.json"


@dataclass(frozen=True)
class Parity:
    """What is scored, and stratum -> metric -> the authors' value (``count`` among them)."""

    tasks: dict[str, Relevance]
    rankings: dict[str, list[str]]
    in_pool: set[str]
    metrics: dict[str, dict[str, float]]


def load_parity() -> Parity:
    """The run, read anew."""
    data = json.loads(DATA.read_text(encoding="utf-8"))
    ids = data["ids"]
    tasks = {
        task: Relevance(
            tuple(ids[place] for place in entry["core_gt_ids"]),
            {ids[place]: grade for place, grade in entry["relevance"]},
            counted=entry["task_type"] != "generic_only",
        )
        for task, entry in data["relevance"].items()
    }
    rankings = {task: [ids[place] for place in places] for task, places in data["predictions"].items()}
    return Parity(tasks, rankings, {ids[place] for place in data["in_pool"]}, data["metrics"])
