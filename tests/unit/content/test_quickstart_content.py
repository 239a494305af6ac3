"""The bundled suite and its pool: complete, honest, and solvable only with the right skills."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[3]
SUITE, POOL = ROOT / "tasks" / "quickstart", ROOT / "pools" / "quickstart"
TASKS = sorted(path.parent.name for path in SUITE.glob("*/task.toml"))
SKILLS = sorted(path.parent.name for path in POOL.glob("*/SKILL.md"))
GOLD = {task: sorted(p.name for p in (SUITE / task / "environment" / "skills").iterdir()) for task in TASKS}
PROVENANCE = yaml.safe_load((POOL / "distractors.yaml").read_text(encoding="utf-8"))
NEAR: dict[str, dict[str, str]] = PROVENANCE["distractors"]
KINDS = {"same_domain", "same_technology", "over_generalised"}
PARTIAL = {"vaccine-cold-chain"}
EITHER = {"timetable-calendar"}
SCRIPTS = [p for root in (SUITE, POOL) for p in sorted(root.rglob("*")) if p.suffix in {".py", ".sh"}]

NAIVE = {
    "bakehouse-measures": ("scripts/batch.py", "RAISING_FROM = 0.9, 2", "RAISING_FROM = 1.0, 2"),
    "citekey-scheme": ("scripts/citekey.py", '"ø": "oe"', '"ø": "o"'),
    "disposition-notes": ("scripts/note.py", "timedelta(days=days)", "timedelta(days=0)"),
    "excursion-grading": ("scripts/grading.py", "and left > 0", "and False"),
    "frostlog-reader": ("scripts/frostlog.py", "(value + shift) / 10", "value / 10"),
    "gazette-ink-picker": ("scripts/inks.py", "CHROMA_WEIGHT = 0.7", "CHROMA_WEIGHT = 1.0"),
    "hallam-remittance-reader": ("scripts/halrem.py", "date(year, 1, 31)", "date(year, 1, 7)"),
    "inshore-tide-predictor": ("scripts/tides.py", "nodal.get(name, (1.0, 0.0))", "(1.0, 0.0)"),
    "kelp3-frame-decoder": ("scripts/kelp3.py", "_from_gray(take(28, 13))", "take(28, 13)"),
    "meridian-loan-plans": ("scripts/schedule.py", "= 28, 364, 13", "= 28, 365, 13"),
    "northline-waybill-check": ("scripts/waybill.py", "WEIGHTS[::-1]", "WEIGHTS"),
    "penrose-cash-allocation": (
        "scripts/allocate.py",
        'Decimal("2.50"), Decimal("0.5")',
        "Decimal(5), Decimal(1)",
    ),
    "refcard-parser": ("scripts/refcard.py", "if true_year else", "if False else"),
    "registry-calendar-fixer": ("scripts/fixcal.py", "dt.timedelta(minutes=15)", "dt.timedelta(0)"),
    "tarn-game-notation": ("scripts/tarn.py", "(SIZE - 1 - file, SIZE - 1 - row)", "(file, SIZE - 1 - row)"),
    "tarn-ladder-points": ("scripts/ladder.py", "old * 9 // 10", "old"),
    "timetable-export-cleaner": (
        "scripts/clean.py",
        "QUARTER = timedelta(minutes=15)",
        "QUARTER = timedelta(0)",
    ),
    "wharf-rent-reviews": ("scripts/reviews.py", "min(passing.carried, CAP - rise)", "Decimal(0)"),
}
"""For each gold skill the textbook rule in place of the house rule: file, what it says, the naive version."""


# What is there


def test_there_are_enough_tasks_of_each_kind_and_enough_skills() -> None:
    kinds = Counter(toml(task)["metadata"]["kind"] for task in TASKS)
    assert len(TASKS) == 12
    assert kinds["single"] >= 5
    assert kinds["pipeline"] >= 3
    assert kinds["substitute"] >= 2
    assert len(SKILLS) == yaml.safe_load((POOL.parent / "quickstart.yaml").read_text())["count"] >= 48
    assert len({toml(task)["metadata"]["category"] for task in TASKS}) == len(TASKS)


@pytest.mark.parametrize("task", TASKS)
def test_a_task_folder_is_complete(task: str) -> None:
    folder = SUITE / task
    parts = (
        "instruction.md",
        "environment/files",
        "solution/solve.sh",
        "tests/check.py",
        "tests/expected.json",
    )
    assert all((folder / part).exists() for part in parts)
    spec = toml(task)
    assert spec["version"] == "1.0"
    assert spec["metadata"]["author_name"] == "Skill workbench"
    assert spec["metadata"]["difficulty"] in {"easy", "medium", "hard"}
    assert spec["metadata"]["tags"]
    assert spec["verifier"]["timeout_sec"] > 0 < spec["agent"]["timeout_sec"]
    assert spec["environment"]["allow_internet"] is False
    assert {"build_timeout_sec", "cpus", "memory_mb", "storage_mb"} <= spec["environment"].keys()
    assert GOLD[task]
    assert (len(GOLD[task]) > 1) == (spec["metadata"]["kind"] == "pipeline" or task in EITHER)


@pytest.mark.parametrize("part", ["environment/Dockerfile", "tests/test.sh", "tests/verdict.py"])
def test_what_all_tasks_share_is_the_same_in_all(part: str) -> None:
    assert len({(SUITE / task / part).read_bytes() for task in TASKS}) == 1


@pytest.mark.parametrize("task", TASKS)
def test_gold_skills_are_in_the_pool_byte_for_byte(task: str) -> None:
    for skill in GOLD[task]:
        assert tree(SUITE / task / "environment" / "skills" / skill) == tree(POOL / skill)


def test_skill_files_lie_nowhere_else() -> None:
    places = {
        path.parent for root in (SUITE, POOL) for path in root.rglob("*") if path.name.lower() == "skill.md"
    }
    gold = {SUITE / task / "environment" / "skills" / skill for task in TASKS for skill in GOLD[task]}
    assert places == gold | {POOL / skill for skill in SKILLS}


def test_every_other_skill_of_the_pool_is_accounted_for() -> None:
    gold = {skill for skills in GOLD.values() for skill in skills}
    everyday = set(PROVENANCE["everyday"])
    assert sorted([*gold, *NEAR, *everyday]) == SKILLS
    assert {entry["near"] for entry in NEAR.values()} == gold
    assert min(Counter(entry["near"] for entry in NEAR.values()).values()) >= 2
    for task in TASKS:
        assert {NEAR[skill]["kind"] for skill in near(task)} == KINDS, task


@pytest.mark.parametrize("skill", SKILLS)
def test_a_skill_introduces_itself_and_reveals_nothing_of_its_part(skill: str) -> None:
    head, body = skill_text(skill)
    assert head["name"] == skill
    assert 80 <= len(head["description"]) <= 300
    assert set(head) == {"name", "description"}
    assert len(body.split()) >= 100
    assert "\n## " in body
    assert not re.search(
        r"distractor|near miss|gold skill|quickstart|benchmark", f"{head}{body}", re.IGNORECASE
    )
    for mentioned in re.findall(r"\b(?:scripts|references)/[\w.-]+\.\w+", body):
        assert (POOL / skill / mentioned).is_file(), mentioned


def test_no_two_skills_share_a_sentence() -> None:
    heard: Counter[str] = Counter()
    for skill in SKILLS:
        head, body = skill_text(skill)
        prose = re.sub(r"```.*?```", "", body, flags=re.DOTALL)
        heard.update(
            {line.strip() for line in [head["description"], *prose.splitlines()] if len(line.strip()) > 40}
        )
    assert [line for line, times in heard.items() if times > 1] == []


@pytest.mark.parametrize("task", TASKS)
def test_an_instruction_neither_names_nor_quotes_its_skills(task: str) -> None:
    asked = " ".join(words((SUITE / task / "instruction.md").read_text(encoding="utf-8")))
    assert "current directory" in asked
    for skill in GOLD[task]:
        assert skill not in asked
        described = words(skill_text(skill)[0]["description"])
        assert not [w for n in range(len(described) - 4) if (w := " ".join(described[n : n + 5])) in asked]


def test_files_are_small() -> None:
    assert not [
        p for root in (SUITE, POOL) for p in root.rglob("*") if p.is_file() and p.stat().st_size > 64_000
    ]


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda p: str(p.relative_to(ROOT)))
def test_a_script_runs_on_python_3_9_alone_and_from_any_place(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    defaults = re.sub(r"\$\{\w+:-/[\w./]+\}|os\.environ\.get\(\"LOGS_DIR\"\) or \"/logs\"", "", text)
    assert not re.findall(r"[\s\"'=](/(?:root|app|tests|logs|home|tmp|usr|work)\b\S*)", defaults)
    if path.suffix != ".py":
        return
    beside = {p.stem for p in path.parent.glob("*.py")}
    for node in ast.walk(ast.parse(text, feature_version=(3, 9))):
        names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        assert {name.split(".")[0] for name in names} <= sys.stdlib_module_names | beside


# What it takes to solve a task


@dataclass(frozen=True)
class Outcome:
    """What a trial ended with, and the folder it was run in."""

    solved: bool
    reward: float
    tests: dict[str, str]
    folder: Path


@dataclass
class Trial:
    """A task staged in a folder of its own, as a sandbox without containers stages it."""

    task: str
    folder: Path

    def run(self, *steps: str, skills: Path | None = None) -> Outcome:
        """Run ``solve`` and/or ``test`` with the skills of a folder (default: none)."""
        shutil.copytree(SUITE / self.task / "environment" / "files", self.folder, dirs_exist_ok=True)
        env = {
            "PATH": f"{quick_python(self.folder)}:{os.environ['PATH']}",
            "SKILLS_DIR": str(skills or self.folder / "no-skills"),
            "TESTS_DIR": str(SUITE / self.task / "tests"),
            "LOGS_DIR": str(self.folder / "logs"),
        }
        solved = False
        for step in steps:
            script = SUITE / self.task / {"solve": "solution/solve.sh", "test": "tests/test.sh"}[step]
            done = subprocess.run(["bash", script], cwd=self.folder, env=env, capture_output=True, timeout=20)
            solved = solved or (step == "solve" and done.returncode == 0)
        verdict = self.folder / "logs" / "verifier"
        report = json.loads((verdict / "ctrf.json").read_text())["results"]
        tests = {test["name"]: test["status"] for test in report["tests"]}
        assert report["summary"]["tests"] == len(tests) >= 2
        return Outcome(solved, float((verdict / "reward.txt").read_text()), tests, self.folder)


@pytest.fixture
def trial(tmp_path: Path) -> Callable[..., Trial]:
    """A new trial of a task each time it is called."""
    numbers = iter(range(1000))
    return lambda task: Trial(task, tmp_path / str(next(numbers)))


@pytest.fixture(scope="session")
def oracle(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Outcome]:
    """The reference solution's outcome with the gold skills; each task is run once."""
    known: dict[str, Outcome] = {}

    def outcome(task: str) -> Outcome:
        if task not in known:
            gold = SUITE / task / "environment" / "skills"
            known[task] = Trial(task, tmp_path_factory.mktemp(task) / "w").run("solve", "test", skills=gold)
        return known[task]

    return outcome


