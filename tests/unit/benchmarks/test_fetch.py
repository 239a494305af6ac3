"""Fetching a suite from a real HTTP server: pinned, resumed, whole or not at all."""

from __future__ import annotations

import io
import tarfile
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from workbench.benchmarks.fetch import Hosts, fetch_suite
from workbench.benchmarks.suite import load_suite, suite_data
from workbench.core.errors import ContentError, MissingDataError, UsageError, WorkbenchError
from workbench.core.workspace import Workspace, find_workspace

COMMIT = "a" * 40


def archive(files: dict[str, bytes], top: str = "repo-aaaa") -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        for name, data in files.items():
            member = tarfile.TarInfo(f"{top}/{name}" if not name.startswith("/") else name)
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
        link = tarfile.TarInfo(f"{top}/tasks/t1/escape")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tar.addfile(link)
    return buffer.getvalue()


GOOD = {
    "README.md": b"not wanted",
    "tasks/t1/task.toml": b'version = "1.0"\n',
    "tasks/t1/instruction.md": b"Do it.",
    "tasks/t1/environment/Dockerfile": b"FROM scratch\n",
    "tasks/t1/tests/test.sh": b"true",
    "tasks/../../../evil": b"x",
}


class Server:
    """Serves one archive and one branch; can cut the connection once."""

    def __init__(self) -> None:
        self.data = archive(GOOD)
        self.head = COMMIT
        self.cut_after: int | None = None
        self.requests: list[tuple[str, str | None]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, format: str, *args: object) -> None:
                return

            def do_GET(self) -> None:
                outer.requests.append((self.path, self.headers.get("Range")))
                if self.path.startswith("/repos/"):
                    return self._answer(outer.head.encode())
                start = int((self.headers.get("Range") or "bytes=0-").removeprefix("bytes=").rstrip("-"))
                return self._answer(outer.data[start:], start)

            def _answer(self, body: bytes, start: int = 0) -> None:
                self.send_response(206 if start else 200)
                self.send_header("Content-Length", str(len(body)))
                if start:
                    self.send_header(
                        "Content-Range", f"bytes {start}-{start + len(body) - 1}/{start + len(body)}"
                    )
                self.end_headers()
                cut, outer.cut_after = outer.cut_after, None
                self.wfile.write(body if cut is None else body[:cut])

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def hosts(self) -> Hosts:
        return Hosts(api=self.url, archives=self.url)


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server()
    yield server
    server.server.shutdown()
    server.server.server_close()


def workspace(tmp_path: Path, revision: str = COMMIT) -> Workspace:
    suite = tmp_path / "tasks" / "mine" / "suite.yaml"
    suite.parent.mkdir(parents=True, exist_ok=True)
    source = f"{{github: some/repo, revision: '{revision}', path: tasks}}"
    suite.write_text(f"description: d\npool: quickstart\nsource: {source}\n")
    return replace(find_workspace(tmp_path, {}), cache=tmp_path / "cache")


def silent(what: str, done: int, total: int | None) -> None:
    return None


def test_a_suite_is_fetched_once_with_only_its_tasks_and_no_links(tmp_path: Path, server: Server) -> None:
    space = workspace(tmp_path)
    folder, lock = fetch_suite("mine", space, silent, hosts=server.hosts)
    assert sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()) == [
        "t1/environment/Dockerfile",
        "t1/instruction.md",
        "t1/task.toml",
        "t1/tests/test.sh",
    ]
    assert not (folder / "t1" / "escape").is_symlink()
    assert not list(tmp_path.parent.glob("**/evil"))
    assert lock.files == 4
    assert suite_data("mine", space) == folder
    assert [task.id for task in load_suite("mine", space).tasks] == ["t1"]
    fetch_suite("mine", space, silent, hosts=server.hosts)
    assert len(server.requests) == 1


def test_a_broken_connection_is_resumed_where_it_stopped(tmp_path: Path, server: Server) -> None:
    server.cut_after = 200
    fetch_suite("mine", workspace(tmp_path), silent, hosts=server.hosts)
    assert [span for _, span in server.requests] == [None, "bytes=200-"]


