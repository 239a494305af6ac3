"""A plan names an image by everything that decides what is in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.core.errors import ContentError, MissingDataError
from workbench.sandboxing.images import plan


@pytest.fixture
def environment(tmp_path: Path) -> Path:
    folder = tmp_path / "my-task" / "environment"
    (folder / "skills" / "one").mkdir(parents=True)
    (folder / "skills" / "one" / "SKILL.md").write_text("gold")
    (folder / "Dockerfile").write_text(
        "FROM python:3.12-slim\nWORKDIR /opt\nCOPY skills /opt/.claude/skills\n"
    )
    return folder


def test_a_plan_tells_places_and_bases_without_an_engine(environment: Path) -> None:
    made = plan(environment)
    assert made.title == "my-task"
    assert made.places == ("/opt/.claude/skills",)
    assert (made.workdir, made.base_images) == ("/opt", ("python:3.12-slim",))
    assert made.tag == f"skill-workbench/task:{made.digest[:24]}"
    assert "my-task" not in made.tag


def test_one_image_serves_all_skills_of_a_task(environment: Path) -> None:
    before = plan(environment).tag
    (environment / "skills" / "one" / "SKILL.md").write_text("changed")
    assert plan(environment).tag == before
    assert plan(environment, empty=()).tag != before


def test_content_dockerfile_and_choices_change_the_name_and_the_place_does_not(environment: Path) -> None:
    first = plan(environment)
    moved = environment.rename(environment.parent / "moved")
    assert plan(moved).tag == first.tag
    assert plan(moved, timeout=1.0).tag == first.tag
    assert plan(moved, substitute_bases=True).tag != first.tag
    (moved / "Dockerfile").write_text((moved / "Dockerfile").read_text() + "RUN true\n")
    assert plan(moved).tag != first.tag


def test_members_that_are_copied_by_name_are_sent_empty(environment: Path) -> None:
    with (environment / "Dockerfile").open("a") as file:
        file.write("COPY skills/one /verifier/one\n")
    assert plan(environment).empty == ("skills", "skills/one")


def test_what_the_classic_builder_cannot_do_is_known_beforehand(environment: Path) -> None:
    (environment / "Dockerfile").write_text("FROM a\nRUN --mount=type=secret,id=k x\n")
    made = plan(environment)
    assert made.needs_buildkit
    assert made.refusals == ("line 2: RUN --mount=type=secret,id=k needs BuildKit",)


def test_a_missing_or_broken_dockerfile_is_an_error_with_its_path(environment: Path) -> None:
    (environment / "Dockerfile").write_text("FORM a\n")
    with pytest.raises(ContentError, match=r"Dockerfile:1: unknown instruction 'FORM'"):
        plan(environment)
    with pytest.raises(MissingDataError, match="cannot be read: No such file"):
        plan(environment, dockerfile="absent")