@pytest.mark.parametrize("task", TASKS)
def test_the_reference_solution_passes_every_check_with_the_gold_skills(task: str, oracle: Any) -> None:
    outcome = oracle(task)
    assert outcome.solved
    assert set(outcome.tests.values()) == {"passed"}
    assert outcome.reward == 1


@pytest.mark.parametrize("task", TASKS)
def test_doing_nothing_scores_nothing(task: str, trial: Any) -> None:
    outcome = trial(task).run("test")
    assert outcome.reward == 0
    assert set(outcome.tests.values()) == {"failed"}


@pytest.mark.parametrize("task", TASKS)
def test_the_reference_solution_scores_nothing_without_skills(task: str, trial: Any) -> None:
    outcome = trial(task).run("solve", "test")
    assert not outcome.solved
    assert outcome.reward == 0


@pytest.mark.parametrize("task", TASKS)
def test_the_rest_of_the_pool_does_not_help_even_in_the_gold_skills_folders(
    task: str, trial: Any, tmp_path: Path
) -> None:
    others = installed(tmp_path / "skills", [skill for skill in SKILLS if skill not in GOLD[task]])
    for gold in GOLD[task]:
        for skill in near(task):
            shutil.copytree(POOL / skill, others / gold, dirs_exist_ok=True)
    outcome = trial(task).run("solve", "test", skills=others)
    assert not outcome.solved
    assert outcome.reward == 0


