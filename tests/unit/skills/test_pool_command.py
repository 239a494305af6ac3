"""`workbench pool` as people and scripts see it: output, exit codes, one line for every error."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from workbench.cli.main import run

MakeSkill = Callable[..., Path]
Capture = pytest.CaptureFixture[str]


@pytest.fixture
def skills(tmp_path: Path, make_skill: MakeSkill, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with three skills, two of one name, in the current directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SKILL_WORKBENCH_CACHE", str(tmp_path / "cache"))
    make_skill(tmp_path / "skills" / "alpha")
    make_skill(tmp_path / "skills" / "beta", name="alpha", body="\x1b[2Jhidden\u202e\n[red]markup[/red]")
    make_skill(tmp_path / "skills" / "gamma", name="Gamma Rays")
    return tmp_path / "skills"


def test_build_accounts_for_everything_and_says_where_the_pool_is(skills: Path, capsys: Capture) -> None:
    (skills / "crlf").mkdir()
    (skills / "crlf" / "SKILL.md").write_bytes(b"---\r\nname: crlf\r\ndescription: d\r\n---\r\nbody")
    assert run(["pool", "build", "skills", "-o", "out.pool"]) == 0
    out = capsys.readouterr().out
    lines = [line.split() for line in out.splitlines()]
    assert ["found", "4"] in lines
    assert ["accepted", "3"] in lines
    assert ["repaired", "1", "(crlf", "1)"] in lines
    assert ["rejected", "0"] in lines
    assert ["pool", "out.pool"] in lines
    assert Path("out.pool").is_file()
    assert Path("out.rejects.jsonl").read_text() == ""


def test_build_over_the_budget_exits_with_2_and_writes_the_rejects_but_no_pool(
    skills: Path, capsys: Capture
) -> None:
    (skills / "bad").mkdir()
    (skills / "bad" / "SKILL.md").write_bytes(b"\xff")
    assert run(["pool", "build", "skills", "-o", "out.pool"]) == 2
    captured = capsys.readouterr()
    assert "rejected  1  (not_utf8 1)" in captured.out
    assert captured.err.count("\n") == 1
    assert "1 of 4 rejected, 0 allowed" in captured.err
    assert not Path("out.pool").exists()
    assert json.loads(Path("out.rejects.jsonl").read_text())["reason"] == "not_utf8"
    assert run(["pool", "build", "skills", "-o", "out.pool", "--max-rejects", "1"]) == 0
    assert Path("out.pool").is_file()


def test_build_without_a_file_fills_the_cache_that_info_uses(skills: Path, capsys: Capture) -> None:
    assert run(["pool", "build", "./skills"]) == 0
    capsys.readouterr()
    assert run(["pool", "info", "./skills", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["skills"] == 3
    assert facts["repeated_names"] == {"alpha": 2}
    assert facts["sources"] == [f"folder {skills}"]
    assert len(facts["fingerprint"]) == 64
    assert facts["counts"]["found"] == 3


def test_info_fits_eighty_columns(skills: Path, capsys: Capture) -> None:
    assert run(["pool", "info", "skills"]) == 0
    out = capsys.readouterr().out
    assert "fingerprint" in out
    assert max(map(len, out.splitlines())) <= 80


def test_show_prints_untrusted_text_safely(skills: Path, capsys: Capture) -> None:
    assert run(["pool", "show", "skills", "beta"]) == 0
    out = capsys.readouterr().out
    assert "same name" in out
    assert "\x1b" not in out
    assert "\u202e" not in out
    assert "\ufffd[2Jhidden\ufffd" in out
    assert "[red]markup[/red]" in out


def test_show_names_the_nearest_id(skills: Path, capsys: Capture) -> None:
    assert run(["pool", "show", "skills", "alhpa"]) == 1
    assert capsys.readouterr().err == "workbench: unknown skill 'alhpa'; did you mean 'alpha'?\n"


def test_check_reads_everything_back(skills: Path, capsys: Capture) -> None:
    assert run(["pool", "check", "skills"]) == 0
    assert "all digests and the fingerprint match" in capsys.readouterr().out


def test_check_reports_breaches_of_the_specification_and_filters_nothing(
    skills: Path, capsys: Capture
) -> None:
    assert run(["pool", "check", "skills", "--strict-spec"]) == 2
    captured = capsys.readouterr()
    assert "name_form" in captured.out
    assert "gamma: 'Gamma Rays'" in captured.out
    assert run(["pool", "info", "skills", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["skills"] == 3


def test_check_meets_damage(skills: Path, capsys: Capture) -> None:
    assert run(["pool", "build", "skills", "-o", "out.pool"]) == 0
    content = Path("out.pool").read_bytes()
    Path("out.pool").write_bytes(content.replace(b"About alpha", b"Above alpha"))
    capsys.readouterr()
    assert run(["pool", "check", "out.pool"]) == 1
    error = capsys.readouterr().err
    assert "does not match its digest" in error
    assert "workbench pool build" in error


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["info", "nobody"], "unknown pool 'nobody'"),
        (["info", "./nowhere"], "no such file or folder"),
        (["build"], "Missing argument"),
        (["build", "skills", "--max-rejects", "-1"], "--max-rejects"),
        (["bulid", "skills"], "bulid"),
    ],
)
def test_every_error_is_one_line_and_exits_with_1(
    skills: Path, capsys: Capture, arguments: list[str], message: str
) -> None:
    assert run(["pool", *arguments]) == 1
    error = capsys.readouterr().err
    assert error.startswith("workbench: ")
    assert error.count("\n") == 1
    assert message in error


def test_a_pool_of_a_suites_skills_takes_its_tasks_from_the_suite_or_from_data(
    skills: Path, make_skill: MakeSkill, capsys: Capture
) -> None:
    for data in (Path("tasks", "bench"), Path("copy")):
        make_skill(data / "task-1" / "environment" / "skills" / "gold", body=f"From {data.name}")
        (data / "task-1" / "task.toml").write_text("[metadata]\n")
    Path("tasks", "bench", "suite.yaml").write_text("description: d\npool: gold\n")
    Path("pools").mkdir()
    Path("pools", "gold.yaml").write_text("description: d\nsources:\n  - task_skills: {suite: bench}\n")
    assert run(["pool", "show", "gold", "gt/gold"]) == 0
    assert "From bench" in capsys.readouterr().out
    assert run(["pool", "show", "gold", "gt/gold", "--data", "copy"]) == 0
    assert "From copy" in capsys.readouterr().out


def test_info_of_a_folder_says_how_many_were_rejected_and_where_they_are_listed(
    skills: Path, capsys: Capture
) -> None:
    (skills / "bad").mkdir()
    (skills / "bad" / "SKILL.md").write_bytes(b"\xff")
    assert run(["pool", "info", "./skills"]) == 0
    out = capsys.readouterr().out
    assert ["rejected", "1", "(not_utf8", "1)"] in [line.split() for line in out.splitlines()]
    assert ".rejects.jsonl says which" in "".join(out.split("\n"))


def test_a_pool_without_sources_is_told_so_in_plain_words(
    skills: Path, tmp_path: Path, capsys: Capture
) -> None:
    (tmp_path / "p.yaml").write_text("description: d\nsources: []\n")
    assert run(["pool", "info", "p.yaml"]) == 1
    assert "p.yaml:2: sources: must have at least 1, and has 0" in capsys.readouterr().err
