"""What of an agent's file changes may stand when a verifier judges, decided by path alone.

A verifier trusts the image: its shell, loader, interpreter and pytest. So what the agent did to
files that the image brought in those places is undone (`Sweep.restore`), and what it added in places from
which such programs take orders is taken away (`Sweep.remove`). All else is the agent's work and stays,
installed packages and programs included.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from workbench.sandboxing.landing import DEFAULT_PATH

Reason = Literal["places", "cache", "loader", "program", "python", "pytest", "tools", "jobs"]
QUIET = frozenset(("places", "cache"))
"""Reasons that honest work gives as well; they are no incident."""


class Change(NamedTuple):
    """One entry of the engine's list of changes: 0 changed, 1 added, 2 removed since the image."""

    path: str
    kind: int


CHANGED, ADDED, REMOVED = 0, 1, 2
PLACES = ("/tests", "/solution", "/logs/verifier")
"""Where nothing of the agent's may lie: tests, reference solution, reward."""
LOADER_CACHE = "/etc/ld.so.cache"
_LIBRARY = r"/(?:usr/)?(?:local/)?lib(?:32|64|x32)?/"
_PYTHON = r"/(?:usr/)?(?:local/)?lib/python[\d.]*/"
_HOME = r"/(?:root|home/[^/]+)/"
_PYTEST = r"(?:_pytest|pytest|pytest_[a-z_]+|pluggy|iniconfig|packaging|pygments|exceptiongroup|tomli)"
_INSTALLERS = r"(?:pip|setuptools|_distutils_hack|pkg_resources|wheel|uv)"
_PACKAGES = r".*/(?:site|dist)-packages/"
_ELSEWHERE = r"(?!.*/(?:site|dist)-packages/)"
_RULES: tuple[tuple[Reason, str], ...] = (
    ("places", "(?:" + "|".join(map(re.escape, PLACES)) + r")(?:/.*)?"),
    ("cache", re.escape(LOADER_CACHE)),
    ("loader", r"/etc/ld\.so\..*"),
    ("loader", r"/etc/nsswitch\.conf"),
    ("loader", r".*/(?:ld-linux[^/]*|ld-[\d.]+|ld-musl[^/]*|lib(?:c|dl|m|pthread|rt)(?:-[\d.]+)?)\.so[^/]*"),
    ("python", r".*/(?:site|user)customize(?:\.[^/]*|/.*)?"),
    ("python", r"/(?:usr/)?(?:local/)?lib(?:64)?/python\d+\.zip(?:/.*)?"),
    ("python", r"/(?:usr/)?(?:local/)?(?:s?bin/)?pyvenv\.cfg"),
    ("pytest", _ELSEWHERE + r".*/(?:conftest\.py|\.?pytest\.ini)"),
    ("pytest", r"/(?:pyproject\.toml|tox\.ini|setup\.cfg|setup\.py)"),
    ("pytest", rf".*/{_PYTEST}(?:\.py|/__init__\.py)"),
    ("pytest", _PACKAGES + rf"{_PYTEST}(?:/.*|-[^/]*\.(?:dist|egg)-info(?:/.*)?)?"),
    ("tools", _PACKAGES + rf"{_INSTALLERS}(?:/.*|\.py|-[^/]*\.(?:dist|egg)-info(?:/.*)?)?"),
    ("tools", r"/etc/(?:dpkg/dpkg\.cfg(?:\.d)?|perl)(?:/.*)?"),
    ("tools", _HOME + r"\.dpkg\.cfg"),
    ("tools", _HOME + r"\.(?:curlrc|wgetrc|netrc|pydistutils\.cfg)"),
    ("tools", _HOME + r"\.(?:pip|config/pip|config/uv)(?:/.*)?"),
    ("tools", _HOME + r"\.local/bin/(?:uvx?|env(?:\.[^/]*)?|py\.?test)"),
    ("tools", r"/etc/(?:pip\.conf|wgetrc|uv(?:/.*)?|apt/apt\.conf(?:\.d)?(?:/.*)?)"),
    ("cache", _HOME + r"\.cache/(?:pip|uv)(?:/.*)?"),
)
"""Reason -> paths that may neither be added nor changed."""
_OWN: tuple[tuple[Reason, str], ...] = (
    ("loader", _LIBRARY + r".*\.so(?:\.[^/]*)?"),
    ("python", _PYTHON + r"(?!(?:site|dist)-packages/).*"),
)
"""Reason -> files that are the image's to change; new ones may be added, but for `_STANDARD`."""
_STANDARD = re.compile(_PYTHON + r"(?!(?:site|dist)-packages(?:/|$))(?!.*__pycache__).*")
"""Python's standard library, in which a new package would stand before a module of the same name."""
_LIBRARY_FOLDER = re.compile(_PYTHON.removesuffix("/"))
_JOBS = re.compile(r"/var/spool/(?:cron|at|anacron)(?:/.*)?|/etc/(?:crontab|anacrontab|cron\.[^/]*(?:/.*)?)")
"""What a scheduler that an ENTRYPOINT starts would run beside the verifier."""
_VERIFIERS_PROGRAMS = frozenset(("pytest", "py.test", "uv", "uvx"))
_TO_READ = re.compile(_PACKAGES + r"(?:[^/]*\.pth|[^/]*\.(?:dist|egg)-info/entry_points\.txt)")
_COMPILED = re.compile(r"(?P<folder>.*)/__pycache__/(?P<name>[^/.]+)\.[^/]*\.pyc")
_ANCHORS = frozenset(
    f"{root}{name}"
    for root in ("", "/usr", "/usr/local")
    for name in ("/bin", "/sbin", "/lib", "/lib64", "/etc")
) | {"/usr", "/usr/local", "/logs"}


