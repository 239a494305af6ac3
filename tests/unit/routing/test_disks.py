"""Real disks that are full or read-only, in a mount namespace of their own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import sys
from pathlib import Path
import numpy as np
from workbench.core.errors import MachineError
from workbench.routing import vectors
from workbench.routing.cache import IndexCache

def by_numpy(folder, pieces):
    np.save(folder / "data.npy", np.zeros(1_000_000))

def by_rows(folder, pieces):
    with vectors.writing(folder, (1000, 1000)) as write:
        for _ in range(10):
            write(np.ones((100, 1000)))

def by_pieces(folder, pieces):
    vectors.write_piece(pieces / "working.npy", np.ones((1000, 1000)))
    (folder / "data").write_text("whole")

build = {"numpy": by_numpy, "rows": by_rows, "pieces": by_pieces}[sys.argv[2]]
cache = IndexCache(Path(sys.argv[1]))
try:
    folder = cache.open("abc", build)
except MachineError as error:
    sys.exit(f"MachineError: {error}")
assert not folder.is_relative_to(sys.argv[1])
print(sorted(path.name for path in folder.iterdir()))
"""


def on(disk: Path, options: str, *command: str, tmp: Path) -> subprocess.CompletedProcess[str]:
    """Run the program with a file system of its own at `disk`, seen by nobody else."""
    disk.mkdir()
    mount = f'mount -t tmpfs -o {options} none "$0" && exec "$@"'
    inside = ["unshare", "-Urm", "sh", "-c", mount, str(disk)]
    probe = subprocess.run([*inside, "true"], capture_output=True, text=True, check=False)
    if probe.returncode:
        pytest.skip(f"no mount namespaces here: {probe.stderr.strip()}")
    program = [sys.executable, "-c", PROGRAM, str(disk), *command]
    env = {"TMPDIR": str(tmp), "PYTHONPATH": str(Path(__file__).parents[3])}
    return subprocess.run([*inside, *program], capture_output=True, text=True, check=False, env=env)


@pytest.mark.parametrize("written", ["numpy", "rows", "pieces"])
@pytest.mark.parametrize("options", ["size=64k", "ro"], ids=["full", "read-only"])
def test_an_index_that_finds_no_room_lives_in_a_temporary_folder(
    tmp_path: Path, options: str, written: str
) -> None:
    (tmp_path / "tmp").mkdir()
    done = on(tmp_path / "disk", options, written, tmp=tmp_path / "tmp")
    assert done.returncode == 0, done.stderr
    assert "header.json" in done.stdout
    assert "cannot write to" in done.stderr
    assert "the index is not kept" in done.stderr
    assert not list((tmp_path / "tmp").iterdir())


@pytest.mark.parametrize("written", ["numpy", "rows", "pieces"])
def test_without_room_anywhere_one_line_says_what_to_do(tmp_path: Path, written: str) -> None:
    disk = tmp_path / "disk"
    done = on(disk, "size=64k", written, tmp=disk)
    assert done.returncode == 1
    assert f"no place to write an index: neither {disk}/indexes nor {disk} (" in done.stderr
    assert "free some space or set SKILL_WORKBENCH_CACHE to another folder" in done.stderr
    assert "Traceback" not in done.stderr