def test_a_moving_branch_is_resolved_once_and_locked(tmp_path: Path, server: Server) -> None:
    space = workspace(tmp_path, "main")
    fetch_suite("mine", space, silent, hosts=server.hosts)
    server.head = "b" * 40
    _, lock = fetch_suite("mine", space, silent, hosts=server.hosts)
    assert lock.commit == COMMIT
    _, lock = fetch_suite("mine", space, silent, hosts=server.hosts, refresh=True)
    assert lock.commit == "b" * 40
    _, lock = fetch_suite("mine", space, silent, hosts=server.hosts)
    assert lock.commit == "b" * 40


def test_a_suite_that_pins_another_commit_is_not_served_the_fetched_one(
    tmp_path: Path, server: Server
) -> None:
    fetch_suite("mine", workspace(tmp_path), silent, hosts=server.hosts)
    with pytest.raises(MissingDataError, match="type: workbench fetch mine"):
        suite_data("mine", workspace(tmp_path, "c" * 40))


def test_other_bytes_under_a_locked_commit_are_refused_and_the_lock_stays(
    tmp_path: Path, server: Server
) -> None:
    space = workspace(tmp_path)
    _, before = fetch_suite("mine", space, silent, hosts=server.hosts)
    server.data = archive({**GOOD, "tasks/t1/tests/test.sh": b"false"})
    with pytest.raises(ContentError, match="differs from the locked"):
        fetch_suite("mine", space, silent, hosts=server.hosts, refresh=True)
    lock = (space.cache / "data" / "some+repo" / f"{COMMIT}-tasks.lock.json").read_text()
    assert before.tree_digest in lock
    assert (suite_data("mine", space) / "t1" / "tests" / "test.sh").read_bytes() == b"true"


@pytest.mark.parametrize("data", [b"", b"not a tarball", archive(GOOD)[:150], archive({"README.md": b"x"})])
def test_a_damaged_archive_is_one_error_and_leaves_nothing_half_unpacked(
    tmp_path: Path, server: Server, data: bytes
) -> None:
    space = workspace(tmp_path)
    server.data = data
    with pytest.raises(WorkbenchError):
        fetch_suite("mine", space, silent, hosts=server.hosts)
    with pytest.raises(MissingDataError, match="type: workbench fetch mine"):
        suite_data("mine", space)
    assert not list((space.cache / "data" / "some+repo").glob(".unpack-*"))


def test_without_a_network_the_error_names_the_flag_for_a_local_copy(tmp_path: Path) -> None:
    nowhere = Hosts(api="http://127.0.0.1:9", archives="http://127.0.0.1:9")
    with pytest.raises(MissingDataError, match=r"give a local copy of some/repo: -T data=DIR"):
        fetch_suite("mine", workspace(tmp_path, "main"), silent, hosts=nowhere)


def test_a_bundled_suite_has_nothing_to_fetch(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="ship with it"):
        fetch_suite("quickstart", workspace(tmp_path), silent)


def test_a_local_copy_may_be_the_repository_or_its_task_folder(tmp_path: Path, server: Server) -> None:
    space = workspace(tmp_path)
    folder, _ = fetch_suite("mine", space, silent, hosts=server.hosts)
    assert suite_data("mine", space, folder) == folder
    assert suite_data("mine", space, folder.parent) == folder
    with pytest.raises(MissingDataError, match="holds no task folders"):
        suite_data("mine", space, tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("name", "blob", "says"),
    [
        ("t1/tests/test.sh", "f32a5804e292d30bedf68f62d32fb75d87e99fd9", None),
        ("t1/tests/test.sh", "0" * 40, "not the pinned 000000"),
        ("t1/gone", "0" * 40, "is pinned, and not in the archive"),
    ],
)
def test_a_file_that_is_pinned_by_its_name_in_git_must_be_that_file(
    tmp_path: Path, server: Server, name: str, blob: str, says: str | None
) -> None:
    space = workspace(tmp_path)
    suite = tmp_path / "tasks" / "mine" / "suite.yaml"
    pinned = f"path: tasks, blobs: {{{name}: '{blob}'}}"
    suite.write_text(suite.read_text().replace("path: tasks", pinned))
    if says is None:
        fetch_suite("mine", space, silent, hosts=server.hosts)
        return
    with pytest.raises(ContentError, match=says):
        fetch_suite("mine", space, silent, hosts=server.hosts)
    with pytest.raises(MissingDataError):
        suite_data("mine", space)