@dataclass(frozen=True)
class Sweep:
    """What is to be done before a verifier may judge.

    Attributes:
        restore: files to be as in the image again, sorted.
        remove: paths to be taken away, none below another.
        suspect: added files that are taken away if their text gives orders: ``.pth`` files that run
            code, entry points of pytest plug-ins.
        programs: added programs, taken away where they stand before one of the image.
        anchors: folders that were touched and must still be folders, or nothing below is what it seems.
        reasons: what was found, by reason, for people and for the trial's incidents.
    """

    restore: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()
    suspect: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    anchors: tuple[str, ...] = ()
    reasons: Mapping[Reason, tuple[str, ...]] = field(default_factory=dict)


class Rules:
    """The rules for one image.

    Args:
        image: the ``Config`` of the engine's record of it.
    """

    def __init__(self, image: Mapping[str, Any]) -> None:
        pairs = (entry.partition("=") for entry in image.get("Env") or ())
        path = next((value for name, _, value in pairs if name == "PATH"), DEFAULT_PATH)
        self.folders = tuple(dict.fromkeys((*path.split(":"), *DEFAULT_PATH.split(":"))))
        self.entry = frozenset(word for word in image.get("Entrypoint") or () if word.startswith("/"))
        self._serves = bool(image.get("Entrypoint"))
        self._rules = [(reason, re.compile(pattern)) for reason, pattern in _RULES]
        self._own = [(reason, re.compile(pattern)) for reason, pattern in _OWN]

    def sort(self, changes: Iterable[Change]) -> Sweep:
        """Sort an agent's changes. Folders that only hold changes are no change themselves."""
        listed = sorted(set(changes))
        kinds = dict(listed)
        parents = {posixpath.dirname(path) for path in kinds}
        restore: list[str] = []
        remove: list[str] = []
        reasons: dict[Reason, list[str]] = {}
        for path, kind in listed:
            holds = kind == CHANGED and path in parents
            reason = None if holds else self._reason(path, kinds)
            if reason is None:
                continue
            (remove if kind == ADDED or reason == "places" else restore).append(path)
            reasons.setdefault(reason, []).append(path)
        return Sweep(
            restore=tuple(restore),
            remove=tuple(_topmost(remove)),
            suspect=tuple(p for p, kind in listed if kind != REMOVED and _TO_READ.fullmatch(p)),
            programs=tuple(p for p, kind in listed if kind == ADDED and self._is_program(p)),
            anchors=tuple(p for p, _ in listed if self._is_anchor(p)),
            reasons={reason: tuple(paths) for reason, paths in reasons.items()},
        )

    def _reason(self, path: str, kinds: Mapping[str, int]) -> Reason | None:
        """Why a change may not stand, ``None`` where it may."""
        for reason, pattern in self._rules:
            if pattern.fullmatch(path):
                return reason
        if _stale(path, kinds):
            return "cache"
        if self._serves and _JOBS.fullmatch(path):
            return "jobs"
        if kinds[path] == ADDED:
            if _STANDARD.fullmatch(path):
                return "python"
            return "program" if self._is_program(path) and _name(path) in _VERIFIERS_PROGRAMS else None
        if self._is_program(path) or path in self.entry:
            return "program"
        return next((reason for reason, pattern in self._own if pattern.fullmatch(path)), None)

    def _is_anchor(self, path: str) -> bool:
        return path in _ANCHORS or path in self.folders or bool(_LIBRARY_FOLDER.fullmatch(path))

    def _is_program(self, path: str) -> bool:
        return posixpath.dirname(path) in self.folders


def _stale(path: str, kinds: Mapping[str, int]) -> bool:
    """Whether a file is compiled Python that stands for a source which the agent did not write."""
    match = _COMPILED.fullmatch(path)
    return match is not None and kinds.get(f"{match['folder']}/{match['name']}.py") != ADDED


def _topmost(paths: Iterable[str]) -> Iterator[str]:
    """Sorted paths without those that lie below another."""
    last = None
    for path in sorted(paths, key=lambda path: path.split("/")):
        if last is None or not path.startswith(f"{last}/"):
            last = path
            yield path


def _name(path: str) -> str:
    return posixpath.basename(path)
