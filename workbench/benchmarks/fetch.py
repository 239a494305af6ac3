"""Bringing a suite's tasks onto this machine: pinned, with progress and resume, whole or not at all.

    <cache>/data/<owner>+<name>/
      <commit>/tasks/...              the tasks as they lie in the repository
      <commit>-<path>.lock.json       what was fetched: source, commit, archive and tree digests
      refs.json                       branch or tag -> the commit it was resolved to

A branch or tag is resolved to a commit once; `refresh` resolves it again.
"""

from __future__ import annotations

import json
import shutil
import tarfile
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from pydantic import BaseModel, ConfigDict

from workbench.benchmarks.suite import (
    Source,
    commit_of,
    fetch_root,
    is_commit,
    lock_path,
    refs,
    suite_spec,
)
from workbench.core.atomic import write_text
from workbench.core.digest import digest_parts, git_blob
from workbench.core.errors import ContentError, MachineError, MissingDataError, UsageError
from workbench.core.locks import exclusive
from workbench.core.types import Progress
from workbench.core.workspace import Workspace
from workbench.skills.download import Download, fetch, file_digest

_MAX_FILES = 200_000
_MAX_BYTES = 16 * 2**30


@dataclass(frozen=True)
class Hosts:
    """Where GitHub's interface and archives are served (tests put a local server here)."""

    api: str = "https://api.github.com"
    archives: str = "https://codeload.github.com"


class FetchLock(BaseModel):
    """What was fetched, so that the same bytes can be had and proven again."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_version: int = 1
    github: str
    revision: str
    commit: str
    path: str
    archive_sha256: str
    tree_digest: str
    files: int
    bytes: int


def fetch_suite(
    name: str, workspace: Workspace, progress: Progress, *, hosts: Hosts | None = None, refresh: bool = False
) -> tuple[Path, FetchLock]:
    """Have a suite's tasks in the cache; returns their folder and the lock.

    Args:
        refresh: resolve a moving revision again, and fetch even what is there.

    Raises:
        UsageError: the suite has no source to fetch from.
        MissingDataError: not to be had (no network); says what a local copy is given as.
        ContentError: the archive is not what was locked, or holds no tasks.
        MachineError: the cache cannot be written.
    """
    _, spec = suite_spec(name, workspace)
    if spec.source is None:
        raise UsageError(f"the tasks of '{name}' ship with it; there is nothing to fetch")
    source, chosen = spec.source, hosts or Hosts()
    root = fetch_root(source, workspace)
    offline = f"give a local copy of {source.github}: -T data=DIR"
    with exclusive(root / "suite.lock"):
        commit = None if refresh else commit_of(source, root)
        if commit is None:
            commit = source.revision if is_commit(source.revision) else _resolve(source, chosen, offline)
        lock_file = lock_path(root, commit, source)
        folder = root / commit / source.path
        if refresh or not (folder.is_dir() and lock_file.is_file()):
            _bring(source, commit, root, chosen, offline, progress)
        if not is_commit(source.revision):
            write_text(
                root / "refs.json", json.dumps({**refs(root), source.revision: commit}, indent=2) + "\n"
            )
        return folder, FetchLock.model_validate_json(lock_file.read_bytes())


def _resolve(source: Source, hosts: Hosts, offline: str) -> str:
    import httpx

    url = f"{hosts.api}/repos/{source.github}/commits/{source.revision}"
    try:
        answer = httpx.get(
            url, headers={"Accept": "application/vnd.github.sha"}, timeout=30, follow_redirects=True
        )
        answer.raise_for_status()
    except httpx.HTTPError as error:
        raise MissingDataError(
            f"cannot resolve '{source.revision}' of {source.github}: {error}; {offline}"
        ) from None
    commit = answer.text.strip()
    if not is_commit(commit):
        raise ContentError(url, None, f"is no commit: {commit[:60]!r}")
    return commit


def _bring(source: Source, commit: str, root: Path, hosts: Hosts, offline: str, progress: Progress) -> None:
    """Fetch, unpack beside, compare with an earlier lock, and only then publish."""
    url = f"{hosts.archives}/{source.github}/tar.gz/{commit}"
    archive = fetch(Download(url, None, root / f"{commit}.tar.gz", offline), progress)
    try:
        with tempfile.TemporaryDirectory(dir=root, prefix=".unpack-") as scratch:
            files, size, tree = _unpack(archive, source.path, Path(scratch), progress)
            lock = FetchLock(
                github=source.github,
                revision=source.revision,
                commit=commit,
                path=source.path,
                archive_sha256=file_digest(archive),
                tree_digest=tree,
                files=files,
                bytes=size,
            )
            _refuse_changed(lock_path(root, commit, source), lock)
            _refuse_unpinned(source, Path(scratch) / "out" / source.path)
            _publish(Path(scratch) / "out" / source.path, root / commit / source.path)
        write_text(lock_path(root, commit, source), lock.model_dump_json(indent=2) + "\n")
    except (tarfile.TarError, EOFError) as error:
        raise ContentError(url, None, f"is not a whole archive ({error}); fetch it again") from None
    except OSError as error:
        what = error.strerror or error
        raise MachineError(f"cannot unpack into {root}: {what}; choose another cache") from error
    finally:
        archive.unlink(missing_ok=True)


def _publish(new: Path, final: Path) -> None:
    final.parent.mkdir(parents=True, exist_ok=True)
    if final.exists():
        shutil.rmtree(final)
    new.replace(final)


def _unpack(archive: Path, inner: str, scratch: Path, progress: Progress) -> tuple[int, int, str]:
    """Unpack the regular files below ``<top>/<inner>``: their number, bytes, and the tree's digest."""
    parts: list[str] = []
    size = 0
    with tarfile.open(archive, "r:gz") as tar:
        for count, (name, member) in enumerate(_members(tar, inner), start=1):
            size += member.size
            if count > _MAX_FILES or size > _MAX_BYTES:
                raise ContentError(archive, None, f"holds more than {_MAX_FILES} files or {_MAX_BYTES} bytes")
            target = scratch / "out" / name
            target.parent.mkdir(parents=True, exist_ok=True)
            data = tar.extractfile(member)
            if data is None:
                continue
            with target.open("wb") as file:
                shutil.copyfileobj(data, file, 1024 * 1024)
            target.chmod(0o755 if member.mode & 0o100 else 0o644)
            parts += [name, "x" if member.mode & 0o100 else "-", file_digest(target)]
            progress("unpacking", count, None)
    if not parts:
        raise ContentError(archive, None, f"holds nothing below {inner}/")
    triples = sorted(zip(parts[::3], parts[1::3], parts[2::3], strict=True))
    return len(triples), size, digest_parts(text for triple in triples for text in triple)


