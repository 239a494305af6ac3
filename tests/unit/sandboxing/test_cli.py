"""`workbench doctor` and `workbench images`, as a user meets them."""

from __future__ import annotations

import json
from io import StringIO
from typing import Any

import pytest
from rich.console import Console

from workbench.cli.main import run
from workbench.sandboxing.config import BuildPlan
from workbench.sandboxing.images import BuildResult
from workbench.sandboxing.progress import BuildDisplay

PLAN = BuildPlan(tag="t:1", digest="0", title="my-task\x1b[2J", context="/c", dockerfile="Dockerfile")


@pytest.fixture
def no_engine(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/absent.sock")


@pytest.mark.usefixtures("no_engine")
def test_the_doctor_says_what_is_missing_and_what_to_type(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary")
    assert run(["doctor", "--json"]) == 3
    out = capsys.readouterr().out
    rows = {row["name"]: row for row in json.loads(out)["checks"]}
    assert rows["engine"]["state"] == "missing"
    assert "apt-get install docker.io" in rows["engine"]["next"]
    assert "OPENAI_API_KEY" in rows["API keys"]["detail"]
    assert "sk-canary" not in out


@pytest.mark.usefixtures("no_engine")
def test_the_doctor_is_readable_at_eighty_columns(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["doctor"]) == 3
    out = capsys.readouterr().out
    assert "MISSING" in out
    assert max(map(len, out.splitlines())) <= 80


@pytest.mark.usefixtures("no_engine")
@pytest.mark.parametrize("command", [[], ["list"], ["prune", "--yes"], ["build-base"]])
def test_images_need_an_engine_and_say_so_in_one_line(
    command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["images", *command]) == 3
    assert capsys.readouterr().err.startswith("workbench: no Docker engine at unix://")


def test_a_working_engine_is_described(
    fake: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DOCKER_HOST", fake.url)
    fake.info = {
        "NCPU": 2,
        "MemTotal": 1 << 30,
        "Driver": "overlay2",
        "SwapLimit": False,
        "DockerRootDir": "/",
    }
    run(["doctor", "--json"])
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)["checks"]}
    assert rows["engine"]["state"] == "ok"
    assert rows["limits"]["detail"] == "not enforced by this kernel: swap"
    assert rows["storage"]["state"] == "note"
    assert "base image" in rows


@pytest.mark.parametrize(
    ("path", "name"), [("/info", "engine"), ("/images/skill-workbench/debian-python:bookworm/json", "base")]
)
@pytest.mark.parametrize("how", ["dropped", "failing"])
def test_an_engine_that_fails_while_it_is_asked_is_a_row_and_the_rest_is_still_said(
    fake: Any,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    path: str,
    name: str,
    how: str,
) -> None:
    monkeypatch.setenv("DOCKER_HOST", fake.url)
    fake.info = {"NCPU": 2, "MemTotal": 1 << 30, "DockerRootDir": "/"}
    if how == "dropped":
        fake.drop = f"^{path}$"
    else:
        fake.answers[path] = (500, {"message": "input/output error"})
    assert run(["doctor", "--json"]) == 3
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)["checks"]}
    assert (rows[name]["state"], rows[name]["next"]) == ("missing", "sudo systemctl restart docker")
    assert "does not answer" in rows[name]["detail"] or "input/output error" in rows[name]["detail"]
    assert "API keys" in rows


@pytest.mark.usefixtures("no_engine")
def test_in_a_pipe_no_line_ends_in_blanks(capsys: pytest.CaptureFixture[str]) -> None:
    run(["doctor"])
    assert not [line for line in capsys.readouterr().out.splitlines() if line != line.rstrip()]


def test_builds_are_shown_live_in_a_terminal_and_plain_in_a_pipe() -> None:
    for terminal in (True, False):
        out = StringIO()
        screen = Console(file=out, force_terminal=terminal, width=80, highlight=False)
        with BuildDisplay(screen) as display:
            display.started(PLAN)
            display.said(PLAN, "Step 1/2 : \x1b]0;title\x07")
            display.ended(
                BuildResult("t:1", PLAN.title, "sha256:1", built=True, seconds=3.2, substitutes={"a": "b"})
            )
            display.ended(BuildResult("t:2", "other", None, error="returned a non-zero code: 1"))
            display.ended(BuildResult("t:3", "there already", "sha256:3"))
        text = out.getvalue()
        assert "built my-task" in text
        assert "in 3 s (with b for a)" in text
        assert "cannot build other: returned a non-zero code: 1" in text
        assert "there already" not in text
        assert "\x1b[2J" not in text
        assert "\x1b]0;" not in text
