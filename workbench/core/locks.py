"""One process at a time: a lock that ends with the process that holds it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from workbench.core.errors import MachineError

OTHER_CACHE = "set SKILL_WORKBENCH_CACHE to another folder"


@contextmanager
def exclusive(path: Path, waiting: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Hold the lock file at `path` for the block; calls `waiting` once if another process has it.

    Raises:
        MachineError: the folder cannot be written, or its file system has no locks.
    """
    lock = FileLock(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            waiting()
            lock.acquire()
    except NotImplementedError:
        raise MachineError(f"{path.parent}: this file system has no locks; {OTHER_CACHE}") from None
    except OSError as error:
        raise MachineError(f"cannot write {path.parent}: {error.strerror}; {OTHER_CACHE}") from error
    try:
        yield
    finally:
        lock.release()
