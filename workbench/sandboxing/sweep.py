"""What of an agent's file changes may stand when a verifier judges, decided by path alone.

A verifier trusts the image: its shell, loader, interpreters, libraries and installers. So whatever the agent
did to files of the image where such programs live is undone (`Sweep.restore`, `Sweep.packages`), and what
it added in places from which they take orders is taken away (`Sweep.remove`). All else is the agent's
work and stays; packages and programs that it installed stay where they hide none of the image's.
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


class Module(NamedTuple):
    """Something added that may hide a module of the image: where it lies, and by which name."""

    path: str
    name: str


CHANGED, ADDED, REMOVED = 0, 1, 2
_UNREADABLE = "\ufffd"
"""What the engine says for a byte of a name that is no UTF-8."""
_MODULES = (".py", ".pyc", ".so")


@dataclass(frozen=True)
class Sweep:
    """What is to be done before a verifier may judge.

    Attributes:
        restore: paths to be as in the image again, sorted.
        remove: paths to be taken away, none below another.
        remove_like: the same for names that cannot be told, each unknown byte as U+FFFD.
        packages: packages of the image's Pythons that were touched; they are replaced as a whole, for one
            that is half the image's would be neither's.
        hiding: folders of modules -> added modules, taken away where they hide one that lies there.
        path_files: ``.pth`` files, taken away if they run code or lead to a plug-in of pytest.
        records: folders with entry points, taken away if those are of pytest's plug-ins.
        programs: added programs, taken away where they stand before one of the image.
        anchors: what must still be a folder, or nothing below it is what it seems.
        loader: libraries were added or the loader's cache was touched: it is to be made anew.
        reasons: what was found, by reason, for people and for the trial's incidents.
    """

    restore: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()
    remove_like: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    hiding: Mapping[tuple[str, ...], tuple[Module, ...]] = field(default_factory=dict)
    path_files: tuple[str, ...] = ()
    records: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    anchors: tuple[Change, ...] = ()
    loader: bool = False
    reasons: Mapping[Reason, tuple[str, ...]] = field(default_factory=dict)


class Rules:
    """The rules for one image.

    Args:
        image: the ``Config`` of the engine's record of it.
        keep: absolute paths of the image that the agent was to change; what is below them is its work.
    """

    def __init__(self, image: Mapping[str, Any], keep: Iterable[str] = ()) -> None:
        pairs = (entry.partition("=") for entry in image.get("Env") or ())
        env = {name: value for name, _, value in pairs}
        paths = (*env.get("PATH", DEFAULT_PATH).split(":"), *DEFAULT_PATH.split(":"))
        self.folders = tuple(dict.fromkeys(paths))
        self._entry = frozenset(word for word in image.get("Entrypoint") or () if word.startswith("/"))
        self._serves = bool(image.get("Entrypoint"))
        self._work = posixpath.normpath(image.get("WorkingDir") or "/")
        self._keep = tuple(map(posixpath.normpath, keep))
        self._of_modules = (*self.folders, *map(posixpath.normpath, env.get("PYTHONPATH", "").split(":")))
        self._environments = frozenset(self._prefixes())
        prefixes = {"", "/usr", "/usr/local"} | self._environments
        self._never = orders.never(prefixes)
        self._owned = orders.owned(prefixes)
        self._packages = orders.package_pattern(prefixes)
        self._libraries = orders.library_pattern(prefixes)
        self._above = orders.above_pattern(prefixes, self.folders)
        self._beside = orders.searched_beside(prefixes)

    def sort(self, changes: Iterable[Change]) -> Sweep:
        """Sort an agent's changes. Folders that only hold changes are no change themselves."""
        return _Sorting(self, sorted(set(changes))).sweep()

    def reason(self, path: str, kinds: Mapping[str, int]) -> Reason | None:
        """Why a change may not stand, ``None`` where it may."""
        never = self._never.reason(path)
        if never is not None:
            return never
        if _is_stale(path, kinds):
            return "cache"
        if self._serves and orders.JOBS.fullmatch(path):
            return "jobs"
        return self._reason_of_added(path, kinds) if kinds[path] == ADDED else self._reason_of_changed(path)

    def is_program(self, path: str) -> bool:
        """Whether a path lies where programs are looked for by name."""
        return posixpath.dirname(path) in self.folders

    def is_work(self, path: str) -> bool:
        """Whether a path is kept, or lies in the working folder and in no environment of programs there."""
        if self._is_kept(path):
            return True
        if self._work == "/" or not _is_at_or_below(path, self._work):
            return False
        return not any(_is_at_or_below(path, each) for each in self._environments)

    def is_above(self, path: str) -> bool:
        """Whether a path is a folder above the places that are guarded."""
        return bool(self._above.fullmatch(path))

    def is_library(self, path: str) -> bool:
        """Whether the loader finds a path by its name."""
        return bool(self._libraries.fullmatch(path))

    def package(self, path: str) -> tuple[str, str] | None:
        """(package folder, first name below it) of a path in one of the image's Pythons."""
        match = self._packages.fullmatch(path)
        return None if match is None else (match["folder"], match["top"])

    def hidden_by(self, module: str, *, folder: bool) -> tuple[tuple[str, ...], Module] | None:
        """Where an added file or folder may hide a module of the image, and by which name."""
        perl = orders.PERL.fullmatch(module)
        if perl is not None and not folder:
            return orders.PERLS_OWN, Module(module, perl["module"])
        found_first = posixpath.dirname(module) in self._of_modules and not self.is_work(module)
        if found_first and (folder or module.endswith(_MODULES)):
            return self._beside, Module(module, _stem(module))
        return None

    def _reason_of_added(self, path: str, kinds: Mapping[str, int]) -> Reason | None:
        if self.is_program(path):
            name = posixpath.basename(path)
            if name in orders.VERIFIERS_PROGRAMS:
                return "program"
            return "installs" if name in orders.FETCHERS else None
        match = orders.STANDARD.fullmatch(path)
        brought_along = match is not None and kinds.get(match["home"]) == ADDED
        return "python" if match and not brought_along and not self.is_work(path) else None

    def _reason_of_changed(self, path: str) -> Reason | None:
        if self._is_kept(path):
            return None
        if self.is_program(path) or path in self._entry:
            return "program"
        if self.is_work(path) or self._packages.fullmatch(path):
            return None
        return self._owned.reason(path)

    def _is_kept(self, path: str) -> bool:
        return any(_is_at_or_below(path, each) for each in self._keep)

    def _prefixes(self) -> Iterator[str]:
        """What the folders of programs belong to: ``/opt/venv`` for ``/opt/venv/bin``."""
        for folder in self.folders:
            prefix, name = posixpath.split(posixpath.normpath(folder))
            if name in ("bin", "sbin") and prefix != "/" and not _is_at_or_below(self._work, prefix):
                yield prefix


