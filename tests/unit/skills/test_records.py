"""JSONL and Parquet records: what is taken, what is rejected, and how broken files are met."""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from workbench.core.errors import ContentError, MissingDataError, UsageError
from workbench.skills.source import Found, SourceContext, load_source
from workbench.skills.sources import jsonl, parquet

Read = Callable[..., list[Found]]
GOOD = {"skill_id": "gt/mesh", "name": "mesh", "description": "About meshes", "body": "# Mesh\n\nDo it."}


@pytest.fixture
def context(tmp_path: Path) -> SourceContext:
    def none(name: str) -> Any:
        raise AssertionError(name)

    return SourceContext(tmp_path, tmp_path / "downloads", none, none)


@pytest.fixture
def read(tmp_path: Path, context: SourceContext) -> Read:
    """Write lines (records or raw bytes) to a file and read it."""

    def run(*lines: Any, name: str = "x.jsonl", prefix: str = "") -> list[Found]:
        data = b"\n".join(line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines)
        (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return list(jsonl.read(jsonl.Options(path=name, prefix=prefix), context))

    return run


def reason(found: Found) -> str | None:
    return found.result.problem.reason if found.result.problem else None


@pytest.mark.parametrize("name", ["x.jsonl", "x.jsonl.gz"])
def test_a_record_is_a_skill(read: Read, name: str) -> None:
    (found,) = read(GOOD, name=name)
    assert (found.id, found.folder, found.origin) == ("gt/mesh", "mesh", f"{name}:1")
    assert (found.result.name, found.result.description) == ("mesh", "About meshes")
    assert found.result.body == "# Mesh\n\nDo it."
    assert found.result.status == "accepted"
    assert found.tree is None


def test_other_spellings_of_the_keys_are_taken(read: Read) -> None:
    (found,) = read({"id": 7, "name": "n", "content": "text", "downloads": 12}, prefix="p/")
    assert (found.id, found.result.body, found.folder) == ("p/7", "text", "7")
    assert "empty_description" in found.result.notes


def test_a_record_without_a_name_takes_its_ids_last_segment(read: Read) -> None:
    (found,) = read({**GOOD, "name": " "})
    assert (found.result.name, found.result.repairs) == ("mesh", ("missing_name",))


def test_the_folder_never_comes_from_the_name(read: Read) -> None:
    (found,) = read({**GOOD, "skill_id": "x/../..", "name": "../../etc"})
    assert found.folder == "skill"
    assert found.result.name == "../../etc"


def test_a_raw_file_is_read_as_the_file_it_is(read: Read) -> None:
    text = "\ufeff---\r\nname: demo\r\ndescription: a: b\r\n---\r\nBody"
    found, other = read({"path": "skills/me/demo/skill.md", "text": text}, {"path": "README.md", "text": "x"})
    assert (found.id, found.folder) == ("skills/me/demo", "demo")
    assert found.result.repairs == ("bom", "crlf", "unquoted_colon", "file_name")
    assert found.tree is not None
    assert found.tree.files["SKILL.md"].data == text.encode()
    assert reason(other) == "missing_id"


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ({"name": "n", "body": "b"}, "missing_id"),
        ({"id": "", "name": "n"}, "missing_id"),
        ({**GOOD, "body": "a\0b"}, "nul"),
        ({**GOOD, "skill_id": "a\0b"}, "nul"),
        (b'{"id": "a", "name": "\\ud800"}', "not_utf8"),
        (b'{"id": "\\ud800", "name": "a"}', "not_utf8"),
        (b'{"id": "a", "name": "caf\xe9"}', "not_utf8"),
        ({**GOOD, "description": ["a", "list"]}, "bad_row"),
        ({**GOOD, "skill_id": True}, "bad_row"),
        (b"{broken", "bad_row"),
        (b"[1, 2]", "bad_row"),
        (b"[" * 100_000, "bad_row"),
        ({**GOOD, "body": "x" * (1024 * 1024)}, "too_large"),
        ({**GOOD, "description": "x" * (64 * 1024)}, "too_large"),
        (b'{"id": "a", "body": "' + b"x" * (9 * 1024 * 1024) + b'"}', "too_large"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_bad_record_is_rejected_and_the_next_one_is_read(read: Read, line: Any, why: str) -> None:
    bad, good = read(line, GOOD)
    assert reason(bad) == why
    assert bad.origin == "x.jsonl:1"
    assert (good.origin, good.result.status) == ("x.jsonl:2", "accepted")


def test_blank_lines_and_a_bom_are_no_records(read: Read) -> None:
    (found,) = read(b"\xef\xbb\xbf" + json.dumps(GOOD).encode(), b"", b"  ")
    assert found.result.status == "accepted"


def test_shards_are_read_in_order_of_their_names(tmp_path: Path, context: SourceContext) -> None:
    for shard in (1, 0, 2):
        data = json.dumps({**GOOD, "skill_id": f"s{shard}"}).encode()
        (tmp_path / f"part-{shard}.jsonl.gz").write_bytes(gzip.compress(data))
    found = list(jsonl.read(jsonl.Options(path="."), context))
    assert [f.id for f in found] == ["s0", "s1", "s2"]


@pytest.mark.parametrize(
    "content",
    [b"not gzip", gzip.compress(b"{}\n" * 1000, mtime=0)[:-9], b"\x1f\x8b\x08\x00garbage"],
    ids=["no gzip", "cut short", "garbage"],
)
def test_a_damaged_gzip_file_is_one_clear_error(
    tmp_path: Path, context: SourceContext, content: bytes
) -> None:
    (tmp_path / "x.jsonl.gz").write_bytes(content)
    with pytest.raises(ContentError, match=r"x\.jsonl\.gz:\d+: damaged gzip file"):
        list(jsonl.read(jsonl.Options(path="x.jsonl.gz"), context))


def test_a_file_with_another_digest_than_the_pinned_one_is_refused(
    read: Read, context: SourceContext
) -> None:
    read(GOOD)
    with pytest.raises(ContentError, match="is not the pinned file"):
        list(jsonl.read(jsonl.Options(path="x.jsonl", sha256="0" * 64), context))


@pytest.mark.parametrize("kind", ["jsonl", "parquet", "folder"])
def test_a_path_that_is_not_there_says_what_belongs_there(context: SourceContext, kind: str) -> None:
    source = load_source(kind)
    options = source.Options(path="nowhere")
    for act in (source.signature, lambda o, c: list(source.read(o, c))):
        with pytest.raises(MissingDataError, match=r"nowhere: no such f"):
            act(options, context)


def test_parquet_rows_are_records(tmp_path: Path, context: SourceContext) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    write_table = pytest.importorskip("pyarrow.parquet").write_table
    rows = [GOOD, {**GOOD, "skill_id": "gt/other", "description": None}, {**GOOD, "skill_id": None}]
    table = pyarrow.Table.from_pylist([{**row, "embedding": [0.5] * 4} for row in rows])
    write_table(table, tmp_path / "x.parquet")
    found = list(parquet.read(parquet.Options(path="x.parquet"), context))
    assert [(f.id, reason(f)) for f in found] == [("gt/mesh", None), ("gt/other", None), ("", "missing_id")]
    assert (found[0].result.body, found[1].result.description) == (GOOD["body"], "")
    assert found[1].origin == "x.parquet:2"


def test_a_file_that_is_no_parquet_is_one_clear_error(tmp_path: Path, context: SourceContext) -> None:
    pytest.importorskip("pyarrow")
    (tmp_path / "x.parquet").write_bytes(b"PAR1 but not really")
    with pytest.raises(ContentError, match=r"x\.parquet: no readable Parquet file"):
        list(parquet.read(parquet.Options(path="x.parquet"), context))


def test_without_pyarrow_the_error_says_what_to_type(
    tmp_path: Path, context: SourceContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "x.parquet").touch()
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UsageError, match=r"pip install 'skill-workbench\[parquet\]'"):
        list(parquet.read(parquet.Options(path="x.parquet"), context))