@pytest.mark.parametrize("task", [task for task in TASKS if len(GOLD[task]) > 1])
def test_a_pipeline_needs_all_its_skills_and_a_substitute_any(task: str, trial: Any, tmp_path: Path) -> None:
    for missing in GOLD[task]:
        kept = installed(tmp_path / missing, [skill for skill in GOLD[task] if skill != missing])
        outcome = trial(task).run("solve", "test", skills=kept)
        assert (outcome.reward == 1) == (task in EITHER), f"without {missing}"


@pytest.mark.parametrize("skill", NAIVE)
def test_the_textbook_rule_in_place_of_the_house_rule_is_wrong(
    skill: str, trial: Any, tmp_path: Path
) -> None:
    task = next(task for task in TASKS if skill in GOLD[task])
    others = [] if task in EITHER else [gold for gold in GOLD[task] if gold != skill]
    skills = installed(tmp_path / "skills", others)
    shutil.copytree(POOL / skill, skills / skill)
    name, house, textbook = NAIVE[skill]
    script = skills / skill / name
    text = script.read_text(encoding="utf-8")
    assert text.count(house) == 1
    script.write_text(text.replace(house, textbook), encoding="utf-8")
    outcome = trial(task).run("solve", "test", skills=skills)
    assert outcome.reward < 1 if task in PARTIAL else outcome.reward == 0
    assert "failed" in outcome.tests.values()


