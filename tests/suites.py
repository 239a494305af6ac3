"""A small suite of one Harbor-format task, written into a workspace."""

from __future__ import annotations

from pathlib import Path

DOCKERFILE = "FROM python:3.12-slim\nWORKDIR /app\nCOPY skills /opt/.claude/skills\n"
TEST = """#!/bin/bash
if grep -qx done done.txt; then R=1; else R=0; fi
echo $R > "${LOGS_DIR:-/logs}/verifier/reward.txt"
"""
SUITE = "description: d\npool: own\nsandbox: local-or-docker\nsubstitute_bases: true\nrouter_k: 1\n"
POOL = "description: d\nsources:\n  - task_skills: {suite: own, prefix: ''}\n"


def write_files(folder: Path, files: dict[str, str]) -> None:
    """Write text files by relative path, with the folders they need."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def skill_md(name: str, description: str = "d", body: str = "b") -> str:
    """A SKILL.md."""
    return f"---\nname: {name}\ndescription: {description}\n---\n{body}\n"


def write_suite(folder: Path, solve: str = "true\n") -> Path:
    """Write the suite ``own`` with its task ``only``, gold skill ``finisher``, and the pool ``own``.

    Returns:
        The task's folder.
    """
    write_files(
        folder,
        {
            "tasks/own/suite.yaml": SUITE,
            "pools/own.yaml": POOL,
            "tasks/own/only/task.toml": (
                'version = "1.0"\n[agent]\ntimeout_sec = 60\n[verifier]\ntimeout_sec = 20\n'
            ),
            "tasks/own/only/instruction.md": "Put the word done into done.txt.",
            "tasks/own/only/environment/Dockerfile": DOCKERFILE,
            "tasks/own/only/environment/skills/finisher/SKILL.md": skill_md("finisher"),
            "tasks/own/only/solution/solve.sh": solve,
            "tasks/own/only/tests/test.sh": TEST,
        },
    )
    return folder / "tasks" / "own" / "only"