def _members(tar: tarfile.TarFile, inner: str) -> Iterator[tuple[str, tarfile.TarInfo]]:
    """Regular files below ``<top>/<inner>`` by safe relative path; links and devices are left out."""
    for member in tar:
        path = PurePosixPath(member.name)
        relative = PurePosixPath(*path.parts[1:])
        safe = not path.is_absolute() and ".." not in path.parts and "\0" not in member.name
        if safe and member.isreg() and relative.is_relative_to(inner):
            yield relative.as_posix(), member


def _refuse_unpinned(source: Source, folder: Path) -> None:
    """Raise ContentError unless every pinned file is there and is, byte for byte, the one that was meant."""
    for name, wanted in source.blobs.items():
        file = folder / name
        if not file.is_file():
            raise ContentError(
                f"{source.github}/{source.path}/{name}", None, "is pinned, and not in the archive"
            )
        if (found := git_blob(file.read_bytes())) != wanted:
            raise ContentError(
                f"{source.github}/{source.path}/{name}", None, f"is {found} in git, not the pinned {wanted}"
            )


def _refuse_changed(lock_file: Path, lock: FetchLock) -> None:
    if not lock_file.is_file():
        return
    try:
        before = FetchLock.model_validate_json(lock_file.read_bytes())
    except ValueError:
        return
    if before.tree_digest != lock.tree_digest:
        what = f"tree digest {lock.tree_digest} differs from the locked {before.tree_digest}"
        raise ContentError(lock_file, None, f"{what}; delete the lock to accept it")