class _Sorting:
    """One list of changes, sorted by the rules of one image."""

    def __init__(self, rules: Rules, listed: list[Change]) -> None:
        self._rules = rules
        self._listed = listed
        self._kinds = dict(listed)
        self._parents = {posixpath.dirname(path) for path in self._kinds}
        self._reasons: dict[Reason, list[str]] = {}
        self._restore: list[str] = []
        self._remove: list[str] = []
        self._like: list[str] = []
        self._touched: set[str] = set()
        self._new: dict[str, set[str]] = {}
        self._hiding: dict[tuple[str, ...], list[Module]] = {}

    def sweep(self) -> Sweep:
        for path, kind in self._listed:
            if not (kind == CHANGED and path in self._parents):
                self._sort(path, kind)
        self._sort_packages()
        added = [path for path, kind in self._listed if kind == ADDED]
        present = [path for path, kind in self._listed if kind != REMOVED and _UNREADABLE not in path]
        return Sweep(
            restore=tuple(self._restore),
            remove=tuple(_topmost(self._remove)),
            remove_like=tuple(self._like),
            packages=tuple(sorted(self._touched)),
            hiding={folders: tuple(found) for folders, found in self._hiding.items()},
            path_files=tuple(path for path in present if orders.PATH_FILE.fullmatch(path)),
            records=tuple(_records(present)),
            programs=tuple(filter(self._rules.is_program, added)),
            anchors=tuple(each for each in self._listed if self._is_anchor(each)),
            loader=orders.LOADER_CACHE in self._kinds or any(map(self._rules.is_library, added)),
            reasons={reason: tuple(paths) for reason, paths in self._reasons.items()},
        )

    def _sort(self, path: str, kind: int) -> None:
        reason = self._rules.reason(path, self._kinds)
        if _UNREADABLE in path:
            self._sort_unreadable(path, reason)
        elif reason is not None:
            (self._remove if kind == ADDED or reason == "places" else self._restore).append(path)
            self._reasons.setdefault(reason, []).append(path)
        elif not self._note_package(path) and kind == ADDED:
            hides = self._rules.hidden_by(path, folder=path in self._parents)
            if hides is not None:
                self._hiding.setdefault(hides[0], []).append(hides[1])

    def _sort_unreadable(self, path: str, reason: Reason | None) -> None:
        """A name that cannot be told cannot be looked into either, so it goes where it might give orders."""
        if reason or orders.PATH_FILE.fullmatch(path) or orders.ENTRY_POINTS.fullmatch(path):
            self._like.append(path)
            self._reasons.setdefault(reason or "python", []).append(path)

    def _note_package(self, path: str) -> bool:
        """Whether a path is of a package in one of the image's Pythons; the package is noted."""
        found = self._rules.package(path)
        if found is None or self._rules.is_work(path):
            return False
        folder, name = found
        if "__pycache__" not in path[len(folder) :].split("/"):
            top = f"{folder}/{name}"
            of_image = self._kinds.get(top, CHANGED) != ADDED
            (self._touched if of_image else self._new.setdefault(folder, set())).add(top)
        return True

    def _sort_packages(self) -> None:
        gone = {_project(top) for top in self._touched if _is_record(top)}
        for folder, tops in sorted(self._new.items()):
            for top in sorted(tops):
                if _is_record(top) and (_project(top) in gone or top not in self._parents):
                    self._remove.append(top)
                elif _stem(top) in orders.RECORDED and not self._is_recorded(folder, _stem(top)):
                    self._remove.append(top)
                    self._reasons.setdefault("pytest", []).append(top)
            modules = [Module(top, _stem(top)) for top in sorted(tops) if not _is_record(top)]
            places = orders.searched_after(folder)
            if places and modules:
                self._hiding.setdefault(places, []).extend(modules)
        if self._touched:
            self._reasons["package"] = sorted(self._touched)

    def _is_recorded(self, folder: str, name: str) -> bool:
        """Whether an installer recorded a new package."""
        return any(
            _is_record(top) and _project(top) == f"{folder}/{name}" and f"{top}/RECORD" in self._kinds
            for top in self._new.get(folder, ())
        )

    def _is_anchor(self, change: Change) -> bool:
        holds = change.kind != REMOVED and change.path in self._parents
        return not holds and self._rules.is_above(change.path)


