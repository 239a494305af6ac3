"""The labels by which our images, containers and networks are known, and whose they are.

Labels hold random tokens and digests only: no task, skill or condition can be read from them.
"""

from __future__ import annotations

import os
import platform
import secrets
import socket
from dataclasses import dataclass
from pathlib import Path

from workbench.core.digest import digest_parts, short

REPOSITORY = "skill-workbench"
IMAGE = "skill-workbench.image"
"""On images: ``task`` or ``base``."""
PLAN = "skill-workbench.plan"
BASES = "skill-workbench.bases"
SUBSTITUTES = "skill-workbench.substitutes"
RUN = "skill-workbench.run"
"""On containers and networks: the token of the run that made them."""
TRIAL = "skill-workbench.trial"
OWNER = "skill-workbench.owner"


def token() -> str:
    """A random name for a run or a trial."""
    return secrets.token_hex(8)


@dataclass(frozen=True)
class Owner:
    """The process that made a container. Written as ``host:boot:namespace:pid:start``."""

    host: str
    boot: str
    namespace: str
    pid: int
    start: str

    def __str__(self) -> str:
        return ":".join((self.host, self.boot, self.namespace, str(self.pid), self.start))

    @staticmethod
    def parse(text: str) -> Owner | None:
        """The owner a label names, ``None`` where it is not ours to read."""
        parts = text.split(":")
        if len(parts) != 5 or not parts[3].isdecimal():
            return None
        return Owner(parts[0], parts[1], parts[2], int(parts[3]), parts[4])

    @staticmethod
    def current() -> Owner:
        """This process."""
        pid = os.getpid()
        return Owner(_host(), _boot(), _namespace(), pid, _start(pid))

    def gone(self) -> bool:
        """Whether the process is certainly over: same host, and an earlier boot or no such process.

        A process of another host or of another container's process namespace is never said to be gone.
        """
        here = Owner.current()
        if self.host != here.host:
            return False
        if self.boot != here.boot:
            return True
        return self.namespace == here.namespace and _start(self.pid) != self.start


def _host() -> str:
    machine = _read("/etc/machine-id") or platform.node()
    return short(digest_parts([machine, socket.gethostname()]))


def _boot() -> str:
    return short(digest_parts([_read("/proc/sys/kernel/random/boot_id")]))


def _namespace() -> str:
    try:
        return short(digest_parts([str(Path("/proc/self/ns/pid").readlink())]))
    except OSError:
        return "-"


def _start(pid: int) -> str:
    """When a process began, empty when there is none: tells a process from a later one of its number."""
    status = _read(f"/proc/{pid}/stat")
    if status:
        return status.rpartition(")")[2].split()[19]
    if Path("/proc/self/stat").exists():
        return ""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return ""
    except PermissionError:
        pass
    return "running"


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
