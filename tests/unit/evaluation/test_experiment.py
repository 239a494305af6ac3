"""Gold ids, what an arm is given, and what makes two evaluations the same."""

from __future__ import annotations

import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.suites import skill_md, write_files, write_suite
from workbench.core.errors import ContentError
from workbench.core.types import Arm, RankedSkill, Ranking
from workbench.core.workspace import Workspace, find_workspace
from workbench.evaluation.arguments import parse
from workbench.evaluation.dataset import sandbox_of
from workbench.evaluation.experiment import Experiment, code_digest, defaults, experiment
from workbench.routing.router import Query

ROUTED = Arm("routed", "bm25")


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """A workspace with the suite ``own``, and no engine."""
    write_suite(tmp_path)
    monkeypatch.setenv("DOCKER_HOST", "unix:///nonexistent/docker.sock")
    monkeypatch.chdir(tmp_path)
    return find_workspace()


def experiment_of(workspace: Workspace, **given: object) -> Experiment:
    pool, k = defaults("own", workspace)
    return experiment("own", parse(given, workspace, Path.cwd(), pool=pool, k=k), workspace)


def extend_pool(folder: Path, skills: dict[str, str]) -> None:
    """Put further skills into the pool, ids prefixed with ``x/``."""
    write_files(folder, {f"pools/extra/{name}/SKILL.md": text for name, text in skills.items()})
    file = folder / "pools" / "own.yaml"
    file.write_text(file.read_text() + "  - folder: {path: extra, prefix: 'x/'}\n")


def add_second_task(folder: Path) -> None:
    """Add the task ``second``, whose skill ``finisher`` is another one."""
    second = folder / "tasks" / "own" / "second"
    (folder / "tasks" / "own" / "only").rename(second)
    write_suite(folder)
    (second / "environment/skills/finisher/SKILL.md").write_text(skill_md("finisher", body="another way"))


def test_gold_is_what_the_task_ships_by_the_id_it_has_in_the_pool(workspace: Workspace) -> None:
    run = experiment_of(workspace)
    assert run.routes.gold["only"].ids == ("finisher",)
    assert run.routes.gold["only"].in_pool == {"finisher"}


def test_gold_outside_the_pool_is_gold_and_not_in_the_pool(workspace: Workspace, tmp_path: Path) -> None:
    extend_pool(tmp_path, {"other": skill_md("other", "done.txt words")})
    (tmp_path / "pools" / "own.yaml").write_text(
        "description: d\nsources:\n  - folder: {path: extra, prefix: 'x/'}\n"
    )
    run = experiment_of(workspace)
    assert run.routes.gold["only"].ids == ("finisher",)
    assert run.routes.gold["only"].in_pool == frozenset()


def test_two_tasks_with_different_skills_of_one_name_have_a_gold_id_each(
    workspace: Workspace, tmp_path: Path
) -> None:
    add_second_task(tmp_path)
    run = experiment_of(workspace)
    ids = {task: gold.ids for task, gold in run.routes.gold.items()}
    assert ids == {"only": ("finisher",), "second": ("finisher-2",)}
    (treatment,) = run.treatments(("finisher-2",), "second")
    assert treatment.folder == "finisher"
    assert b"another way" in treatment.tree.files["SKILL.md"].data


def test_a_number_that_means_something_else_in_the_pool_is_no_gold_id(
    workspace: Workspace, tmp_path: Path
) -> None:
    """A pool that numbers its skills otherwise holds a stranger under ``finisher-2``."""
    add_second_task(tmp_path)
    write_files(
        tmp_path,
        {f"pools/extra/{n}/SKILL.md": skill_md(n, body="a stranger") for n in ("finisher", "finisher-2")},
    )
    (tmp_path / "pools" / "own.yaml").write_text("description: d\nsources:\n  - folder: {path: extra}\n")
    run = experiment_of(workspace)
    assert run.routes.gold["second"].ids == ("finisher",)


def test_gold_keeps_its_folder_and_its_namesake_gets_another(workspace: Workspace, tmp_path: Path) -> None:
    extend_pool(tmp_path, {"finisher": skill_md("finisher", "a namesake"), "other": skill_md("other")})
    run = experiment_of(workspace)
    folders = {t.id: t.folder for t in run.treatments(("x/finisher", "finisher", "x/other"), "only")}
    assert folders["finisher"] == "finisher"
    assert folders["x/other"] == "other"
    assert folders["x/finisher"] not in ("finisher", "other")


async def test_the_arms_get_nothing_gold_or_what_the_router_says(
    workspace: Workspace, tmp_path: Path
) -> None:
    extend_pool(tmp_path, {"writer": skill_md("writer", "put the word done into done.txt")})
    run = experiment_of(workspace)
    info = await run.routes.route(ROUTED, "only")
    assert info.ranking[0].id == "x/writer"
    assert run.routes.chosen(ROUTED, info) == ("x/writer",)
    assert run.routes.chosen(Arm("gold"), info) == ("finisher",)
    assert run.routes.chosen(Arm("none"), info) == ()
    assert info.metrics["Hit@1"] == 0.0
    unrouted = await run.routes.route(Arm("gold"), "only")
    assert unrouted.router is None
    assert unrouted.metrics == {}
    assert unrouted.gold_in_pool == ("finisher",)