def test_every_gold_skill_has_a_naive_version() -> None:
    assert sorted(NAIVE) == sorted({skill for skills in GOLD.values() for skill in skills})


@pytest.mark.parametrize("task", TASKS)
def test_one_wrong_digit_is_noticed(task: str, oracle: Any, trial: Any) -> None:
    for path in {path.suffix: path for path in written(oracle(task))}.values():
        changed = trial(task)
        changed.folder.mkdir(parents=True)
        copy_answer(oracle(task), changed.folder)
        text = (changed.folder / path).read_text(encoding="utf-8")
        last = next(reversed(list(re.finditer(r"\d", text)))).start()
        wrong = text[:last] + str((int(text[last]) + 5) % 10) + text[last + 1 :]
        (changed.folder / path).write_text(wrong, encoding="utf-8")
        assert changed.run("test").reward < 1, path


@pytest.mark.parametrize("task", TASKS)
def test_a_malformed_answer_scores_nothing_and_costs_no_verdict(task: str, oracle: Any, trial: Any) -> None:
    odd = [
        '{"a": [1, null, {"b": []}]}',
        "[" * 100_000,
        "[[1e999, NaN], {}]",
        '"\x00\ud800"',
        "a,b\n1,2,3\n\n\x00",
    ]
    hostile = trial(task)
    for n, path in enumerate(written(oracle(task))):
        target = hostile.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(odd[(n + TASKS.index(task)) % len(odd)].encode("utf-8", "surrogatepass"))
    assert hostile.run("test").reward == 0


