"""Our reader of one log and Inspect's agree, and damage is named, never raised as something else."""

from __future__ import annotations

import json
import random
import zipfile
from pathlib import Path

import pytest
from inspect_ai.log import read_eval_log, write_eval_log

from workbench.reporting.logfile import (
    ForeignLogError,
    LoggedSample,
    UnreadableLogError,
    read_header,
    read_samples,
)


def as_json(log: Path, folder: Path) -> Path:
    """The same log in Inspect's other format, written by Inspect."""
    target = folder / f"{log.stem}.json"
    write_eval_log(read_eval_log(str(log)), str(target), format="json")
    return target


@pytest.mark.parametrize("form", ["eval", "json"])
def test_it_reads_what_inspect_reads(mixed_log: Path, tmp_path: Path, form: str) -> None:
    path = mixed_log if form == "eval" else as_json(mixed_log, tmp_path)
    theirs = read_eval_log(str(path))
    header = read_header(path)
    assert header.status == theirs.status
    assert header.eval.eval_id == theirs.eval.eval_id
    assert header.eval.created.isoformat() == theirs.eval.created
    assert list(header.eval.dataset.sample_ids or ()) == theirs.eval.dataset.sample_ids
    assert header.eval.config.epochs == theirs.eval.config.epochs == 3
    ours = {(sample.id, sample.epoch): sample for sample in read_samples(path)}
    assert len(ours) == len(theirs.samples or []) == 18
    for sample in theirs.samples or []:
        mine = ours[sample.id, sample.epoch]
        score = (sample.scores or {}).get("workbench")
        assert mine.record == (None if score is None else (score.metadata or {})["record"])
        assert (mine.error.message if mine.error else None) == (
            sample.error.message if sample.error else None
        )
        assert mine.metadata == sample.metadata


def test_a_log_that_never_ended_is_read_from_its_journal(mixed_log: Path, tmp_path: Path) -> None:
    cut = tmp_path / "crashed.eval"
    copy(mixed_log, cut, drop={"header.json", "summaries.json", "reductions.json"})
    assert read_header(cut).status == "started"
    assert len(list(read_samples(cut))) == 18


def test_one_damaged_sample_costs_no_other(mixed_log: Path, tmp_path: Path) -> None:
    bad = tmp_path / "damaged.eval"
    copy(mixed_log, bad, replace={"samples/a@none_epoch_1.json": b'{"id": "a@none", "epoch'})
    found = {(s.id, s.epoch): s for s in read_samples(bad)}
    assert len(found) == 18
    assert found["a@none", 1].damage is not None
    assert [s for s in found.values() if s.damage] == [found["a@none", 1]]


def test_of_two_members_with_one_name_the_later_counts(mixed_log: Path, tmp_path: Path) -> None:
    twice = tmp_path / "twice.eval"
    copy(mixed_log, twice)
    with pytest.warns(UserWarning, match="Duplicate"), zipfile.ZipFile(twice, "a") as archive:
        archive.writestr(
            "samples/a@none_epoch_1.json", json.dumps({"id": "a@none", "epoch": 1, "metadata": {"later": 1}})
        )
    (found,) = [s for s in read_samples(twice) if (s.id, s.epoch) == ("a@none", 1)]
    assert found.metadata == {"later": 1}


@pytest.mark.parametrize(
    "content",
    [b"", b"PK\x03\x04", random.Random(0).randbytes(5000)],
    ids=["zero bytes", "four bytes of a zip", "random bytes"],
)
def test_what_is_no_log_is_unreadable(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.eval"
    path.write_bytes(content)
    with pytest.raises(UnreadableLogError):
        read_header(path)


@pytest.mark.parametrize("cut", [1, 100, 5000])
def test_a_truncated_log_is_unreadable(mixed_log: Path, tmp_path: Path, cut: int) -> None:
    for path in (mixed_log, as_json(mixed_log, tmp_path)):
        short = tmp_path / f"short{path.suffix}"
        short.write_bytes(path.read_bytes().rstrip()[:-cut])
        with pytest.raises(UnreadableLogError, match=r".+"):
            read_header(short)


@pytest.mark.parametrize("content", ["{}", "[]", '{"files": []}', '"text"', "3"])
def test_json_that_is_no_log_is_foreign(tmp_path: Path, content: str) -> None:
    path = tmp_path / "listing.json"
    path.write_text(content)
    with pytest.raises(ForeignLogError, match="no log"):
        read_header(path)


def test_a_zip_that_is_no_log_is_unreadable(tmp_path: Path) -> None:
    path = tmp_path / "other.eval"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("readme.txt", "hello")
    with pytest.raises(UnreadableLogError):
        read_header(path)


def test_numbers_that_json_does_not_know_are_read(tmp_path: Path) -> None:
    sample = LoggedSample.model_validate_json('{"id": 1, "epoch": 2, "metadata": {"x": NaN, "y": Infinity}}')
    assert sample.metadata["y"] == float("inf")


def copy(
    source: Path, target: Path, drop: set[str] | None = None, replace: dict[str, bytes] | None = None
) -> None:
    """Copy a zip's members, without some and with others replaced."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for name in old.namelist():
            if name not in (drop or set()):
                new.writestr(name, (replace or {}).get(name, old.read(name)))
