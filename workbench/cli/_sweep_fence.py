"""What a sweep's folder is kept safe from: a second process, damaged logs, copies, changed file times.

Inspect picks a task's newest log by the file's time, stops at a log that it cannot read, and lets
two processes write side by side; each of these would run finished trials again.

results/<name>/
  sweep.yaml             the spec of the last start
  sweep.lock             what decided the answers: digests, versions, seeds
  ledger.jsonl           one line for every trial that ended, in order
  *.eval                 logs
  quarantine/            logs that could not be read, and copies
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from workbench.core.atomic import write_text
from workbench.core.errors import UsageError
from workbench.core.locks import exclusive
from workbench.reporting.logfile import (
    ForeignLogError,
    Header,
    UnreadableLogError,
    read_header,
    read_samples,
)

SPEC, LOCK, LEDGER, QUARANTINE = "sweep.yaml", "sweep.lock", "ledger.jsonl", "quarantine"
_GUARD, _OWNER = ".running", ".owner"
_ASIDE = ".aside"
"""Inspect reads logs in subfolders too, unless they are called something else."""


@contextmanager
def sole_owner(folder: Path) -> Iterator[None]:
    """Keep every other process out of a folder. A dead owner's lock ends with it.

    Raises:
        UsageError: another process runs in it; says which.
    """

    def refuse() -> None:
        owner = folder / _OWNER
        who = owner.read_text(encoding="utf-8").strip() if owner.is_file() else "another process"
        raise UsageError(f"{folder}: a sweep is running here ({who}); see: workbench sweep status {folder}")

    with exclusive(folder / _GUARD, refuse):
        write_text(folder / _OWNER, f"process {os.getpid()} on {socket.gethostname()}\n")
        yield


@dataclass
class Tidied:
    """Logs moved to ``quarantine/``, each with the reason."""

    moved: list[tuple[str, str]] = field(default_factory=list)


def tidy(folder: Path) -> Tidied:
    """Make a folder's logs safe to resume from: readable ones only, each once, in order of creation."""
    done = Tidied()
    kept: dict[str, tuple[Path, Header, int]] = {}
    for path in sorted(folder.glob("*.eval")):
        try:
            header = read_header(path)
            samples = sum(1 for _ in read_samples(path))
        except ForeignLogError:
            continue
        except (UnreadableLogError, OSError, ValueError) as error:
            _move(path, f"unreadable: {str(error).splitlines()[0]}", done)
            continue
        _keep_fuller(kept, path, header, samples, done)
    for path, header, _ in kept.values():
        stamp = header.eval.created.timestamp()
        os.utime(path, (stamp, stamp))
    return done


def _keep_fuller(
    kept: dict[str, tuple[Path, Header, int]], path: Path, header: Header, samples: int, done: Tidied
) -> None:
    """Of two logs of one evaluation the one with more trials; of equals the finished one."""
    known = kept.get(header.eval.eval_id)
    if known is None:
        kept[header.eval.eval_id] = (path, header, samples)
        return
    rank = (samples, header.status != "started")
    if rank > (known[2], known[1].status != "started"):
        kept[header.eval.eval_id] = (path, header, samples)
        path = known[0]
    _move(path, "a copy of another log", done)


def _move(path: Path, reason: str, done: Tidied) -> None:
    place = path.parent / QUARANTINE
    place.mkdir(exist_ok=True)
    names = (f"{path.name}{number or ''}{_ASIDE}" for number in range(1000))
    path.rename(next(place / name for name in names if not (place / name).exists()))
    done.moved.append((path.name, reason))
