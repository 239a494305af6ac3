"""A limit on a container's changed files where the storage driver has none: watched, and enforced by killing.

Most engines cannot bound what a container writes, so a thread asks the engine now and then how large each
container's changes are. Where they are over the limit, all processes of that container are
killed but process 1: the command that filled the disk ends, the files stay, and whoever uses the
container can take some away or be judged on what there is.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from workbench.sandboxing import labels
from workbench.sandboxing.container import Container
from workbench.sandboxing.engine import Engine, EngineGoneError, status_code
from workbench.sandboxing.kill import KILL_ALL_SIGNAL

DEFAULT_MB = 10_240
"""MiB of changed files where a task states nothing."""
_INTERVAL = 2.0
"""Seconds between two measurements."""
_SHARE = 10
"""The engine measures at most this fraction of the time."""
_KILL = ["/bin/sh", "-c", "kill -KILL -1"]


class Watchdog:
    """Watches the containers of one run.

    Args:
        run: the run's token.
        sleep: waits that long.
    """

    def __init__(self, engine: Engine, run: str, sleep: Callable[[float], None] = time.sleep) -> None:
        self._engine = engine
        self._run = run
        self._sleep = sleep
        self._watched: dict[str, tuple[Container, int]] = {}
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    def watch(self, container: Container, limit: int) -> None:
        """Hold a container to `limit` bytes of changed files from now on."""
        with self._lock:
            self._watched[container.id] = (container, limit)
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="disk-watchdog", daemon=True)
                self._thread.start()

    def forget(self, container: Container) -> None:
        """Watch a container no longer; the last one ends the thread."""
        with self._lock:
            self._watched.pop(container.id, None)

    def look(self) -> None:
        """Measure once, and kill where a limit is exceeded; a container that went meanwhile is no matter."""
        filters = {"label": f"{labels.RUN}={self._run}"}
        found: Any = self._engine.blocking(lambda api: api.containers(size=True, filters=filters))
        for record in found:
            size = int(record.get("SizeRw") or 0)
            with self._lock:  # whoever forgets a container waits for a kill that is under way
                container, limit = self._watched.get(str(record["Id"]), (None, 0))
                if container is not None and size > limit:
                    container.disk_breaches += 1
                    self._kill(container)

    def _kill(self, container: Container) -> None:
        def work(api: Any) -> None:
            # One kill, not both: a second would hit whoever asks whether the container still lives.
            if container.channels:
                api.kill(container.id, signal=KILL_ALL_SIGNAL)
            else:  # an ENTRYPOINT of the image knows nothing of the signal
                api.exec_start(api.exec_create(container.id, _KILL, user="0")["Id"], detach=True)

        try:
            self._engine.blocking(work, repeatable=False)
        except Exception as error:
            if status_code(error) is None:
                raise

    def _work(self) -> None:
        while True:
            began = time.monotonic()
            try:
                self.look()
            except EngineGoneError:
                pass  # whoever uses a container is told so
            except Exception as error:
                if status_code(error) is None:
                    raise
            self._sleep(max(_INTERVAL, _SHARE * (time.monotonic() - began)))
            with self._lock:
                if not self._watched:
                    self._thread = None
                    return
