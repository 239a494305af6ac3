"""What a cut-off log still holds."""

from __future__ import annotations

import json
import warnings
import zipfile
from pathlib import Path

from workbench.reporting.salvage import salvage


def written(path: Path, *entries: tuple[str, object]) -> bytes:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, value in entries:
            archive.writestr(name, json.dumps(value))
    return path.read_bytes()


def test_whole_entries_of_a_cut_log_make_a_sound_one(tmp_path: Path) -> None:
    log, rest = tmp_path / "log.eval", tmp_path / "rest.eval"
    samples = [(f"samples/a{n}_epoch_1.json", {"id": n, "text": "x" * 500}) for n in range(4)]
    whole = written(log, ("_journal/start.json", {"eval": 1}), *samples)
    with zipfile.ZipFile(log) as archive:
        third = archive.getinfo("samples/a3_epoch_1.json").header_offset
    log.write_bytes(whole[: third + 40])
    assert salvage(log, rest) == 4
    with zipfile.ZipFile(rest) as archive:
        assert archive.testzip() is None
        assert archive.namelist() == ["_journal/start.json", *(name for name, _ in samples[:3])]


def test_the_end_of_an_earlier_attempt_is_not_that_of_a_log_that_went_on(tmp_path: Path) -> None:
    """Its header said "cancelled" under another id, and all that was salvaged ran again."""
    log, rest = tmp_path / "log.eval", tmp_path / "rest.eval"
    with zipfile.ZipFile(log, "w") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a log that goes on has a second start
        for name, value in (
            ("_journal/start.json", "first"),
            ("samples/a_epoch_1.json", "kept"),
            ("summaries.json", "of the first"),
            ("header.json", "cancelled"),
            ("_journal/start.json", "second"),
            ("samples/b_epoch_1.json", "new"),
        ):
            archive.writestr(name, value)
    end = log.read_bytes().index(b"PK\x01\x02")
    log.write_bytes(log.read_bytes()[:end])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert salvage(log, rest) == 4
    with zipfile.ZipFile(rest) as archive:
        assert "header.json" not in archive.namelist()
        assert "summaries.json" not in archive.namelist()
        assert archive.read("_journal/start.json") == b"second"
        assert archive.read("samples/a_epoch_1.json") == b"kept"


def test_nothing_whole_is_nothing(tmp_path: Path) -> None:
    log = tmp_path / "log.eval"
    log.write_bytes(b"PK\x03\x04 and no more")
    assert salvage(log, tmp_path / "rest.eval") == 0
    assert not (tmp_path / "rest.eval").exists()
