"""Where a run's logs go: ``results/<run>/`` of the workspace.

results/
  20261130-141502-quickstart/          one `inspect eval`
    2026-11-30T14-15-03_quickstart_<id>.eval
  set-quickstart-3f9c2a41b07e/          one `inspect eval-set`; the same command finds it again
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from workbench.core.digest import digest_json, short
from workbench.core.errors import MachineError
from workbench.core.workspace import Workspace, find_workspace


def run_folder(
    suites: Sequence[str], workspace: Workspace | None = None, now: datetime | None = None
) -> Path:
    """A new folder for one evaluation, named by local time and suites.

    Raises:
        MachineError: the results folder cannot be written.
    """
    results = writable(_results(workspace))
    stem = f"{(now or datetime.now()):%Y%m%d-%H%M%S}-{_joined(suites)}"
    names = (stem if n == 0 else f"{stem}-{n + 1}" for n in range(1000))
    return next(folder for name in names if not (folder := results / name).exists())


def set_folder(suites: Sequence[str], identity: Sequence[str], workspace: Workspace | None = None) -> Path:
    """The folder of an evaluation set: the same for the same suites and identity, so it resumes."""
    return writable(_results(workspace)) / f"set-{_joined(suites)}-{short(digest_json(list(identity)))}"


def writable(folder: Path, option: str = "--log-dir") -> Path:
    """`folder`, made if need be, or an error that says what to do instead.

    Args:
        option: that names another folder.

    Raises:
        MachineError: it cannot be made or written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise MachineError(f"cannot make {folder}: {error.strerror}; give {option} DIR") from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise MachineError(f"cannot write in {folder}; give {option} DIR")
    return folder


def _results(workspace: Workspace | None) -> Path:
    return (workspace or find_workspace()).results


def _joined(suites: Sequence[str]) -> str:
    return "-".join(dict.fromkeys(suites))[:60] or "run"
