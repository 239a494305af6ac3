"""Harbor task folders: old and new keys, odd files, and one clear line for broken ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.benchmarks.formats.harbor import read_task, read_tasks
from workbench.core.errors import ContentError

GOOD = 'version = "1.0"\n[metadata]\ndifficulty = "hard"\n[agent]\ntimeout_sec = 900.0\n[environment]\n'


def write(folder: Path, toml: str = GOOD, **files: str) -> Path:
    task = folder / "my-task"
    defaults = {
        "task.toml": toml,
        "instruction.md": "\ufeffDo it.\r\n",
        "environment/Dockerfile": "FROM scratch\n",
        "environment/skills/mesh/SKILL.md": "x",
        "environment/skills/lower/skill.md": "x",
        "environment/skills/LICENSE": "x",
        "environment/skills/no-skill/readme.md": "x",
        "solution/solve.sh": "true",
        "tests/test.sh": "true",
    }
    for name, text in (defaults | {k.replace("__", "/"): v for k, v in files.items()}).items():
        path = task / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return task


def test_a_task_folder_is_read_whole(tmp_path: Path) -> None:
    task = read_task("s", write(tmp_path))
    assert task.id == "my-task"
    assert task.instruction.startswith("Do it.")
    assert [g.folder for g in task.gold] == ["lower", "mesh"]
    assert task.limits.agent_seconds == 900
    assert task.network is None
    assert task.unsupported is None
    assert task.tags == {"difficulty": "hard"}


@pytest.mark.parametrize(
    ("toml", "memory"),
    [
        ('memory = "4G"', 4096),
        ('memory = "512M"', 512),
        ('memory = "2GiB"', 2048),
        ("memory_mb = 2048", 2048),
        ('memory_mb = 2048\nmemory = "8G"', 2048),
        ("memory = 1073741824", 1024),
    ],
)
def test_old_and_new_ways_to_write_sizes(tmp_path: Path, toml: str, memory: int) -> None:
    assert read_task("s", write(tmp_path, GOOD + toml)).limits.memory_mb == memory


@pytest.mark.parametrize(
    ("toml", "network"),
    [
        ("allow_internet = true", "public"),
        ("allow_internet = false", "none"),
        ('network_mode = "no-network"', "none"),
        ('network_mode = "public"', "public"),
        ("", None),
    ],
)
def test_what_a_task_states_about_the_network(tmp_path: Path, toml: str, network: str | None) -> None:
    assert read_task("s", write(tmp_path, GOOD + toml)).network == network


def test_environment_variables_may_be_tables_or_inline_and_of_any_type(tmp_path: Path) -> None:
    toml = GOOD + '[verifier]\nenv = { A = "${A:-x}", N = 3, B = true }\n[solution.env]\nC = "c"\n'
    task = read_task("s", write(tmp_path, toml))
    assert task.verifier_env == {"A": "${A:-x}", "N": "3", "B": "true"}
    assert task.solution_env == {"C": "c"}


def test_unknown_keys_are_tolerated_and_named(tmp_path: Path) -> None:
    task = read_task(
        "s", write(tmp_path, GOOD + 'image = "x"\n[reward]\nreward = "y"\n[environment.env]\nK = "v"\n')
    )
    assert task.notes == ("task.toml: [reward] is ignored", "task.toml: [environment.env] is ignored (K)")


def test_what_cannot_be_run_says_why(tmp_path: Path) -> None:
    two = "services:\n  main: {}\n  api: {}\n"
    task = read_task(
        "s", write(tmp_path, environment__docker_compose_yaml="", **{"environment/docker-compose.yaml": two})
    )
    assert task.unsupported == "its compose file starts 2 services; one is supported"
    assert read_task("s", write(tmp_path / "b", GOOD + "gpus = 1")).unsupported == "asks for 1 GPU"
    (tmp_path / "b" / "my-task" / "environment" / "Dockerfile").unlink()
    assert read_task("s", tmp_path / "b" / "my-task").unsupported == "environment/Dockerfile is missing"


@pytest.mark.parametrize(
    ("toml", "says"),
    [
        ("[agent\n", "task.toml:1: not valid TOML"),
        ("x = 1\nx = 2\n", "task.toml:2: not valid TOML"),
        ("[agent]\ntimeout_sec = -3\n", "agent.timeout_sec: must be above 0 (found -3)"),
        ("[agent]\ntimeout_sec = nan\n", "agent.timeout_sec"),
        ("[environment]\nmemory = 'lots'\n", "environment.memory_mb"),
        ("agent = 3\n", "agent: "),
    ],
)
def test_a_broken_task_is_one_line(tmp_path: Path, toml: str, says: str) -> None:
    with pytest.raises(ContentError) as caught:
        read_task("s", write(tmp_path, toml))
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_folder_without_instruction_is_an_error_and_without_task_toml_is_no_task(tmp_path: Path) -> None:
    task = write(tmp_path)
    (task / "instruction.md").unlink()
    with pytest.raises(ContentError, match=r"instruction\.md: cannot be read"):
        read_tasks("s", tmp_path)
    (task / "task.toml").unlink()
    assert read_tasks("s", tmp_path) == ()
