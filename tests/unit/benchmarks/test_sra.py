"""SRA-Bench's format: instances as published, errors by file and instance, a sample until it is fetched."""

from __future__ import annotations

import json
import time
import zipfile
from pathlib import Path
from typing import Any

import pytest

from workbench.benchmarks.suite import load_suite, suite_home
from workbench.core.errors import ContentError, MissingDataError, UnknownNameError
from workbench.core.workspace import Workspace, find_workspace, packaged_root
from workbench.skills.opening import open_pool

INSTANCE = {
    "instance_id": "champ_00000",
    "dataset": "champ",
    "question": "How many?",
    "skill_annotations": ["champ_012", "champ_003"],
    "eval_data": {"answer": "239"},
}


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return find_workspace(packaged_root(), {"SKILL_WORKBENCH_CACHE": str(tmp_path / "cache")})


def data(folder: Path, instances: Any, name: str = "champ") -> Path:
    file = folder / "data" / "bench" / "instances" / f"{name}.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(instances if isinstance(instances, str) else json.dumps(instances))
    return folder


def test_an_instance_becomes_a_question_with_its_gold_and_the_form_of_its_answer(
    tmp_path: Path, workspace: Workspace
) -> None:
    suite = load_suite("srabench", workspace, data(tmp_path, [INSTANCE]))
    (task,) = suite.tasks
    assert task.id == "champ_00000"
    assert task.instruction == "How many?"
    assert task.tags == {"subset": "champ"}
    assert not task.sandboxed
    assert task.question is not None
    assert task.question.gold == ("champ_003", "champ_012")
    assert task.question.facts["answer"] == "239"
    assert "ANSWER: X" in task.question.form
    assert task.question.solution == "ANSWER: 239"


@pytest.mark.parametrize(
    ("instances", "says"),
    [
        ("[", "cannot be read as JSON"),
        ("{}", "must be a list"),
        ([{**INSTANCE, "question": 3}], "instance 0.question"),
        ([{**INSTANCE, "dataset": "chomp"}], "unknown dataset 'chomp'; did you mean 'champ'?"),
        ([INSTANCE, INSTANCE], "instance_id 'champ_00000' is given twice"),
    ],
)
def test_what_is_wrong_names_the_file_and_the_instance(
    tmp_path: Path, workspace: Workspace, instances: Any, says: str
) -> None:
    with pytest.raises(ContentError) as caught:
        load_suite("srabench", workspace, data(tmp_path, instances))
    assert "champ.json" in str(caught.value)
    assert says in str(caught.value)


def test_a_folder_without_instances_says_what_to_give(tmp_path: Path, workspace: Workspace) -> None:
    with pytest.raises(MissingDataError, match="give the folder above instances/"):
        load_suite("srabench", workspace, tmp_path)


def test_until_the_data_are_fetched_there_is_a_sample_with_a_pool_of_its_own(workspace: Workspace) -> None:
    home = suite_home("srabench", workspace)
    assert (home.sampled, home.pool, home.k) == (True, "srabench-sample", 5)
    suite = load_suite("srabench", workspace)
    assert {task.tags["subset"] for task in suite.tasks} == {
        "bigcodebench", "champ", "logicbench", "medcalcbench", "theoremqa", "toolqa",
    }  # fmt: skip
    pool = open_pool(home.pool, workspace)
    for task in suite.tasks:
        assert task.question is not None
        assert all(skill in pool for skill in task.question.gold)
    programs = [task for task in suite.tasks if task.sandboxed]
    assert {task.tags["subset"] for task in programs} == {"bigcodebench"}
    assert {task.environment.name for task in programs} == {"answers"}


def test_a_subset_is_chosen_by_name_and_an_unknown_one_names_the_nearest(workspace: Workspace) -> None:
    suite = load_suite("srabench", workspace)
    assert {t.tags["subset"] for t in suite.subset(["champ", "toolqa"]).tasks} == {"champ", "toolqa"}
    with pytest.raises(UnknownNameError, match="did you mean 'champ'"):
        suite.subset(["chmap"])


def test_the_corpus_is_read_from_the_zip_that_is_published(tmp_path: Path, workspace: Workspace) -> None:
    rows = [
        {"skill_id": f"champ_{n:03d}", "name": f"n{n}", "description": "d", "content": "c"} for n in range(3)
    ]
    with zipfile.ZipFile(tmp_path / "corpus.json.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("corpus.json", json.dumps(rows))
        archive.writestr("__MACOSX/._corpus.json", "x")
    pool = tmp_path / "mine.yaml"
    pool.write_text("description: d\nsources:\n  - corpus: {path: corpus.json.zip}\n")
    assert open_pool(str(pool), workspace).ids() == ("champ_000", "champ_001", "champ_002")


def test_a_damaged_corpus_says_so(tmp_path: Path, workspace: Workspace) -> None:
    (tmp_path / "corpus.json").write_text('{"skill_id": "a"}')
    pool = tmp_path / "mine.yaml"
    pool.write_text("description: d\nsources:\n  - corpus: {path: .}\n")
    with pytest.raises(ContentError, match="not a JSON list of skills"):
        open_pool(str(pool), workspace)


def test_thousands_of_instances_are_read_in_a_second_or_so(tmp_path: Path, workspace: Workspace) -> None:
    many = [{**INSTANCE, "instance_id": f"champ_{n:05d}"} for n in range(5400)]
    folder = data(tmp_path, many)
    started = time.process_time()
    assert len(load_suite("srabench", workspace, folder).tasks) == 5400
    assert time.process_time() - started < 3
