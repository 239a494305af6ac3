"""How far a sweep is: what its lock plans, against the logs of just those jobs as they are now."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from workbench.cli._sweep_fence import known_as
from workbench.cli._sweep_ledger import Cell, Progress, outcome
from workbench.cli._sweep_lock import Lock, LockedJob
from workbench.reporting.logfile import ForeignLogError, UnreadableLogError, read_header
from workbench.reporting.read import Notes, read_trials
from workbench.reporting.trial import Trial
from workbench.reporting.wording import plural


@dataclass
class Tally:
    """Counts by cell, and what of the folder is in none of them.

    Attributes:
        cells: every planned cell, also those without a log.
        beyond: scored trials numbered above the lock's `trials`.
        others: readable logs of jobs, recipes or limits that the lock does not plan.
        unreadable: damaged logs; their trials are not known.
        scored: an entry of the ledger for every scored trial.
    """

    cells: dict[Cell, Progress]
    beyond: int = 0
    others: int = 0
    unreadable: set[Path] = field(default_factory=set)
    scored: list[dict[str, Any]] = field(default_factory=list)

    @property
    def left(self) -> int:
        """Planned trials without a score."""
        return sum(count.left for count in self.cells.values())

    def remarks(self) -> Iterator[str]:
        """A line for everything that is there and not counted."""
        if self.unreadable:
            yield f"{plural(len(self.unreadable), 'log')} cannot be read; the next start sets them aside"
        if self.others:
            logs = plural(self.others, "log")
            yield f"{logs} of other jobs, recipes or limits not counted (report DIR has all)"
        if self.beyond:
            yield f"{plural(self.beyond, 'scored trial')} beyond the number planned not counted"


def tally(lock: Lock, folder: Path) -> Tally:
    """Count the trials that a start under `lock` would not run again."""
    found = Tally(_planned(lock))
    logs = dict(_logs_of(lock, folder, found))
    notes = Notes()
    for trial in read_trials(list(logs), notes):
        if trial.status == "scored":
            found.scored.append(_entry(logs[trial.log], trial))
        if trial.epoch > lock.trials:
            found.beyond += trial.status == "scored"
        else:
            _count(found.cells[logs[trial.log].cell(trial.sample_id)], trial)
    found.unreadable.update(path for path, _ in notes.unreadable)
    return found


def logs_of(lock: Lock, folder: Path) -> list[Path]:
    """The logs of the jobs that `lock` plans."""
    return [path for path, _ in _logs_of(lock, folder, Tally({}))]


def _planned(lock: Lock) -> dict[Cell, Progress]:
    cells: dict[Cell, Progress] = {}
    for job in lock.jobs:
        for arm, samples in job.arms.items():
            cells.setdefault((job.model, job.agent, arm), Progress()).planned += samples * lock.trials
    return cells


def _logs_of(lock: Lock, folder: Path, found: Tally) -> Iterator[tuple[Path, LockedJob]]:
    jobs = {(job.place, job.identity): job for job in lock.jobs}
    for path in sorted(folder.glob("*.eval")) if folder.is_dir() else ():
        try:
            job = jobs.get(known_as(read_header(path).eval))
        except ForeignLogError:
            continue
        except (UnreadableLogError, OSError, ValueError):
            found.unreadable.add(path)
            continue
        if job is None:
            found.others += 1
        else:
            yield path, job


def _entry(job: LockedJob, trial: Trial) -> dict[str, Any]:
    """What the ledger should say of a trial."""
    assert trial.record is not None
    model, agent, arm = job.cell(trial.sample_id)
    place = {"model": model, "agent": agent, "arm": arm, "job": job.key, "eval": trial.run}
    name = {"sample": trial.sample_id, "epoch": trial.epoch}
    return {**place, **name, **outcome(trial.record.model_dump(mode="json", include={"outcome", "spend"}))}


def _count(count: Progress, trial: Trial) -> None:
    if trial.status == "scored" and trial.record is not None:
        count.scored += 1
        count.reward += trial.record.outcome.reward or 0.0
        count.pays(trial.record.spend.cost_usd)
    elif trial.status == "excluded":
        count.excluded += 1