def _records(paths: Iterable[str]) -> Iterator[str]:
    matches = (orders.ENTRY_POINTS.fullmatch(path) for path in paths)
    return (match["record"] for match in matches if match)


def _is_stale(path: str, kinds: Mapping[str, int]) -> bool:
    """Whether a file is compiled Python that stands for a source which the agent did not write."""
    if not path.endswith(".pyc"):
        return False
    match = orders.COMPILED.fullmatch(path)
    return match is not None and kinds.get(f"{match['folder']}/{match['name']}.py") != ADDED


def _topmost(paths: Iterable[str]) -> Iterator[str]:
    """Sorted paths without those that lie below another."""
    last = None
    for path in sorted(set(paths), key=lambda path: path.split("/")):
        if last is None or not path.startswith(f"{last}/"):
            last = path
            yield path


def _is_at_or_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder}/")


def _is_record(path: str) -> bool:
    """Whether a path is what an installer records of a package."""
    return path.lower().endswith((".dist-info", ".egg-info"))


def _project(record: str) -> str:
    """Folder and name of the package that a record is of, as modules are named."""
    folder, _, name = record.rpartition("/")
    return f"{folder}/{name.partition('-')[0].lower()}"


def _stem(path: str) -> str:
    return posixpath.basename(path).partition(".")[0]
