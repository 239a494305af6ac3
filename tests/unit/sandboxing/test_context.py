"""The build context: listed, named and sent the same way on every machine."""

from __future__ import annotations

import io
import os
import tarfile
from pathlib import Path

import pytest

from workbench.core.errors import UsageError
from workbench.sandboxing.context import digest, entries, members, tar


@pytest.fixture
def root(tmp_path: Path) -> Path:
    files = {
        "Dockerfile": "FROM a\n",
        "data/x.csv": "1\n",
        "skills/one/SKILL.md": "gold",
        "run.sh": "#!/bin/sh\n",
    }
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    (tmp_path / "run.sh").chmod(0o775)
    (tmp_path / "link").symlink_to("data")
    return tmp_path


def paths(root: Path, empty: tuple[str, ...] = ()) -> list[str]:
    return [entry.path for entry in entries(root, empty)]


def unpacked(
    root: Path, empty: tuple[str, ...] = (), added: dict[str, bytes] | None = None
) -> tarfile.TarFile:
    data = b"".join(tar(root, entries(root, empty), added or {}))
    return tarfile.open(fileobj=io.BytesIO(data))


def test_an_emptied_folder_is_sent_without_what_is_in_it(root: Path) -> None:
    assert paths(root, ("skills",)) == ["Dockerfile", "data", "data/x.csv", "link", "run.sh", "skills"]


def test_an_emptied_folder_is_sent_even_where_it_is_absent(root: Path) -> None:
    assert "absent" in paths(root, ("absent",))


def test_the_digest_does_not_know_what_was_emptied_nor_times_nor_umasks(root: Path) -> None:
    before = digest(root, entries(root, ("skills",)))
    (root / "skills/one/SKILL.md").write_text("other")
    (root / "data/x.csv").chmod(0o600)
    os.utime(root / "data/x.csv", (1, 1))
    assert digest(root, entries(root, ("skills",))) == before
    assert digest(root, entries(root)) != before


@pytest.mark.parametrize("change", ["content", "mode", "name", "link"])
def test_the_digest_knows_content_executable_bit_names_and_links(root: Path, change: str) -> None:
    before = digest(root, entries(root))
    if change == "content":
        (root / "data/x.csv").write_text("2\n")
    elif change == "mode":
        (root / "data/x.csv").chmod(0o755)
    elif change == "name":
        (root / "data/x.csv").rename(root / "data/y.csv")
    else:
        (root / "link").unlink()
        (root / "link").symlink_to("run.sh")
    assert digest(root, entries(root)) != before


def test_the_tar_holds_bytes_modes_and_links_and_nothing_of_the_owner(root: Path) -> None:
    archive = unpacked(root)
    assert archive.extractfile("data/x.csv").read() == b"1\n"  # type: ignore[union-attr]
    assert archive.getmember("run.sh").mode == 0o755
    assert archive.getmember("data/x.csv").mode == 0o644
    assert archive.getmember("link").linkname == "data"
    assert {(m.uid, m.gid, m.uname, m.mtime) for m in archive} == {(0, 0, "", 1577836800)}


def test_added_files_replace_and_join(root: Path) -> None:
    archive = unpacked(root, added={"Dockerfile": b"FROM b\n", "new/x": b"y"})
    assert archive.getnames().count("Dockerfile") == 1
    assert archive.extractfile("Dockerfile").read() == b"FROM b\n"  # type: ignore[union-attr]
    assert "new/x" in archive.getnames()


def test_dockerignore_is_honoured_but_for_the_dockerfile(root: Path) -> None:
    (root / ".dockerignore").write_text("# comment\n*\n!data\ndata/*.log\n")
    (root / "data/a.log").write_text("x")
    assert paths(root) == [".dockerignore", "Dockerfile", "data", "data/x.csv"]


def test_links_are_never_followed_and_pipes_are_left_out(
    root: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("outside")
    (outside / "secret").write_text("s")
    (root / "out").symlink_to(outside)
    os.mkfifo(root / "pipe")
    listed = {entry.path: entry for entry in entries(root)}
    assert listed["out"].kind == "link"
    assert "out/secret" not in listed
    assert "pipe" not in listed


def test_a_file_that_shrinks_while_it_is_sent_is_an_error(root: Path) -> None:
    listed = entries(root)
    (root / "data/x.csv").write_text("")
    with pytest.raises(UsageError, match="changed while it was sent"):
        b"".join(tar(root, listed, {}))


def test_large_files_are_sent_in_pieces(root: Path) -> None:
    (root / "big").write_bytes(b"x" * (3 << 20))
    pieces = list(tar(root, entries(root), {}))
    assert max(map(len, pieces)) <= 1 << 20


def test_names_that_are_long_or_not_utf8_survive(root: Path) -> None:
    long = "d" * 120 + "/" + "f" * 120
    data = b"".join(members([(long, b"1", True), (os.fsdecode(b"caf\xe9"), b"2", False)], 7, 8))
    with tarfile.open(fileobj=io.BytesIO(data), errors="surrogateescape") as archive:
        assert archive.getnames() == [long, os.fsdecode(b"caf\xe9")]
        assert (archive.getmember(long).uid, archive.getmember(long).gid) == (7, 8)
