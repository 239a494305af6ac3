"""What of an agent's file changes may stand when a verifier judges, decided by path alone.

A verifier trusts the image: its shell, loader, interpreters, libraries and installers. So whatever the agent
did to files of the image where such programs live is undone (`Sweep.restore`, `Sweep.packages`), and what
it added in places from which they take orders is taken away (`Sweep.remove`). All else is the agent's
work and stays; packages and programs that it installed stay where they stand before none of the image's.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from workbench.sandboxing import orders
from workbench.sandboxing.landing import DEFAULT_PATH
from workbench.sandboxing.orders import Reason


class Change(NamedTuple):
    """One entry of the engine's list of changes: 0 changed, 1 added, 2 removed since the image."""

    path: str
    kind: int


CHANGED, ADDED, REMOVED = 0, 1, 2
_ANCHORS = frozenset(
    f"{root}{name}"
    for root in ("", "/usr", "/usr/local")
    for name in ("/bin", "/sbin", "/lib", "/lib64", "/etc")
) | {"/usr", "/usr/local", "/opt", "/logs"}


@dataclass(frozen=True)
class Sweep:
    """What is to be done before a verifier may judge.

    Attributes:
        restore: files to be as in the image again, sorted.
        remove: paths to be taken away, none below another.
        packages: packages of the image's Pythons that were touched; they are replaced as a whole, for one
            that is half the image's would be neither's.
        hiding: package folder -> added modules in it, taken away where they hide one of the image's.
        suspect: added files that are taken away if their text gives orders: ``.pth`` files that run
            code, entry points of pytest plug-ins.
        programs: added programs, taken away where they stand before one of the image.
        anchors: folders that were touched and must still be folders, or nothing below is what it seems.
        reasons: what was found, by reason, for people and for the trial's incidents.
    """

    restore: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    hiding: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
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
        self._work = posixpath.normpath(image.get("WorkingDir") or "/")
        prefixes = {"", "/usr", "/usr/local"} | set(self._prefixes())
        self._never = orders.never(prefixes)
        self._owned = orders.owned(prefixes)
        self._packages = orders.package_pattern(prefixes)
        self._folders = orders.folder_pattern(prefixes)

    def sort(self, changes: Iterable[Change]) -> Sweep:
        """Sort an agent's changes. Folders that only hold changes are no change themselves."""
        listed = sorted(set(changes))
        kinds = dict(listed)
        parents = {posixpath.dirname(path) for path in kinds}
        restore: list[str] = []
        remove: list[str] = []
        reasons: dict[Reason, list[str]] = {}
        others: list[Change] = []
        for path, kind in listed:
            holds = kind == CHANGED and path in parents
            reason = None if holds else self._reason(path, kinds)
            if reason is None:
                others += [] if holds else [Change(path, kind)]
                continue
            (remove if kind == ADDED or reason == "places" else restore).append(path)
            reasons.setdefault(reason, []).append(path)
        packages, hiding, stale = self._sort_packages(others, kinds)
        if packages:
            reasons["package"] = packages
        return Sweep(
            restore=tuple(restore),
            remove=tuple(_topmost([*remove, *stale])),
            packages=tuple(packages),
            hiding=hiding,
            suspect=tuple(p for p, kind in listed if kind != REMOVED and orders.TO_READ.fullmatch(p)),
            programs=tuple(p for p, kind in listed if kind == ADDED and self._is_program(p)),
            anchors=tuple(p for p, _ in listed if self._is_anchor(p)),
            reasons={reason: tuple(paths) for reason, paths in reasons.items()},
        )

    def _sort_packages(
        self, changes: Iterable[Change], kinds: Mapping[str, int]
    ) -> tuple[list[str], dict[str, tuple[str, ...]], list[str]]:
        """Touched packages of the image, added modules by folder, records that replaced an image's."""
        touched: set[str] = set()
        added: dict[str, set[str]] = {}
        for path, _ in changes:
            match = self._packages.fullmatch(path)
            if match is None or "__pycache__" in path.split("/") or self._is_work(path):
                continue
            top = f"{match['folder']}/{match['top']}"
            if kinds.get(top, CHANGED) != ADDED:
                touched.add(top)
            else:
                added.setdefault(match["folder"], set()).add(top)
        gone = {_project(top) for top in touched if _is_record(top)}
        stale = [top for tops in added.values() for top in tops if _is_record(top) and _project(top) in gone]
        hiding = {
            folder: tuple(sorted(top for top in tops if not _is_record(top) and not top.endswith(".pth")))
            for folder, tops in sorted(added.items())
            if orders.searched_after(folder)
        }
        return sorted(touched), hiding, sorted(stale)

    def _reason(self, path: str, kinds: Mapping[str, int]) -> Reason | None:
        """Why a change may not stand, ``None`` where it may."""
        for reason, pattern in self._never:
            if pattern.fullmatch(path):
                return reason
        if _stale(path, kinds):
            return "cache"
        if self._serves and orders.JOBS.fullmatch(path):
            return "jobs"
        return self._reason_of_added(path, kinds) if kinds[path] == ADDED else self._reason_of_changed(path)

    def _reason_of_added(self, path: str, kinds: Mapping[str, int]) -> Reason | None:
        if self._is_program(path) and posixpath.basename(path) in orders.VERIFIERS_PROGRAMS:
            return "program"
        match = orders.STANDARD.fullmatch(path)
        brought_along = match is not None and kinds.get(match["home"]) == ADDED
        return "python" if match and not brought_along and not self._is_work(path) else None

    def _reason_of_changed(self, path: str) -> Reason | None:
        if self._is_program(path) or path in self.entry:
            return "program"
        if self._is_work(path) or self._packages.fullmatch(path):
            return None
        return next((reason for reason, pattern in self._owned if pattern.fullmatch(path)), None)

    def _prefixes(self) -> Iterator[str]:
        """What the folders of programs belong to: ``/opt/venv`` for ``/opt/venv/bin``."""
        for folder in self.folders:
            prefix, name = posixpath.split(posixpath.normpath(folder))
            if name in ("bin", "sbin") and not _is_at_or_below(self._work, prefix):
                yield prefix.rstrip("/")

    def _is_work(self, path: str) -> bool:
        """Whether a path lies in the working folder, but in no environment of programs there."""
        if self._work == "/" or not _is_at_or_below(path, self._work):
            return False
        return not any(p and _is_at_or_below(path, p) for p in self._prefixes())

    def _is_anchor(self, path: str) -> bool:
        return path in _ANCHORS or path in self.folders or bool(self._folders.fullmatch(path))

    def _is_program(self, path: str) -> bool:
        return posixpath.dirname(path) in self.folders


def _stale(path: str, kinds: Mapping[str, int]) -> bool:
    """Whether a file is compiled Python that stands for a source which the agent did not write."""
    match = orders.COMPILED.fullmatch(path)
    return match is not None and kinds.get(f"{match['folder']}/{match['name']}.py") != ADDED


def _topmost(paths: Iterable[str]) -> Iterator[str]:
    """Sorted paths without those that lie below another."""
    last = None
    for path in sorted(paths, key=lambda path: path.split("/")):
        if last is None or not path.startswith(f"{last}/"):
            last = path
            yield path


def _is_at_or_below(path: str, folder: str) -> bool:
    return folder in ("", "/") or path == folder or path.startswith(f"{folder}/")


def _is_record(path: str) -> bool:
    """Whether a path is what pip records of a package."""
    return path.endswith((".dist-info", ".egg-info"))


def _project(record: str) -> str:
    """Folder and name of the package that a record is of."""
    return record.rpartition("-")[0].rpartition("-")[0].lower()
