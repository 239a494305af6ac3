"""Starting up pays for nothing that is not used."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ("torch", "transformers", "faiss", "litellm", "pandas")
CHECK = f"import sys; found = [m for m in {HEAVY!r} if m in sys.modules]; assert not found, found"


def run(code: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\n{CHECK}"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "arguments", [["--help"], ["pool", "--help"], ["route", "--help"], ["report", "--help"]]
)
def test_the_command_line_imports_nothing_heavy_for_help(arguments: list[str]) -> None:
    run(
        f"from workbench.cli.main import run; assert run({arguments!r}) == 0; import sys;"
        " assert not {'numpy', 'docker', 'inspect_ai', 'bm25s'} & set(sys.modules)"
    )


def test_what_inspect_loads_on_every_command_imports_nothing_heavy() -> None:
    run(
        "import workbench._registry; import sys; assert not {'docker', 'bm25s', 'pyarrow'} & set(sys.modules)"
    )


def test_an_evaluation_of_the_bundled_suite_imports_nothing_heavy() -> None:
    run(
        "from workbench.evaluation.tasks import build_task;"
        "from workbench.core.workspace import find_workspace; from pathlib import Path;"
        " task = build_task('quickstart', {'router': 'bm25'}, find_workspace(), Path());"
        " assert len(task.dataset)"
    )
