"""Fetching pinned files: resumed after a break, checked by digest, published whole or not at all."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from workbench.core.errors import ContentError, MachineError, MissingDataError
from workbench.core.locks import exclusive
from workbench.skills.folders import safe_folder

if TYPE_CHECKING:
    import httpx

_TRIES = 4
_CONNECT_SECONDS = 10.0
_SILENT_SECONDS = 60.0

Fetched = Callable[[str, int, int | None], None]


@dataclass(frozen=True)
class Download:
    """A file to fetch: where from, what it must be, where it goes.

    Attributes:
        sha256: hex; ``None`` accepts what comes, for content that is pinned by other means.
        offline: what a person without a network can do instead, for the error.
    """

    url: str
    sha256: str | None
    target: Path
    offline: str = "build the pool from a local copy: workbench pool build PATH"

    @classmethod
    def into(cls, folder: Path, url: str, sha256: str) -> Download:
        """Placed under its digest, so that different files never share a place."""
        name = safe_folder(unquote(urlsplit(url).path).rsplit("/", 1)[-1])
        return cls(url, sha256, folder / sha256[:16] / name)

    @property
    def part(self) -> Path:
        """The unfinished file beside the target."""
        return self.target.with_name(f"{self.target.name}.part")


class _NotThereError(Exception):
    """The server's answer will not change by asking again."""


def fetch(
    download: Download,
    progress: Fetched = lambda what, done, total: None,
    sleep: Callable[[float], None] = time.sleep,
) -> Path:
    """The file on this machine, fetched unless it is there already.

    A broken transfer goes on where it stopped (HTTP Range); a server that cannot do that starts
    again. It gives up after four tries in a row that bring nothing new.

    Raises:
        MissingDataError: not to be had; says where a copy can be put by hand.
        ContentError: the content is not the pinned one.
        MachineError: the file cannot be written.
    """
    target = download.target
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with exclusive(target.parent / "lock"):
            if target.is_file() and download.sha256 in (None, file_digest(target)):
                return target
            resumed = download.part.exists()
            digest = _complete(download, progress, sleep)
            if download.sha256 not in (None, digest) and resumed:
                download.part.unlink()
                digest = _complete(download, progress, sleep)
            _publish(download, digest)
    except OSError as error:
        raise MachineError(f"cannot write {target}: {error.strerror}; choose another cache folder") from error
    return target


def file_digest(path: Path) -> str:
    """sha256 of a file, hex, read in pieces."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _complete(download: Download, progress: Fetched, sleep: Callable[[float], None]) -> str:
    """Bring the unfinished file to its end; its digest."""
    import httpx

    timeout = httpx.Timeout(_SILENT_SECONDS, connect=_CONNECT_SECONDS)
    failures, most = 0, _size(download.part)
    with httpx.Client(timeout=timeout, follow_redirects=True) as client:
        while True:
            try:
                _transfer(client, download, progress)
                return file_digest(download.part)
            except (httpx.HTTPError, _NotThereError) as error:
                failures = 0 if _size(download.part) > most else failures + 1
                most = max(most, _size(download.part))
                if isinstance(error, _NotThereError) or failures == _TRIES:
                    raise _missing(download, error) from None
                sleep(min(2.0**failures, 30.0))


def _transfer(client: httpx.Client, download: Download, progress: Fetched) -> None:
    """One request, appended to the unfinished file where the server agrees, else from the start."""
    import httpx

    start = _size(download.part)
    headers = {"Accept-Encoding": "identity", **({"Range": f"bytes={start}-"} if start else {})}
    with client.stream("GET", download.url, headers=headers) as answer:
        if answer.status_code == httpx.codes.REQUESTED_RANGE_NOT_SATISFIABLE:
            if answer.headers.get("content-range") == f"bytes */{start}":
                return
            download.part.unlink()
            raise httpx.ReadError("the unfinished file is longer than the whole")
        if answer.status_code in (408, 429) or answer.status_code >= 500:
            raise httpx.ReadError(f"HTTP {answer.status_code}")
        if answer.status_code not in (200, 206):
            raise _NotThereError(f"HTTP {answer.status_code}")
        goes_on = answer.headers.get("content-range", "").startswith(f"bytes {start}-")
        done = start if answer.status_code == 206 and goes_on else 0
        length = int(answer.headers.get("content-length", 0))
        with download.part.open("r+b" if done else "wb") as file:
            file.seek(done)
            for piece in answer.iter_raw():
                file.write(piece)
                done += len(piece)
                progress(f"fetching {download.target.name}", done, start + length if length else None)


def _publish(download: Download, digest: str) -> None:
    if download.sha256 not in (None, digest):
        download.part.unlink()
        what = f"has sha256 {digest}, but {download.sha256} is pinned; it changed where it lies"
        raise ContentError(download.url, None, what)
    with download.part.open("rb") as file:
        os.fsync(file.fileno())
    download.part.replace(download.target)


def _missing(download: Download, error: Exception) -> MissingDataError:
    reason = str(error).splitlines()[0] if str(error) else type(error).__name__
    return MissingDataError(
        f"cannot fetch {download.url}: {reason}; without a network, put a copy at {download.target},"
        f" or {download.offline}"
    )


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
