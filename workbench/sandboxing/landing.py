"""What an image holds by its Dockerfile: working directory, user, environment, and where files land."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from workbench.sandboxing.dockerfile import Dockerfile, Instruction, Stage, assignments, expand

DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_USUAL_FOLDERS = frozenset(
    (
        "/",
        "/bin",
        "/etc",
        "/home",
        "/lib",
        "/mnt",
        "/opt",
        "/root",
        "/srv",
        "/tmp",
        "/usr",
        "/usr/local",
        "/var",
    )
)
_ARCHIVES = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz")
_URL = re.compile(r"^(https?|git|ssh)://|^git@")


@dataclass(frozen=True)
class Landing:
    """One file of the build context and the absolute path it has in the image."""

    source: str
    target: str


@dataclass(frozen=True)
class Image:
    """The last stage of a Dockerfile.

    Attributes:
        workdir: absolute; ``/`` when no stage sets one (the base image may).
        user: as written, empty when no stage sets one.
        env: what ENV sets; values of the base image other than PATH are unknown.
        has_entrypoint: an ENTRYPOINT of its own that stays in front of any command.
    """

    workdir: str
    user: str
    env: Mapping[str, str]
    has_entrypoint: bool


def image(dockerfile: Dockerfile) -> Image:
    """Working directory, user and environment of the last stage."""
    state = _Walk(dockerfile, dockerfile.stages[-1], ())
    return Image(state.workdir, state.user, dict(state.env), state.has_entrypoint)


def landings(dockerfile: Dockerfile, files: Iterable[str]) -> tuple[Landing, ...]:
    """Where COPY and ADD put files of the context in the last stage, sorted by target.

    Args:
        files: paths relative to the context, POSIX, files only.

    A file that lands in two places is listed twice. Archives that ADD unpacks and URLs are
    left out; so is what RUN does afterwards.
    """
    state = _Walk(dockerfile, dockerfile.stages[-1], tuple(files))
    return tuple(Landing(source, target) for target, source in sorted(state.landed.items()))


def places(dockerfile: Dockerfile, folder: str = "skills") -> tuple[str, ...]:
    """Absolute paths at which the context's folder lands as a whole in the last stage, sorted.

    ``COPY skills /x``, ``COPY skills/ /x/``, ``COPY ./skills /x`` give ``/x``; ``COPY . /app``
    gives ``/app/skills``.
    """
    inner = "/probe/SKILL.md"
    found = landings(dockerfile, [folder + inner])
    return tuple(sorted(x.target.removesuffix(inner) for x in found if x.target.endswith(inner)))


def members(dockerfile: Dockerfile, folder: str = "skills") -> tuple[Landing, ...]:
    """Single entries of the folder that are copied by name: ``COPY skills/x /y`` gives (x, /y)."""
    named = {
        "/".join(source.split("/")[:2])
        for stage in dockerfile.needed()
        for copy in stage.instructions
        if copy.keyword in ("COPY", "ADD") and copy.flag("from") is None
        for source in map(_relative, copy.words[:-1])
        if source.startswith(f"{folder}/") and not set(source) & set("*?[")
    }
    whole = places(dockerfile, folder)
    found = landings(dockerfile, [f"{name}/SKILL.md" for name in sorted(named)])
    entries = [
        Landing(x.source.split("/")[1], x.target.removesuffix("/SKILL.md"))
        for x in found
        if x.target.endswith("/SKILL.md")
    ]
    return tuple(x for x in entries if posixpath.dirname(x.target) not in whole)


class _Walk:
    """A stage as it is walked. `landed` maps a path in the image to its path in the context."""

    def __init__(self, dockerfile: Dockerfile, stage: Stage, files: tuple[str, ...]) -> None:
        self.dockerfile, self.stage, self.files = dockerfile, stage, files
        self.args: dict[str, str] = {}
        base = dockerfile.stage(stage.base, before=stage)
        start = _Walk(dockerfile, base, files) if base else None
        self.workdir: str = start.workdir if start else "/"
        self.user: str = start.user if start else ""
        self.env: dict[str, str] = start.env if start else {"PATH": DEFAULT_PATH}
        self.has_entrypoint: bool = start.has_entrypoint if start else False
        self.landed: dict[str, str] = start.landed if start else {}
        self.folders: set[str] = start.folders if start else set(_USUAL_FOLDERS)
        for instruction in stage.instructions:
            step = getattr(self, f"on_{instruction.keyword.lower()}", None)
            if step is not None:
                step(instruction)

    def expanded(self, word: str) -> str:
        return expand(word, {**self.args, **self.env}, self.dockerfile.escape)

    def on_workdir(self, instruction: Instruction) -> None:
        folder = self.expanded(instruction.text)
        self.workdir = posixpath.normpath(posixpath.join(self.workdir, folder))
        self.remember(self.workdir)

    def on_user(self, instruction: Instruction) -> None:
        self.user = self.expanded(instruction.text)

    def on_env(self, instruction: Instruction) -> None:
        pairs = assignments(instruction, self.dockerfile.escape)
        self.env |= {key: self.expanded(value or "") for key, value in pairs}

    def on_arg(self, instruction: Instruction) -> None:
        for key, value in assignments(instruction, self.dockerfile.escape):
            if value is not None:
                self.args[key] = self.expanded(value)
            elif key in self.dockerfile.args:
                self.args[key] = self.dockerfile.args[key]

    def on_entrypoint(self, instruction: Instruction) -> None:
        self.has_entrypoint = bool(instruction.words)

    def on_add(self, instruction: Instruction) -> None:
        kept = {name: name for name in self.files if not name.endswith(_ARCHIVES)}
        self.take(instruction, kept)

    def on_copy(self, instruction: Instruction) -> None:
        other = instruction.flag("from")
        origin = self.dockerfile.stage(other, before=self.stage) if other else None
        if origin is not None:
            self.take(instruction, _Walk(self.dockerfile, origin, self.files).landed)
        elif not other:
            self.take(instruction, {name: name for name in self.files})

    def take(self, instruction: Instruction, landed: Mapping[str, str]) -> None:
        """Copy from `landed` as COPY does: a folder's contents, or a file into a folder or as one."""
        words = [self.expanded(word) for word in instruction.words]
        if len(words) < 2 or instruction.heredocs:
            return
        *sources, written = words
        target = posixpath.normpath(posixpath.join(self.workdir, written))
        named = written.endswith("/") or posixpath.basename(written) in (".", "..") or len(sources) > 1
        into = named or target in self.folders
        for source in sources:
            if not _URL.match(source):
                self.place(landed, _relative(source), target, into)

    def place(self, landed: Mapping[str, str], root: str, target: str, into: bool) -> None:
        """Put what lies at or under `root` (a path or a pattern) at `target`."""
        matches = _pattern(root)
        for path, source in landed.items():
            found = matches.match(path.strip("/"))
            if found is None:
                continue
            inside = path.strip("/")[found.end() :].lstrip("/")
            inside = inside or (posixpath.basename(path) if into else "")
            end = posixpath.normpath(posixpath.join(target, inside))
            self.landed[end] = source
            self.remember(posixpath.dirname(end))

    def remember(self, folder: str) -> None:
        """Note that a folder and its parents exist in the image from here on."""
        while folder not in self.folders:
            self.folders.add(folder)
            folder = posixpath.dirname(folder)


def _pattern(root: str) -> re.Pattern[str]:
    """Go's path patterns as a regular expression that matches a path or a leading part of it."""
    if root in ("", "."):
        return re.compile("")
    out = ""
    for part in re.findall(r"\[[^\]]*\]|\\.|.", root):
        if part == "*":
            out += "[^/]*"
        elif part == "?":
            out += "[^/]"
        elif part.startswith("["):
            out += part
        else:
            out += re.escape(part[-1])
    return re.compile(out + r"(?=/|$)")


def _relative(source: str) -> str:
    """A source relative to the context: ``./skills/`` and ``/skills`` are ``skills``."""
    path = posixpath.normpath("/" + source).strip("/")
    return path or "."
