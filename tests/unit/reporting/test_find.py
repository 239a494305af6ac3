"""Which logs are meant: files, folders of one run, the newest run."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from workbench.core.errors import MissingDataError, UsageError
from workbench.reporting.find import find_logs, newest_run

EARLY, LATE = "2026-01-01T00-00-00_quickstart_a.eval", "2026-01-02T00-00-00_quickstart_b.eval"


@pytest.fixture
def results(tmp_path: Path) -> Path:
    for path in (
        "z-early/" + EARLY,
        "a-late/" + LATE,
        "a-late/logs.json",
        "a-late/.part.eval",
        "a-late/report/x.json",
    ):
        file = tmp_path / "results" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("x")
    return tmp_path / "results"


def test_a_folder_is_one_run_and_its_subfolders_are_others(results: Path) -> None:
    assert find_logs([results / "a-late"]) == [results / "a-late" / LATE]


def test_files_and_folders_are_joined_and_each_log_is_taken_once(results: Path) -> None:
    late = results / "a-late"
    assert find_logs([late / LATE, results / "z-early", late]) == [late / LATE, results / "z-early" / EARLY]


def test_a_folder_without_logs_names_a_run_in_it(results: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no log in this folder; give a run in it, such as .*z-early"):
        find_logs([results])
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match="run one first: inspect eval"):
        find_logs([tmp_path / "empty"])


def test_a_wrong_path_names_the_nearest(results: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no such log or folder; did you mean '.*a-late'\?"):
        find_logs([results / "a-lat"])
    with pytest.raises(UsageError, match="no such log or folder; there is none"):
        find_logs([tmp_path / "nowhere" / "x"])


def test_the_newest_run_is_so_by_name_whatever_the_clock_of_the_disk(results: Path) -> None:
    os.utime(results / "z-early" / EARLY, (2e9, 2e9))
    assert newest_run(results) == [results / "a-late" / LATE]
    (results / "2026-01-03T00-00-00_flat_c.eval").write_text("x")
    assert newest_run(results) == [results / "2026-01-03T00-00-00_flat_c.eval"]


def test_without_a_run_it_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(
        MissingDataError, match="no run in .* yet; run one first: inspect eval workbench/quickstart"
    ):
        newest_run(tmp_path / "results")
