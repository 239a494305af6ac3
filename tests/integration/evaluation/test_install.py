"""The wheel in an empty environment: commands work from any folder, put there by pip or by uv."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

from tests.integration.evaluation.conftest import NOWHERE

ROOT = Path(__file__).parents[3]
ONE = ("-T", "tasks=waybill-repair", "--model", "none", "--display", "plain")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from a copy that holds no file of git's or of an editable install."""
    out = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--wheel", "--outdir", str(out), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (built,) = out.glob("*.whl")
    return built


def _install(how: str, wheel: Path, python: Path) -> None:
    """The wheel alone; what it depends on is lent by the environment that runs the tests."""
    if how == "uv":
        uv = shutil.which("uv", path=str(Path(sys.executable).parent))
        assert uv, "uv is among the dev requirements"
        command = [uv, "pip", "install", "--offline", "--no-deps", "--python", str(python), str(wheel)]
    else:
        command = [sys.executable, "-m", "pip", "--python", str(python), "install", "--no-deps", str(wheel)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def _environment(folder: Path) -> Path:
    """An environment without our package in which everything else of this one can be imported."""
    venv.create(folder, with_pip=False)
    python = folder / "bin" / "python"
    code = "import sysconfig; print(sysconfig.get_path('purelib'))"
    site = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
    lent = folder / "lent"
    lent.mkdir()
    for entry in Path(sysconfig.get_path("purelib")).iterdir():
        if not entry.name.startswith(("skill_workbench", "_skill_workbench", "workbench")):
            (lent / entry.name).symlink_to(entry)
    Path(site, "lent.pth").write_text(f"{lent}\n")
    inspect = folder / "bin" / "inspect"
    inspect.write_text(f"#!{python}\nfrom inspect_ai._cli.main import main\nmain()\n")
    inspect.chmod(0o755)
    return python


@pytest.mark.slow
@pytest.mark.parametrize("how", ["pip", "uv"])
def test_the_installed_wheel_works_from_any_folder(wheel: Path, tmp_path: Path, how: str) -> None:
    python = _environment(tmp_path / "venv")
    _install(how, wheel, python)
    here = tmp_path / "somewhere"
    here.mkdir()
    env = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
    env |= {"DOCKER_HOST": NOWHERE, "COLUMNS": "100"}

    def run(*command: str) -> str:
        done = subprocess.run(
            [str(python.parent / command[0]), *command[1:]],
            cwd=here,
            env=env,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    assert str(ROOT) not in run("python", "-c", "import workbench; print(workbench.__file__)")
    assert "--router NAME" in run("inspect", "eval", "--help")
    assert "--router NAME" in run("inspect", "eval-set", "--help")
    assert "bm25" in run("workbench", "route", "--list")
    summary = run("inspect", "eval", "workbench/quickstart", "--router", "bm25", *ONE)
    assert "3 of 3 trials scored" in summary
    assert list((here / "results").glob("*/*.eval"))
