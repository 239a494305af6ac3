"""The index cache survives what happens to caches."""

from __future__ import annotations

import errno
import logging
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from workbench.core.errors import MachineError
from workbench.routing.cache import IndexCache, Once


class Builder:
    """Writes a small index and counts how often."""

    def __init__(self) -> None:
        self.built = 0

    def __call__(self, folder: Path, pieces: Path) -> None:
        self.built += 1
        (folder / "part").mkdir()
        (folder / "part" / "data.bin").write_bytes(bytes(range(256)) * 8)
        (folder / "terms.json").write_text("[]")


def test_an_index_is_built_once_and_found_whole(tmp_path: Path) -> None:
    build = Builder()
    folder = IndexCache(tmp_path).open("abc", build)
    assert IndexCache(tmp_path).open("abc", build) == folder == tmp_path / "indexes" / "abc"
    assert build.built == 1
    assert sorted(path.name for path in folder.parent.iterdir()) == ["abc", "abc.lock"]


def truncate(folder: Path) -> None:
    os.truncate(folder / "part" / "data.bin", 1024)


def flip(folder: Path) -> None:
    path = folder / "part" / "data.bin"
    data = bytearray(path.read_bytes())
    data[100] ^= 1
    path.write_bytes(data)


def lose(folder: Path) -> None:
    (folder / "terms.json").unlink()


def lose_header(folder: Path) -> None:
    (folder / "header.json").unlink()


def garble_header(folder: Path) -> None:
    (folder / "header.json").write_text('{"files": 3')


def wrong_header(folder: Path) -> None:
    (folder / "header.json").write_text('["schema_version"]')


def old_header(folder: Path) -> None:
    (folder / "header.json").write_text('{"schema_version": 0, "files": {}}')


def empty_header(folder: Path) -> None:
    (folder / "header.json").write_text('{"schema_version": 1, "files": {}}')


@pytest.mark.parametrize(
    "damage", [truncate, flip, lose, lose_header, garble_header, wrong_header, old_header, empty_header]
)
def test_a_damaged_index_is_built_again_with_a_message(
    tmp_path: Path, damage: Callable[[Path], None], caplog: pytest.LogCaptureFixture
) -> None:
    build = Builder()
    folder = IndexCache(tmp_path).open("abc", build)
    damage(folder)
    with caplog.at_level(logging.WARNING):
        assert IndexCache(tmp_path).open("abc", build) == folder
    assert build.built == 2
    assert "is damaged" in caplog.text
    assert (folder / "part" / "data.bin").stat().st_size == 2048


def test_a_build_that_fails_leaves_nothing_to_be_found_but_its_pieces(tmp_path: Path) -> None:
    def fail(folder: Path, pieces: Path) -> None:
        (folder / "half").write_text("x")
        (pieces / "done").write_text("y")
        raise RuntimeError("power cut")

    def resume(folder: Path, pieces: Path) -> None:
        (folder / "whole").write_text((pieces / "done").read_text())

    with pytest.raises(RuntimeError, match="power cut"):
        IndexCache(tmp_path).open("abc", fail)
    assert sorted(path.name for path in (tmp_path / "indexes").iterdir()) == ["abc.lock", "abc.pieces"]
    folder = IndexCache(tmp_path).open("abc", resume)
    assert (folder / "whole").read_text() == "y"
    assert not (tmp_path / "indexes" / "abc.pieces").exists()


def test_a_killed_builder_does_not_block_the_next(tmp_path: Path) -> None:
    script = (
        "import sys, time; from pathlib import Path\n"
        "from workbench.routing.cache import IndexCache\n"
        "def build(folder, pieces):\n"
        "    (folder / 'half').write_text('x'); (pieces / 'started').write_text(''); time.sleep(60)\n"
        "IndexCache(Path(sys.argv[1])).open('abc', build)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", script, str(tmp_path)])
    started = tmp_path / "indexes" / "abc.pieces" / "started"
    while not started.exists() and process.poll() is None:
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    folder = IndexCache(tmp_path).open("abc", Builder())
    assert not (folder / "half").exists()


def _open(root: str) -> None:
    def build(folder: Path, pieces: Path) -> None:
        with (Path(root) / "builds").open("a") as file:
            file.write("x")
        time.sleep(0.2)
        (folder / "data").write_text("whole")

    assert (IndexCache(Path(root)).open("abc", build) / "data").read_text() == "whole"


def test_two_processes_on_a_cold_cache_build_once(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    processes = [context.Process(target=_open, args=(str(tmp_path),)) for _ in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0, 0]
    assert (tmp_path / "builds").read_text() == "x"


def test_a_cache_that_cannot_be_written_is_replaced_by_a_temporary_one(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("")
    build = Builder()
    cache = IndexCache(tmp_path / "file")
    with caplog.at_level(logging.WARNING):
        folder = cache.open("abc", build)
    assert (folder / "terms.json").read_text() == "[]"
    assert "the index is not kept" in caplog.text
    assert cache.open("abc", build) == folder
    assert build.built == 1
    del cache
    assert not folder.exists()


def test_a_full_disk_everywhere_says_what_to_do(tmp_path: Path) -> None:
    def build(folder: Path, pieces: Path) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(MachineError, match="free some space or set SKILL_WORKBENCH_CACHE"):
        IndexCache(tmp_path).open("abc", build)


def test_an_error_of_the_build_itself_is_not_taken_for_a_full_disk(tmp_path: Path) -> None:
    def build(folder: Path, pieces: Path) -> None:
        raise FileNotFoundError(errno.ENOENT, "No such file", "input")

    with pytest.raises(FileNotFoundError):
        IndexCache(tmp_path).open("abc", build)


def test_a_value_is_made_once_whichever_thread_asks_first() -> None:
    made: list[int] = []

    def make() -> int:
        time.sleep(0.02)
        made.append(1)
        return len(made)

    value = Once(make)
    with ThreadPoolExecutor(8) as threads:
        assert set(threads.map(lambda _: value(), range(8))) == {1}


def test_an_error_in_the_making_is_not_kept() -> None:
    attempts: list[int] = []

    def make() -> int:
        attempts.append(1)
        if len(attempts) == 1:
            raise RuntimeError("not yet")
        return 7

    value = Once(make)
    with pytest.raises(RuntimeError):
        value()
    assert value() == 7
