"""`workbench report`, as typed: output, files, exit codes, strange terminals."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from workbench.cli.main import run
from workbench.reporting.announce import canvas_of, print_summary

MODULE = "import sys; from workbench.cli.main import main; main(sys.argv[1:])"


def typed(*arguments: object, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """Run the command in a process of its own."""
    command = [sys.executable, "-c", MODULE, "report", *map(str, arguments)]
    return subprocess.run(
        command, capture_output=True, env={**os.environ, **environment}, timeout=60, check=False
    )


def test_a_complete_run_is_summarised_and_exits_0(
    complete_log: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["report", str(complete_log)]) == 0
    out = capsys.readouterr().out
    assert "bm25 closes 100% [" in out
    assert "(8 tasks x 1 trial)" in out


def test_excluded_trials_exit_4_and_name_each_cause_with_an_example(
    mixed_log: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["report", str(mixed_log)]) == 4
    out = capsys.readouterr().out
    for words in (
        "3 excluded of 18 planned trials",
        "infra:start",
        "a@gold trial 2: no 'container' after 60 s",
    ):
        assert words in out


def test_a_damaged_log_beside_a_good_one_exits_4_and_is_named(
    complete_log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copy(complete_log, tmp_path / "good.eval")
    (tmp_path / "cut.eval").write_bytes(complete_log.read_bytes()[:-100])
    assert run(["report", str(tmp_path)]) == 4
    out = capsys.readouterr().out
    assert "cannot read" in out
    assert "cut.eval" in "".join(out.split())
    assert "bm25 closes 100%" in out


def test_nothing_readable_exits_1_and_says_what_each_file_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.eval").write_bytes(b"")
    (tmp_path / "b.json").write_text("{}")
    assert run(["report", str(tmp_path)]) == 1
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert "a.eval: File is not a zip file" in err
    assert "b.json: a JSON file that is no log" in err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nowhere.eval"], "no such log or folder"),
        (["--format", "jsn"], "unknown report 'jsn'; did you mean 'json'?"),
        (["--frmat", "json"], "No such option"),
    ],
)
def test_a_typing_error_is_one_line_and_exits_1(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["report", *arguments]) == 1
    err = capsys.readouterr().err
    assert words in err
    assert err.count("\n") == 1


def test_without_logs_it_takes_the_newest_run_of_the_workspace(
    complete_log: Path,
    mixed_log: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["report"]) == 1
    assert "no run in" in capsys.readouterr().err
    for folder, name, log in (
        ("old", "2026-01-01T00-00-00_a.eval", mixed_log),
        ("new", "2026-01-02T00-00-00_a.eval", complete_log),
    ):
        (tmp_path / "results" / folder).mkdir(parents=True)
        shutil.copy(log, tmp_path / "results" / folder / name)
    assert run(["report"]) == 0
    assert "8 tasks" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["json", "csv", "markdown", "terminal"])
def test_a_report_can_be_written_to_a_file_whole(complete_log: Path, tmp_path: Path, name: str) -> None:
    target = tmp_path / "deep" / f"report.{name}"
    assert run(["report", str(complete_log), "--format", name, "-o", str(target)]) == 0
    text = target.read_text(encoding="utf-8")
    assert "snow" in text or name != "json"
    assert "\x1b" not in text
    assert [entry.name for entry in target.parent.iterdir()] == [target.name]


def test_an_unwritable_place_is_one_line_and_exits_3(
    complete_log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    assert (
        run(["report", str(complete_log), "-o", str(tmp_path / "file" / "x.json"), "--format", "json"]) == 3
    )
    assert "cannot write" in capsys.readouterr().err


@pytest.mark.parametrize("encoding", ["cp1252", "ascii", "utf-8"])
def test_any_encoding_of_a_pipe_gets_a_report(complete_log: Path, encoding: str) -> None:
    done = typed(complete_log, PYTHONIOENCODING=encoding, COLUMNS="72")
    assert (done.returncode, done.stderr) == (0, b"")
    text = done.stdout.decode(encoding)
    assert "\x1b" not in text
    assert ("█" in text) == (encoding == "utf-8")
    assert "bm25 closes 100%" in text


def test_json_through_a_poor_pipe_is_still_json(complete_log: Path) -> None:
    done = typed(complete_log, "--format", "json", PYTHONIOENCODING="ascii")
    assert done.returncode == 0
    tasks = json.loads(done.stdout.decode("ascii"))["blocks"][0]["arms"][0]["tasks"]
    assert "snow\u2603man" in [task["task"] for task in tasks]


def test_reading_needs_neither_inspect_nor_anything_heavy(complete_log: Path) -> None:
    watched = "inspect_ai torch transformers faiss litellm pandas pyarrow docker scipy.stats statsmodels"
    script = f"{MODULE.replace('main(sys', 'run(sys').replace('import main', 'import run')}; " + (
        f"sys.stderr.write(' '.join(m for m in '{watched}'.split() if m in sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, "report", str(complete_log)],
        capture_output=True,
        timeout=60,
        check=True,
    )
    assert done.stderr == b""


def test_the_summary_after_a_run_is_printed_with_where_to_read_on(complete_log: Path) -> None:
    console = Console(file=io.StringIO(), width=90)
    print_summary([complete_log], console)
    assert isinstance(console.file, io.StringIO)
    text = console.file.getvalue()
    assert "bm25 closes 100%" in text
    assert "inspect view --log-dir" in " ".join(text.split())


def test_the_summary_after_a_run_never_raises(tmp_path: Path, complete_log: Path) -> None:
    class Broken(io.StringIO):
        """A stream that takes only our own words."""

        def write(self, text: str, /) -> int:
            if "closes" in text:
                raise OSError("gone")
            return super().write(text)

    for paths in ([tmp_path / "nowhere"], [tmp_path], []):
        console = Console(file=io.StringIO(), width=80)
        print_summary(paths, console)
        assert isinstance(console.file, io.StringIO)
        assert "no summary" in console.file.getvalue()
    broken = Console(file=Broken(), width=80)
    print_summary([complete_log], broken)


def test_a_canvas_is_what_the_console_can_show() -> None:
    plain = canvas_of(Console(file=io.StringIO(), width=72))
    assert (plain.width, plain.colour, plain.unicode) == (72, False, True)
    coloured = canvas_of(Console(file=io.StringIO(), force_terminal=True, color_system="standard", width=72))
    assert coloured.colour
    without = Console(file=io.StringIO(), force_terminal=True, color_system="standard", no_color=True)
    assert not canvas_of(without).colour
    narrow = io.TextIOWrapper(io.BytesIO(), encoding="cp1252")
    assert not canvas_of(Console(file=narrow)).unicode


def test_nothing_is_written_unless_every_file_can_be_and_is_one_of_its_own(
    complete_log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, blocked = tmp_path / "one.out", complete_log / "two.out"
    assert run(["report", str(complete_log), "--csv", str(one), "--json", str(one)]) == 1
    assert "is named by --csv and by --json; give each a file of its own" in capsys.readouterr().err
    same = tmp_path / "elsewhere" / ".." / "one.out"
    assert run(["report", str(complete_log), "--csv", str(one), "--json", str(same)]) == 1
    assert "give each a file of its own" in capsys.readouterr().err
    assert run(["report", str(complete_log), "--csv", str(one), "--json", str(blocked)]) == 3
    assert "cannot write" in capsys.readouterr().err
    assert not one.exists()


def test_several_files_are_written_from_one_reading(
    complete_log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ("html", "markdown", "json", "csv", "parquet")
    chosen = [part for name in options for part in (f"--{name}", str(tmp_path / f"report.{name}"))]
    assert run(["report", str(complete_log), *chosen]) == 0
    assert capsys.readouterr().out == ""
    starts = {name: (tmp_path / f"report.{name}").read_bytes()[:15] for name in options}
    assert starts["html"] == b"<!doctype html>"
    assert starts["parquet"].startswith(b"PAR1")
    assert all(starts.values())


def test_what_a_run_keeps_is_never_written_over(
    complete_log: Path, mixed_log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`report one.eval --html one.eval` once made a page of the log."""
    folder = tmp_path / "run"
    folder.mkdir()
    log = Path(shutil.copy(complete_log, folder / "one.eval"))
    other = Path(shutil.copy(mixed_log, tmp_path / "other.eval"))
    for name in ("ledger.jsonl", "logs.json", "sweep.lock", "sweep.yaml"):
        (folder / name).write_text("{}")
    before = {path: path.read_bytes() for path in [*folder.iterdir(), other]}
    assert run(["report", str(log), "--html", str(log)]) == 1
    assert "is one of the logs that are read" in capsys.readouterr().err
    for target in [path for path in before if path not in (log, other)]:
        assert run(["report", str(folder), "--json", str(target)]) == 1
        assert "belongs to the run in" in capsys.readouterr().err
        assert run(["report", str(other), "--json", str(target)]) == 1, "whichever run is read"
        capsys.readouterr()
    assert run(["report", str(folder), "--json", str(other)]) == 1
    assert "is a log; choose another file" in capsys.readouterr().err
    assert run(["compare", str(log), str(other), "--markdown", str(other)]) == 1
    assert "is one of the logs that are read" in capsys.readouterr().err
    assert {path: path.read_bytes() for path in before} == before
    for _ in range(2):
        assert run(["report", str(folder), "--json", str(folder / "report.json")]) == 0, "reports may be"
