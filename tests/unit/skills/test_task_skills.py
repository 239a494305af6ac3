"""The skills of a benchmark's tasks: one id for each different tree, in order of tasks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from workbench.core.errors import MissingDataError
from workbench.skills.source import Found, SourceContext
from workbench.skills.sources import task_skills
from workbench.skills.sources.task_skills import gold_ids

MakeSkill = Callable[..., Path]


@pytest.fixture
def ship(tmp_path: Path, make_skill: MakeSkill) -> Callable[..., Path]:
    """A task that ships a skill with a body."""

    def make(task: str, folder: str, body: str = "same") -> Path:
        return make_skill(tmp_path / task / "environment" / "skills" / folder, body=body)

    return make


def ids(data: Path) -> dict[str, list[str]]:
    return {task: [skill.id for skill in skills] for task, skills in gold_ids(data).items()}


def found(data: Path) -> dict[str, Found]:
    def none(name: str) -> Any:
        raise AssertionError(name)

    context = SourceContext(data.parent, data.parent, none, none)
    options = task_skills.Options(path=str(data))
    items = list(task_skills.read(options, context))
    assert len({item.id for item in items}) == len(items)
    return {item.id: item for item in items}


def test_equal_trees_are_one_skill_and_others_are_numbered_in_order_of_tasks(
    tmp_path: Path, ship: Callable[..., Path]
) -> None:
    ship("task-c", "pdf", "first")
    ship("task-a", "pdf", "second")
    ship("task-b", "pdf", "first")
    ship("task-b", "docx")
    ship("task-d", "pdf", "third")
    assert ids(tmp_path) == {
        "task-a": ["gt/pdf"],
        "task-b": ["gt/docx", "gt/pdf-2"],
        "task-c": ["gt/pdf-2"],
        "task-d": ["gt/pdf-3"],
    }
    skills = found(tmp_path)
    assert set(skills) == {"gt/pdf", "gt/pdf-2", "gt/pdf-3", "gt/docx"}
    assert skills["gt/pdf-2"].result.body == "first"
    assert skills["gt/pdf-2"].folder == "pdf"


def test_a_number_never_takes_another_folders_name(tmp_path: Path, ship: Callable[..., Path]) -> None:
    ship("a", "pdf", "one")
    ship("b", "pdf", "two")
    ship("b", "pdf-2")
    ship("c", "pdf", "three")
    assert ids(tmp_path) == {"a": ["gt/pdf"], "b": ["gt/pdf-3", "gt/pdf-2"], "c": ["gt/pdf-4"]}


def test_the_mapping_says_where_each_skill_lies(tmp_path: Path, ship: Callable[..., Path]) -> None:
    folder = ship("a", "PDF Tools")
    (skill,) = gold_ids(tmp_path, prefix="")["a"]
    assert (skill.id, skill.folder, skill.path) == ("PDF Tools", "PDF Tools", folder)


def test_folders_without_a_skill_file_are_no_gold_and_are_reported(
    tmp_path: Path, ship: Callable[..., Path]
) -> None:
    folder = ship("a", "pdf")
    (folder.parent / "licenses").mkdir()
    (folder.parent / "README.md").write_text("x")
    (tmp_path / "b" / "environment" / "skills").mkdir(parents=True)
    (tmp_path / "no-skills").mkdir()
    assert ids(tmp_path) == {"a": ["gt/pdf"], "b": []}
    problem = found(tmp_path)["gt/licenses"].result.problem
    assert problem is not None
    assert problem.reason == "no_skill_file"


def test_a_skill_that_cannot_be_taken_has_an_id_and_is_rejected(
    tmp_path: Path, ship: Callable[..., Path]
) -> None:
    ship("a", "pdf").joinpath("data").symlink_to("/etc")
    ship("b", "pdf")
    assert ids(tmp_path) == {"a": ["gt/pdf"], "b": ["gt/pdf-2"]}
    problem = found(tmp_path)["gt/pdf"].result.problem
    assert problem is not None
    assert problem.reason == "symlink_escape"


def test_a_link_to_a_sibling_skill_is_inside_the_root(tmp_path: Path, ship: Callable[..., Path]) -> None:
    shared = ship("a", "shared")
    (shared / "tool.py").write_text("1")
    (ship("a", "pdf") / "tool.py").symlink_to("../shared/tool.py")
    tree = found(tmp_path)["gt/pdf"].tree
    assert tree is not None
    assert tree.files["tool.py"].data == b"1"


def test_a_folder_without_tasks_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(MissingDataError, match="no task folder with environment/skills/"):
        found(tmp_path)
