"""Which files are meant: paths a user gave, or the newest run of the workspace.

A folder stands for one run: its own logs are read, those of its subfolders are not (they belong
to other runs).
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from workbench.core.errors import MissingDataError, UsageError, suggestion
from workbench.reporting.logfile import NO_LOG, ForeignLogError, UnreadableLogError, read_header

_SUFFIXES = (".eval", ".json")
_MANIFESTS = frozenset(("eval-set.json", "listing.json", "logs.json"))
"""Inspect's own files beside logs."""

_RUN = frozenset((*_MANIFESTS, "sweep.yaml"))
_KEPT = frozenset((".eval", ".lock", ".jsonl"))
"""What else is a run's own in its folder."""

_STAMPED = re.compile(r"\d{4}-\d\d-\d\dT.*")
_FIRST = "run one first: inspect eval workbench/quickstart --router bm25"


def find_logs(paths: Sequence[Path]) -> list[Path]:
    """The log files that paths stand for, each once, in order.

    Raises:
        UsageError: a path does not exist (the nearest is named), or a folder holds no log.
    """
    found: dict[Path, Path] = {}
    for path in paths:
        for log in _in_folder(path) if path.is_dir() else [_file(path)]:
            found.setdefault(log.resolve(), log)
    return list(found.values())


def refuse_inputs(target: Path, logs: Sequence[Path]) -> None:
    """See that writing `target` would replace no log that is read, and nothing else that a run keeps.

    Raises:
        UsageError: it would.
    """
    place = target.resolve()
    if not place.is_file():
        return
    read = place in {log.resolve() for log in logs}
    if read and _is_log(place, damaged=True):
        raise UsageError(f"{target}: is one of the logs that are read; choose another file")
    if place.suffix == ".eval" or (place.suffix == ".json" and _is_log(place, damaged=False)):
        raise UsageError(f"{target}: is a log; choose another file")
    own = place.name in _RUN or place.suffix in _KEPT or place.name.startswith(".")
    homes = {log.resolve().parent for log in logs}
    if own and (place.parent in homes or any(place.parent.glob("*.eval"))):
        raise UsageError(f"{target}: belongs to the run in {place.parent}; choose another file")


def _is_log(path: Path, *, damaged: bool) -> bool:
    """Whether a file is a log; a report written among logs is none.

    Args:
        damaged: what is said of a file that cannot be read.
    """
    try:
        read_header(path)
    except ForeignLogError as error:
        return str(error) != NO_LOG
    except UnreadableLogError:
        return damaged
    return True


def newest_run(results: Path) -> list[Path]:
    """The logs of the run that has the newest log, by the stamp Inspect puts into file names.

    Raises:
        MissingDataError: there is no run yet.
    """
    folders = [results, *(_subfolders(results))] if results.is_dir() else []
    stamped = [
        (log.name, folder) for folder in folders for log in _logs(folder) if _STAMPED.fullmatch(log.name)
    ]
    if not stamped:
        raise MissingDataError(f"no run in {results} yet; {_FIRST}")
    return _logs(max(stamped)[1])


def _in_folder(folder: Path) -> list[Path]:
    logs = _logs(folder)
    if not logs:
        runs = sorted((sub for sub in _subfolders(folder) if _logs(sub)), key=lambda sub: sub.name)
        hint = f"; give a run in it, such as {runs[-1]}" if runs else f"; {_FIRST}"
        raise UsageError(f"{folder}: no log in this folder{hint}")
    return logs


def _file(path: Path) -> Path:
    if path.is_file():
        return path
    parent = path.parent
    entries = parent.iterdir() if parent.is_dir() else ()
    near = [str(parent / e.name) for e in entries if e.suffix in _SUFFIXES or _holds_logs(e)]
    raise UsageError(f"{path}: no such log or folder{suggestion(str(path), near, limit=4)}")


def _logs(folder: Path) -> list[Path]:
    return sorted(
        file
        for file in folder.iterdir()
        if file.suffix in _SUFFIXES and _may_be_log(file.name) and file.is_file()
    )


def _holds_logs(path: Path) -> bool:
    return path.is_dir() and os.access(path, os.R_OK | os.X_OK) and bool(_logs(path))


def _subfolders(folder: Path) -> list[Path]:
    return sorted(sub for sub in folder.iterdir() if sub.is_dir() and not sub.name.startswith("."))


def _may_be_log(name: str) -> bool:
    return not name.startswith(".") and name not in _MANIFESTS
