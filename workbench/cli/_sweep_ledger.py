"""The ledger: one line for every trial that ends, on disk before the next; and the counts of a live view.

A trial is in its log before it is in the ledger, so a kill between the two leaves a trial that counts
without its line; the next start gives it one (`backfill`). Logs decide what ran; the ledger tells what
ran twice.
"""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any

from workbench.core.digest import digest_json, short

Cell = tuple[str, str, str]
"""Model, agent, arm."""


@dataclass
class Progress:
    """Counts of one cell. `reward` is summed over scored trials, `cost` over those whose cost is known.

    Attributes:
        cost: ``None`` while none is known.
        unpriced: trials that ended and whose cost is not known.
    """

    planned: int = 0
    scored: int = 0
    excluded: int = 0
    running: int = 0
    reward: float = 0.0
    cost: float | None = None
    unpriced: int = 0

    def pays(self, cost: float | None) -> None:
        """Take note of what a trial cost."""
        if cost is None:
            self.unpriced += 1
        else:
            self.cost = (self.cost or 0.0) + cost

    @property
    def done(self) -> int:
        """Trials that ended."""
        return self.scored + self.excluded

    @property
    def left(self) -> int:
        """Trials without a score."""
        return max(0, self.planned - self.scored)


def arm_of(sample: str, arguments: Mapping[str, Any]) -> str:
    """An arm with what tells its settings apart: ``bm25 k=5``."""
    label = sample.rpartition("@")[2].removeprefix("routed-")
    if label == "none":
        return label
    shown = str(arguments.get("disclosure", "progressive"))
    setting = [shown] if shown != "progressive" else []
    if label != "gold":
        given = (("k", "router_k"), ("pool", "pool"))
        setting = [f"{short}={arguments[name]}" for short, name in given if name in arguments] + setting
    return " ".join([label, *setting])


@dataclass
class Ledger:
    """Appends to `path`; keeps counts by cell. Safe to read from another thread."""

    path: Path
    cells: dict[Cell, Progress] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)
    ended: list[float] = field(default_factory=list)

    def starts(self, cell: Cell) -> None:
        """A trial begins."""
        with self.lock:
            self.cells.setdefault(cell, Progress()).running += 1

    def ends(self, cell: Cell, entry: Mapping[str, Any]) -> None:
        """A trial ended; `entry` says how, see `outcome`."""
        with self.lock:
            count = self.cells.setdefault(cell, Progress())
            count.running = max(0, count.running - 1)
            if entry["status"] == "scored":
                count.scored += 1
                count.reward += entry["reward"]
            else:
                count.excluded += 1
            count.pays(entry["cost_usd"])
            self.ended.append(time.monotonic())
            self._append({"at": time.time(), "model": cell[0], "agent": cell[1], "arm": cell[2], **entry})

    def backfill(self, scored: Iterable[Mapping[str, Any]]) -> int:
        """Append what of these entries has no line yet, marked ``backfilled``; returns how many.

        Nobody else may write meanwhile. Counts stay as they are: they come from the logs.
        """
        known = {_trial(entry) for entry in read_ledger(self.path) if entry["status"] == "scored"}
        lacking = [entry for entry in scored if _trial(entry) not in known]
        for entry in lacking:
            self._append({"at": time.time(), **entry, "backfilled": True})
        return len(lacking)

    def _append(self, entry: Mapping[str, Any]) -> None:
        line = json.dumps({**entry, "check": short(digest_json(entry))}) + "\n"
        with self.path.open("a", encoding="utf-8") as file:
            if file.tell() and not _ends_whole(self.path):
                file.write("\n")
            file.write(line)
            file.flush()
            os.fsync(file.fileno())


def read_ledger(path: Path) -> Iterator[dict[str, Any]]:
    """Whole lines of a ledger; one that was cut by a crash is passed over."""
    if not path.is_file():
        return
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            entry = json.loads(line)
            if entry.pop("check") == short(digest_json(entry)):
                yield entry
        except (ValueError, KeyError, AttributeError, TypeError):
            continue


def repeated(path: Path) -> int:
    """How many scored trials the ledger holds more than once."""
    scored = Counter(_trial(entry) for entry in read_ledger(path) if entry["status"] == "scored")
    return sum(count - 1 for count in scored.values())


def _trial(entry: Mapping[str, Any]) -> tuple[str, str, int]:
    return entry["job"], entry["sample"], entry["epoch"]


def outcome(record: Mapping[str, Any] | None) -> dict[str, Any]:
    """What of a joint record goes into the ledger; a trial without one was excluded."""
    if record is None:
        return {"status": "excluded", "reward": None, "cost_usd": None, "tokens": None}
    spend, found = record.get("spend") or {}, record["outcome"]
    return {
        "status": found["status"],
        "reward": found["reward"],
        "cost_usd": spend.get("cost_usd"),
        "tokens": spend.get("total_tokens"),
    }


def _ends_whole(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"
