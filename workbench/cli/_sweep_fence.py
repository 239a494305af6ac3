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

import json
import os
import shutil
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from workbench.cli._sweep_spec import DEFAULT_AGENT
from workbench.core.atomic import write_text
from workbench.core.errors import UsageError
from workbench.core.locks import exclusive
from workbench.core.types import TASK_PREFIX
from workbench.reporting.logfile import (
    EvalSpec,
    ForeignLogError,
    Header,
    UnreadableLogError,
    read_header,
    read_samples,
)
from workbench.reporting.salvage import salvage
from workbench.reporting.settings import UNRELATED

SPEC, LOCK, LEDGER, QUARANTINE = "sweep.yaml", "sweep.lock", "ledger.jsonl", "quarantine"
_GUARD, _OWNER = ".running", ".owner"
_ASIDE, _CHANGED = ".aside", ".changed.aside"
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


def refuse_inner(folder: Path) -> None:
    """See that no other run lies inside a folder.

    Raises:
        UsageError: logs lie in a subfolder, which Inspect would take for its own.
    """
    if inner := next((path for path in sorted(folder.glob("*/**/*.eval"))), None):
        raise UsageError(f"{inner}: a log of another run inside {folder}; move {inner.parent} elsewhere")


def tidy(folder: Path) -> Tidied:
    """Make a folder's logs safe to resume from: readable ones only, each once, in order of creation.

    Raises:
        UsageError: logs lie in a subfolder, which Inspect would take for its own.
    """
    done = Tidied()
    refuse_inner(folder)
    kept: dict[str, tuple[Path, Header, int]] = {}
    for path in sorted(folder.glob("*.eval")):
        _make_own(path)
        try:
            header, samples = _read(path)
        except ForeignLogError:
            continue
        except (UnreadableLogError, OSError, ValueError) as error:
            reason = f"unreadable: {str(error).splitlines()[0]}"
            found = _salvaged(path, reason, done)
            if found is None:
                continue
            header, samples = found
        _keep_fuller(kept, path, header, samples, done)
    for path, header, _ in kept.values():
        stamp = header.eval.created.timestamp()
        os.utime(path, (stamp, stamp))
    return done


def set_aside_stale(folder: Path, current: Mapping[str, str]) -> Tidied:
    """Put away logs of jobs that are not what they were: their trials would count beside the new ones.

    Args:
        current: `place` of every job -> its `identity` now. Logs of other jobs stay.
    """
    done = Tidied()
    for path in sorted(folder.glob("*.eval")):
        try:
            header = read_header(path)
        except (UnreadableLogError, ForeignLogError):
            continue
        where, mark = known_as(header.eval)
        if current.get(where, mark) != mark:
            reason = "of a pool, task, recipe, limit or version that has changed since"
            _move(path, reason, done, _CHANGED)
    return done


def returning(folder: Path, current: Mapping[str, str]) -> list[Path]:
    """Logs in ``quarantine/`` whose jobs are again what they were.

    Args:
        current: as for `set_aside_stale`.
    """
    found = []
    for path in sorted((folder / QUARANTINE).glob(f"*{_CHANGED}")):
        with suppress(UnreadableLogError, ForeignLogError, OSError, ValueError):
            where, mark = known_as(read_header(path).eval)
            if current.get(where) == mark and not _home(path).exists():
                found.append(path)
    return found


def bring_back(folder: Path, current: Mapping[str, str]) -> int:
    """Take them out of ``quarantine/``; returns how many."""
    found = returning(folder, current)
    for path in found:
        path.rename(_home(path))
    return len(found)


def _home(path: Path) -> Path:
    """Where a log that was set aside came from."""
    return path.parents[1] / f"{path.name.partition('.eval')[0]}.eval"


def place(
    model: str,
    generate: Mapping[str, Any],
    agent: str,
    arguments: Mapping[str, Any],
    settings: Mapping[str, Any] | None = None,
) -> str:
    """What a job is known by across starts, whatever its identity; settings of speed tell none apart.

    Args:
        settings: arguments of the model's provider, as logs have them. Inspect tells jobs apart by them.
    """
    sampling = {
        name: value for name, value in generate.items() if value is not None and name not in UNRELATED
    }
    return json.dumps([model, sampling, agent, arguments, settings or {}], sort_keys=True, default=str)


def identity(version: str | int, limits: Mapping[str, Any]) -> str:
    """What decides a job's answers besides its place: its version and the limits on a trial.

    Args:
        limits: by Inspect's names (``time_limit``); ``None`` is no limit.
    """
    set_ = {name: value for name, value in limits.items() if value is not None}
    return json.dumps([str(version), set_], sort_keys=True)


def job_key(where: str, mark: str) -> str:
    """A job's place and identity as one string, so that one run anew is no repetition."""
    return json.dumps([where, mark])


def known_as(spec: EvalSpec) -> tuple[str, str]:
    """(place, identity) of the job that a log is of."""
    agent = (spec.solver or DEFAULT_AGENT).removeprefix(TASK_PREFIX)
    arguments = spec.task_args_passed or {}
    where = place(spec.model, spec.model_generate_config, agent, arguments, spec.model_args)
    return where, identity(spec.task_version, spec.config.limits)


def _make_own(path: Path) -> None:
    """A link to a log, which Inspect passes over, as a copy of it."""
    if path.is_symlink() and path.is_file():
        copy = path.with_name(f".{path.name}.part")
        shutil.copyfile(path, copy)
        copy.replace(path)


def _read(path: Path) -> tuple[Header, int]:
    return read_header(path), sum(1 for _ in read_samples(path))


def _salvaged(path: Path, reason: str, done: Tidied) -> tuple[Header, int] | None:
    """Header and trials of what is left of a cut-off log, which takes its place; ``None``: nothing is."""
    rest = path.with_name(f"{path.stem}-rest.eval")  # a sound log by itself, should all end here
    found = None
    with suppress(UnreadableLogError, ForeignLogError, OSError, ValueError):
        found = _read(rest) if salvage(path, rest) else None
    if found is None:
        rest.unlink(missing_ok=True)
        _move(path, reason, done)
        return None
    _move(path, f"{reason}; its {found[1]} whole trials are kept", done)
    rest.rename(path)
    return found


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


def _move(path: Path, reason: str, done: Tidied, suffix: str = _ASIDE) -> None:
    place = path.parent / QUARANTINE
    if place.exists() and not place.is_dir():
        raise UsageError(f"{place}: is where logs are set aside, and is no folder; move it elsewhere")
    place.mkdir(exist_ok=True)
    names = (f"{path.name}{number or ''}{suffix}" for number in range(1000))
    path.rename(next(place / name for name in names if not (place / name).exists()))
    done.moved.append((path.name, reason))
