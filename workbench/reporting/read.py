"""The one reader of logs: every planned trial exactly once, streamed, whatever the logs went through."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from workbench.core.digest import digest_json
from workbench.reporting.logfile import (
    ForeignLogError,
    Header,
    UnreadableLogError,
    read_header,
    read_samples,
)
from workbench.reporting.settings import UNRELATED
from workbench.reporting.trial import Plan, Trial, split_id, trial_of


class _Key(NamedTuple):
    """Identity of a trial across logs."""

    settings: str
    sample: str
    epoch: int


@dataclass
class Notes:
    """What was met on the way; complete once the trials are read.

    Attributes:
        read: logs whose trials were used.
        foreign: sound files of other tasks: (path, what it is).
        unreadable: damaged logs: (path, what was found). Their trials are not known.
        superseded: trials found again in an older log, or incomplete there and complete elsewhere.
    """

    read: list[Path] = field(default_factory=list)
    foreign: list[tuple[Path, str]] = field(default_factory=list)
    unreadable: list[tuple[Path, str]] = field(default_factory=list)
    superseded: int = 0


def read_trials(logs: Sequence[Path], notes: Notes) -> Iterator[Trial]:
    """Every planned trial of some logs, once.

    A trial is known by task, task arguments, model and settings, limits, sample and epoch. Of several
    records of one trial the scored one wins, then the excluded, then the pending; among equals the
    one whose log was created last (by the stamp inside the log: copies and touched files change
    nothing). Samples are read one at a time; only identities are kept.

    Args:
        logs: files, in any order.
        notes: filled in while reading.
    """
    seen: set[_Key] = set()
    waiting: dict[_Key, Trial] = {}
    for path, header in _newest_first(logs, notes):
        for key, trial in _trials(path, header, notes):
            if key in seen:
                notes.superseded += 1
            elif trial.status == "scored":
                notes.superseded += waiting.pop(key, None) is not None
                seen.add(key)
                yield trial
            else:
                _keep_better(waiting, key, trial, notes)
    yield from waiting.values()


def _keep_better(waiting: dict[_Key, Trial], key: _Key, trial: Trial, notes: Notes) -> None:
    """An excluded trial says more than a pending one; a newer one more than an older."""
    known = waiting.get(key)
    notes.superseded += known is not None
    if known is None or (known.status == "pending" and trial.status == "excluded"):
        waiting[key] = trial


def _newest_first(logs: Sequence[Path], notes: Notes) -> list[tuple[Path, Header]]:
    found: list[tuple[Path, Header]] = []
    for path in logs:
        try:
            header = read_header(path)
            for sample_id in header.eval.dataset.sample_ids or ():
                split_id(str(sample_id))
            found.append((path, header))
        except ForeignLogError as error:
            notes.foreign.append((path, str(error)))
        except (UnreadableLogError, ValueError) as error:
            notes.unreadable.append((path, str(error)))
    found.sort(key=lambda entry: (entry[1].eval.created, entry[1].eval.eval_id, str(entry[0])), reverse=True)
    return found


def _trials(path: Path, header: Header, notes: Notes) -> Iterator[tuple[_Key, Trial]]:
    """The trials of one log: those that ended, then those that were planned and did not."""
    plan, settings = Plan.of(header, path), _settings(header)
    missing = dict.fromkeys(
        _Key(settings, str(sample), epoch)
        for sample in header.eval.dataset.sample_ids or ()
        for epoch in range(1, (header.eval.config.epochs or 1) + 1)
    )
    try:
        for sample in read_samples(path):
            key = _Key(settings, str(sample.id), sample.epoch)
            missing.pop(key, None)
            yield key, trial_of(plan, sample)
    except (UnreadableLogError, OSError, ValueError) as error:
        notes.unreadable.append((path, str(error).splitlines()[0]))
    else:
        notes.read.append(path)
    for key in missing:
        yield key, plan.pending(key.sample, key.epoch, "not started")


def _settings(header: Header) -> str:
    """Digest of everything given to an evaluation that changes its answers."""
    spec = header.eval
    generation = {k: v for k, v in spec.model_generate_config.items() if k not in UNRELATED}
    return digest_json(
        [
            spec.task,
            spec.task_version,
            spec.task_args,
            spec.model,
            spec.model_args,
            generation,
            spec.config.limits,
            spec.solver,
            spec.solver_args_passed or {},
        ]
    )
