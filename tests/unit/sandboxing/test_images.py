"""`workbench images`: whoever prunes sees what for, how old, how large and whether it is in use."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from workbench.cli.main import run
from workbench.core.digest import digest_text
from workbench.sandboxing import labels, usage
from workbench.sandboxing.config import BuildPlan

GIB, DAY = 1 << 30, 86_400


def planned(name: str) -> BuildPlan:
    return BuildPlan(
        tag=f"t:{name}", digest=digest_text(name), title=name, context="/c", dockerfile="Dockerfile"
    )


def record(name: str, *, days: float, tag: str | None = None, kind: str = "task") -> dict[str, Any]:
    plan = digest_text(name)
    return {
        "Id": f"sha256:{plan}",
        "RepoTags": [tag or f"{labels.REPOSITORY}/task:{plan[:24]}"],
        "Labels": {labels.IMAGE: kind, labels.PLAN: plan, labels.SUBSTITUTES: "{}"},
        "Created": int(time.time() - days * DAY),
        "Size": 2 * GIB,
    }


OLD, NEW, OTHER, BUSY, WANTED = "own/old", "own/new", "other/task", "own/busy", "own/wanted"


@pytest.fixture
def stored(fake: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """An engine with five images of ours, a base, one of a stranger on ours, one a stranger renamed."""
    monkeypatch.setenv("DOCKER_HOST", fake.url)
    monkeypatch.setenv("SKILL_WORKBENCH_CACHE", str(tmp_path))
    ours = [record(name, days=9) for name in (OLD, OTHER, BUSY, WANTED)] + [record(NEW, days=1)]
    base = record("base", days=30, tag=f"{labels.REPOSITORY}/debian:bookworm", kind="base")
    strangers = [record("x", days=9, tag="theirs:1"), record("y", days=9)]
    strangers[1]["RepoTags"].append("renamed:1")
    fake.answers["/images/json"] = (200, [*ours, base, *strangers])
    fake.answers["/containers/json"] = (200, [{"Id": "c", "ImageID": f"sha256:{digest_text(BUSY)}"}])
    shared = [{"Id": each["Id"], "SharedSize": GIB} for each in (*ours, base)]
    fake.answers["/system/df"] = (200, {"Images": shared})
    for name in (OLD, NEW, OTHER, BUSY, WANTED):
        usage.note(planned(name))
        entry = json.loads(usage._file(digest_text(name)).read_text())
        entry["used"] = time.time() - (DAY if name == NEW else 8 * DAY)
        if name != WANTED:  # another process, which is over
            entry["owner"] = entry["owner"].rpartition(":")[0] + ":0"
        usage._file(digest_text(name)).write_text(json.dumps(entry))
    return fake


def test_a_list_names_tasks_ages_sizes_and_users_at_eighty_columns(
    stored: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["images"]) == 0
    out = capsys.readouterr().out
    rows = {line.split()[1]: line.split() for line in out.splitlines() if "/" in line}
    assert rows[OLD][2:] == ["9", "d", "8", "d", "2,048", "1,024"]
    assert rows[BUSY][-2:] == ["1", "container"]
    assert rows[WANTED][-2:] == ["a", "run"]
    assert "6 images, 6,144 MiB of their own, 2 in use" in out.splitlines()
    assert max(map(len, out.splitlines())) <= 80
    assert not any(line.endswith(" ") for line in out.splitlines())
    assert "theirs" not in out
    assert "renamed" not in out


@pytest.mark.parametrize(
    ("options", "gone"),
    [
        ([], {OLD, NEW, OTHER}),
        (["--older-than", "7d"], {OLD, OTHER}),
        (["--suite", "own"], {OLD, NEW}),
        (["--suite", "own", "--older-than", "1w"], {OLD}),
        (["--older-than", "9w"], set()),
    ],
)
def test_what_is_pruned_is_what_was_asked_for_and_never_what_is_used_or_a_strangers(
    stored: Any, options: list[str], gone: set[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["images", "prune", "--dry-run", *options]) == 0
    said = capsys.readouterr().out
    assert stored.times("DELETE") == 0
    assert {name for name in (OLD, NEW, OTHER, BUSY, WANTED) if name in said} == gone
    assert not gone or f"{len(gone) * 1024:,} MiB" in said
    assert run(["images", "prune", "--yes", *options]) == 0
    deleted = {line.partition("task:")[2] for line in stored.asked if line.startswith("DELETE")}
    assert deleted == {digest_text(name)[:24] for name in gone}


def test_without_a_terminal_nothing_is_removed_unasked(
    stored: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["images", "prune"]) == 1
    assert "add --yes, or --dry-run" in capsys.readouterr().err
    assert stored.times("DELETE") == 0


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--suite", "onw"], "unknown suite with images 'onw'; did you mean 'own'"),
        (["--older-than", "soon"], "must be a number and a unit, e.g. 12h, 7d or 2w"),
    ],
)
def test_a_slip_of_the_pen_is_said(
    stored: Any, options: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["images", "prune", *options]) == 1
    assert said in capsys.readouterr().err


def test_sizes_that_an_engine_cannot_tell_are_not_said_to_be_zero(
    stored: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    stored.answers["/system/df"] = (500, {"message": "a disk usage operation is already running"})
    assert run(["images"]) == 0
    out = capsys.readouterr().out
    assert "?" in out
    assert "of their own" not in out


@pytest.mark.parametrize("command", [["list"], ["prune", "--dry-run"]])
def test_an_engine_that_goes_away_meanwhile_is_one_line_about_this_machine(
    stored: Any, command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    stored.drop = "^/images/json"
    assert run(["images", *command]) == 3
    assert capsys.readouterr().err.startswith("workbench: the engine at unix://")