class Counting:
    """A router that counts its queries."""

    name = fingerprint = index_fingerprint = "counting"
    parallel = 2

    def __init__(self) -> None:
        self.asked: list[str] = []

    def prepare(self) -> None:
        """Nothing to prepare."""

    def notes(self) -> tuple[str, ...]:
        """Nothing to say."""
        return ()

    def route(self, queries: list[Query], k: int) -> list[Ranking]:
        """Note the queries."""
        self.asked += [query.id for query in queries]
        return [(RankedSkill("finisher", 1.0),)[:k] for _ in queries]


async def test_trials_of_one_task_ask_the_router_once(workspace: Workspace) -> None:
    import anyio

    run = experiment_of(workspace)
    router = Counting()
    routes = replace(run.routes, routers={"bm25": router})
    async with anyio.create_task_group() as group:
        for _ in range(5):
            group.start_soon(routes.route, ROUTED, "only")
    assert router.asked == ["only"]


CHANGES = {
    "a verifier": ("tasks/own/only/tests/test.sh", "#!/bin/bash\necho 1 > /logs/verifier/reward.txt\n"),
    "an instruction": ("tasks/own/only/instruction.md", "Do something else."),
    "a gold skill": ("tasks/own/only/environment/skills/finisher/SKILL.md", skill_md("finisher", body="c")),
    "an image": ("tasks/own/only/environment/Dockerfile", "FROM python:3.12-slim\nWORKDIR /b\n"),
    "a limit": ("tasks/own/only/task.toml", 'version = "1.0"\n[agent]\ntimeout_sec = 61\n'),
    "a pool": ("pools/extra/new/SKILL.md", skill_md("new")),
    "a recipe": ("routers/bm25.yaml", "description: mine\nstages:\n  - bm25: {b: 0.5}\n"),
    "the suite": (
        "tasks/own/suite.yaml",
        "description: d\npool: own\nsandbox: local-or-docker\nrouter_k: 2\n",
    ),
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_change_that_can_change_an_answer_changes_the_version(
    workspace: Workspace, tmp_path: Path, what: str
) -> None:
    extend_pool(tmp_path, {"other": skill_md("other")})
    before = experiment_of(workspace).version
    assert experiment_of(workspace).version == before
    path, text = CHANGES[what]
    write_files(tmp_path, {path: text})
    assert experiment_of(workspace).version != before


def test_the_code_that_decides_a_trial_is_part_of_the_version_and_a_report_is_not(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A checkout that had changed under one version number once mixed trials of two codes."""
    copied, module = tmp_path / "copy", sys.modules[Experiment.__module__]
    assert module.__file__ is not None
    shutil.copytree(Path(module.__file__).parents[1], copied, ignore=shutil.ignore_patterns("*.pyc"))
    monkeypatch.setattr(module, "__file__", str(copied / "evaluation" / "experiment.py"))

    def digest() -> str:
        code_digest.cache_clear()
        return code_digest()

    try:
        before = digest()
        (copied / "reporting" / "drawing.py").write_text("# other\n")
        assert digest() == before
        (copied / "evaluation" / "agents" / "oracle.py").write_text("# other\n")
        assert digest() != before
    finally:
        code_digest.cache_clear()


@pytest.mark.parametrize(
    ("condition", "what", "counts"),
    [
        ("none", "a pool", False),
        ("none", "a recipe", False),
        ("none", "a verifier", True),
        ("gold", "a pool", True),
        ("gold", "a recipe", False),
    ],
)
def test_a_baseline_is_another_only_by_what_it_depends_on(
    workspace: Workspace, tmp_path: Path, condition: str, what: str, counts: bool
) -> None:
    extend_pool(tmp_path, {"other": skill_md("other")})
    before = experiment_of(workspace, conditions=condition).version
    path, text = CHANGES[what]
    write_files(tmp_path, {path: text})
    for seed in (None, 7):
        assert (experiment_of(workspace, conditions=condition, seed=seed).version != before) is counts


def test_a_change_of_words_about_the_suite_does_not(workspace: Workspace, tmp_path: Path) -> None:
    before = experiment_of(workspace).version
    file = tmp_path / "tasks" / "own" / "suite.yaml"
    file.write_text(file.read_text().replace("description: d", "description: told better"))
    assert experiment_of(workspace).version == before


@pytest.mark.parametrize(
    ("stated", "said"),
    [
        ("memory_mb = 1", r"environment.memory_mb: must be at least 16 \(found 1\); allowed: 16 to 16777216"),
        ("cpus = 0.001", r"environment.cpus: must be at least 0.01 .*; allowed: 0.01 to 4096, e.g. cpus = 2"),
        ("cpus = 1e9", r"environment.cpus: must be at most 4096"),
        ("storage_mb = 17000000", "environment.storage_mb: .*e.g. storage_mb = 1024"),
        ('network_mode = "allowlist"\nallowed_hosts = ["pypi.org."]', "allow: "),
    ],
)
def test_what_no_container_can_be_is_refused_with_the_tasks_file(
    workspace: Workspace, tmp_path: Path, stated: str, said: str
) -> None:
    file = tmp_path / "tasks/own/only/task.toml"
    text = file.read_text()
    file.write_text(text + ("" if "[environment]" in text else "\n[environment]\n") + stated + "\n")
    found = experiment_of(workspace)
    run = replace(found, engine=replace(found.engine, ok=True))  # type: ignore[type-var]
    with pytest.raises(ContentError, match=rf"tasks/own/only/task.toml: {said}"):
        sandbox_of(run, run.suite.tasks[0])