def test_no_kind_of_file_can_stop_the_verdict(tmp_path: Path, trial: Any) -> None:
    task = "coop-loan-plan"
    (tmp_path / "huge").write_bytes(b"1" * 300_000)
    os.mkfifo(tmp_path / "fifo")
    for target in ("/dev/zero", tmp_path / "huge", tmp_path / "fifo", tmp_path, "plans.json"):
        staged = trial(task)
        staged.folder.mkdir(parents=True)
        (staged.folder / "plans.json").symlink_to(target)
        outcome = staged.run("test")
        assert outcome.reward == 0
        assert set(outcome.tests.values()) == {"failed"}


def test_bm25_finds_most_but_not_all_gold_skills() -> None:
    import bm25s
    import Stemmer

    stem = Stemmer.Stemmer("english")

    def tokens(texts: list[str]) -> Any:
        return bm25s.tokenize(texts, stopwords="en", stemmer=stem, show_progress=False)

    documents = [" ".join([*skill_text(skill)[0].values(), skill_text(skill)[1]]) for skill in SKILLS]
    index = bm25s.BM25(k1=1.5, b=0.75)
    index.index(tokens(documents), show_progress=False)
    asked = [(SUITE / task / "instruction.md").read_text(encoding="utf-8") for task in TASKS]
    found, _ = index.retrieve(tokens(asked), corpus=SKILLS, k=5, show_progress=False)
    hits = {skill for task, top in zip(TASKS, found, strict=True) for skill in GOLD[task] if skill in top}
    gold = sum(map(len, GOLD.values()))
    assert 0.75 <= len(hits) / gold <= 0.95


# How it is read


def toml(task: str) -> dict[str, Any]:
    return tomllib.loads((SUITE / task / "task.toml").read_text(encoding="utf-8"))


def tree(folder: Path) -> dict[str, tuple[bytes, bool]]:
    files = (p for p in folder.rglob("*") if p.is_file())
    return {str(p.relative_to(folder)): (p.read_bytes(), bool(p.stat().st_mode & 0o111)) for p in files}


def skill_text(skill: str) -> tuple[dict[str, str], str]:
    _, head, body = (POOL / skill / "SKILL.md").read_text(encoding="utf-8").split("---\n", 2)
    return yaml.safe_load(head), body


def words(text: str) -> list[str]:
    return re.findall(r"[\w-]+", text.lower())


def quick_python(folder: Path) -> str:
    """A folder with this interpreter as ``python3``, without ``site``: start-up is most of a trial's time."""
    script = folder / "logs" / "bin" / "python3"
    script.parent.mkdir(parents=True, exist_ok=True)
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -S "$@"\n')
    script.chmod(0o755)
    return str(script.parent)


def near(task: str) -> list[str]:
    return [skill for skill, entry in NEAR.items() if entry["near"] in GOLD[task]]


def installed(folder: Path, skills: Iterable[str]) -> Path:
    folder.mkdir(parents=True)
    for skill in skills:
        (folder / skill).symlink_to(POOL / skill)
    return folder


def written(outcome: Outcome) -> list[Path]:
    """What the solution wrote, relative to its folder."""
    given = {p.name for p in (SUITE / outcome.folder.parent.name[:-1] / "environment" / "files").glob("*")}
    files = (p.relative_to(outcome.folder) for p in sorted(outcome.folder.rglob("*")) if p.is_file())
    return [path for path in files if path.parts[0] not in {"logs", *given}]


def copy_answer(outcome: Outcome, folder: Path) -> None:
    for path in written(outcome):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(outcome.folder / path, folder / path)
