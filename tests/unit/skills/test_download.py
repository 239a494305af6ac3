"""Fetching over real HTTP: resumed, checked, published whole or not at all."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from workbench.core.errors import ContentError, MachineError, MissingDataError
from workbench.skills.download import Download, fetch

CONTENT = bytes(range(256)) * 4_000
SHA = hashlib.sha256(CONTENT).hexdigest()


class Server(ThreadingHTTPServer):
    """Serves `CONTENT`, misbehaving as told.

    Attributes:
        drop_after: bytes of an answer after which the connection is cut, for the first `drops` answers.
        ranges: whether Range is honoured.
        statuses: status codes of the first answers.
        asked: the Range header of each request.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.content = CONTENT
        self.drop_after = len(CONTENT) // 3
        self.drops = 0
        self.ranges = True
        self.statuses: list[int] = []
        self.asked: list[str | None] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/data/part-00000.jsonl.gz?download=true"


class Handler(BaseHTTPRequestHandler):
    """One answer."""

    server: Server

    def do_GET(self) -> None:
        self.server.asked.append(self.headers.get("Range"))
        if self.server.statuses and (status := self.server.statuses.pop(0)) != 200:
            self.send_error(status)
            return
        start = int(self.headers.get("Range", "bytes=0-")[6:-1]) if self.server.ranges else 0
        content = self.server.content
        if start and start >= len(content):
            self.send_response(416)
            self.send_header("Content-Range", f"bytes */{len(content)}")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        self.send_response(206 if start else 200)
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        self.send_header("Content-Length", str(len(content) - start))
        self.end_headers()
        if self.server.drops:
            self.server.drops -= 1
            self.wfile.write(content[start : start + self.server.drop_after])
            self.close_connection = True
            return
        self.wfile.write(content[start:])

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as serving:
        thread = threading.Thread(target=serving.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield serving
        serving.shutdown()
        thread.join()


@pytest.fixture
def download(server: Server, tmp_path: Path) -> Download:
    return Download.into(tmp_path / "downloads", server.url, SHA)


class Clock:
    """Notes the waits instead of waiting."""

    def __init__(self) -> None:
        self.waits: list[float] = []

    def __call__(self, seconds: float) -> None:
        self.waits.append(seconds)


def test_a_file_is_fetched_once_under_its_digest(server: Server, download: Download) -> None:
    told: list[tuple[int, int | None]] = []
    path = fetch(download, lambda what, done, total: told.append((done, total)))
    assert path.read_bytes() == CONTENT
    assert (path.name, path.parent.name) == ("part-00000.jsonl.gz", SHA[:16])
    assert told[-1] == (len(CONTENT), len(CONTENT))
    assert fetch(download) == path
    assert server.asked == [None]
    assert not download.part.exists()


def test_a_broken_transfer_goes_on_where_it_stopped(server: Server, download: Download) -> None:
    server.drops = 2
    clock = Clock()
    assert fetch(download, sleep=clock).read_bytes() == CONTENT
    third = len(CONTENT) // 3
    assert server.asked == [None, f"bytes={third}-", f"bytes={2 * third}-"]
    assert clock.waits == [1.0, 1.0]


def test_a_server_that_ignores_ranges_starts_again(server: Server, download: Download) -> None:
    server.drops, server.ranges = 1, False
    assert fetch(download, sleep=Clock()).read_bytes() == CONTENT
    assert len(server.asked) == 2


def test_a_part_of_an_earlier_run_is_used(server: Server, download: Download) -> None:
    download.part.parent.mkdir(parents=True)
    download.part.write_bytes(CONTENT[:1000])
    assert fetch(download).read_bytes() == CONTENT
    assert server.asked == ["bytes=1000-"]


def test_a_part_that_is_whole_needs_no_more_bytes(server: Server, download: Download) -> None:
    download.part.parent.mkdir(parents=True)
    download.part.write_bytes(CONTENT)
    assert fetch(download, sleep=Clock()).read_bytes() == CONTENT
    assert server.asked == [f"bytes={len(CONTENT)}-"]


@pytest.mark.parametrize("part", [b"wrong" * 100, CONTENT + b"too long"])
def test_a_part_with_other_content_is_fetched_anew(server: Server, download: Download, part: bytes) -> None:
    download.part.parent.mkdir(parents=True)
    download.part.write_bytes(part)
    assert fetch(download, sleep=Clock()).read_bytes() == CONTENT
    assert server.asked[-1] is None


def test_passing_errors_are_tried_again(server: Server, download: Download) -> None:
    server.statuses = [503, 429, 500]
    clock = Clock()
    assert fetch(download, sleep=clock).read_bytes() == CONTENT
    assert clock.waits == [2.0, 4.0, 8.0]


def test_it_gives_up_after_four_tries_that_bring_nothing(server: Server, download: Download) -> None:
    server.statuses = [503] * 9
    with pytest.raises(
        MissingDataError, match=r"cannot fetch .*: HTTP 503; without a network, put a copy at"
    ):
        fetch(download, sleep=Clock())
    assert len(server.asked) == 4


def test_a_file_that_is_not_there_is_not_asked_for_twice(server: Server, download: Download) -> None:
    server.statuses = [404]
    with pytest.raises(MissingDataError, match="HTTP 404"):
        fetch(download, sleep=Clock())
    assert len(server.asked) == 1


def test_changed_content_is_refused_and_not_published(server: Server, download: Download) -> None:
    server.content = CONTENT[:-1] + b"!"
    with pytest.raises(ContentError, match=f"but {SHA} is pinned"):
        fetch(download)
    assert not download.target.exists()
    assert not download.part.exists()


def test_offline_the_error_names_the_place_for_a_copy_which_is_then_used(tmp_path: Path) -> None:
    offline = Download.into(tmp_path, "http://127.0.0.1:9/x.jsonl", SHA)
    with pytest.raises(
        MissingDataError, match=f"put a copy at {offline.target}, or build .*workbench pool build"
    ):
        fetch(offline, sleep=Clock())
    offline.target.write_bytes(CONTENT)
    assert fetch(offline) == offline.target


def test_a_copy_put_there_by_hand_is_checked_too(server: Server, download: Download) -> None:
    download.target.parent.mkdir(parents=True)
    download.target.write_bytes(b"something else")
    assert fetch(download).read_bytes() == CONTENT


def test_a_folder_that_cannot_be_written_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(MachineError, match="cannot write"):
        fetch(Download.into(tmp_path / "file", "http://127.0.0.1:9/x", SHA), sleep=Clock())


def test_two_threads_fetch_one_file_once(server: Server, download: Download) -> None:
    threads = [threading.Thread(target=fetch, args=(download,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert download.target.read_bytes() == CONTENT
    assert server.asked == [None]


def test_a_pool_is_built_from_pinned_shards_and_opened_without_the_network(
    server: Server, tmp_path: Path
) -> None:
    from workbench.core.workspace import Workspace
    from workbench.skills.opening import open_pool

    server.content = b'{"skill_id": "a/b", "name": "b", "description": "d", "body": "text"}\n'
    sha = hashlib.sha256(server.content).hexdigest()
    base = server.url.rsplit("/", 1)[0]
    definition = tmp_path / "net.yaml"
    definition.write_text(
        f"description: d\nsources:\n  - jsonl: {{url: '{base}/', files: {{p0.jsonl: {sha}}}}}\ncount: 1\n"
    )
    workspace = Workspace((tmp_path,), tmp_path, tmp_path / "cache")
    assert open_pool(str(definition), workspace).ids() == ("a/b",)
    assert open_pool(str(definition), workspace).ids() == ("a/b",)
    assert len(server.asked) == 1
