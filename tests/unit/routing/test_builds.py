"""Building vectors as users do, in processes: killed, side by side, and over pools and models that change."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.routing import pools, tiny_models
from tests.unit.routing.conftest import MakeRouter
from workbench.core.workspace import Workspace
from workbench.routing.load import load_router
from workbench.routing.router import Query
from workbench.skills.pool import Pool

STAGES = "- dense:\n    model: tiny/encoder\n    path: {path}\n    device: cpu\n    dtype: float32"
TASK = Query("t", "Extract the tables of a PDF")
SCRIPT = """
import json, sys, time
from pathlib import Path
from workbench.core.workspace import Workspace
from workbench.routing import vectors
from workbench.routing.encoder import Encoder
from workbench.routing.load import load_router
from workbench.routing.router import Query
from workbench.skills.pool import Pool

def say(*words):
    print(json.dumps(words), flush=True)

def progress(step, done, total):
    say(step, done)
    if done == int(sys.argv[3]):
        time.sleep(600)

def counted(self, texts, *rest, whole=Encoder.encode):
    say("read", len(texts))
    return whole(self, texts, *rest)

Encoder.encode = counted
vectors.PIECE = 1
root = Path(sys.argv[1])
workspace = Workspace((root,), root, root / "cache")
router = load_router("made", Pool(Path(sys.argv[2])), workspace, progress=progress)
router.prepare()
say("prepared", 1)
say("answer", router.route([Query("t", "Extract the tables of a PDF")], 5))
"""


def builder(root: Path, pool: Pool, stop: int = -1) -> subprocess.Popen[str]:
    """A process that routes by the recipe ``made``; it stands still once `stop` skills are encoded."""
    command = [sys.executable, "-c", SCRIPT, str(root), str(pool.path), str(stop)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def end(process: subprocess.Popen[str]) -> tuple[int, object]:
    """How many skills the process encoded, and what it answered."""
    printed, _ = process.communicate(timeout=300)
    assert process.returncode == 0
    said = [json.loads(line) for line in printed.splitlines()]
    while said[-1][0] == "read":
        said.pop()
    before = said[: said.index(["prepared", 1])]
    return sum(count for what, count in before if what == "read"), said[-1][1]


@pytest.fixture
def root(make_router: MakeRouter, models: Path, tmp_path: Path) -> Path:
    """A workspace with the recipe ``made`` and an empty cache."""
    make_router(STAGES.format(path=models / "tiny/encoder"))
    return tmp_path


def undisturbed(root: Path, pool: Pool) -> object:
    """What the recipe answers in this process, with a cache of its own."""
    router = load_router("made", pool, Workspace((root,), root, root / "own"))
    return json.loads(json.dumps(router.route([TASK], 5)))


def kinds(root: Path) -> Counter[str]:
    """What the cache of indexes holds, by the end of its name; a whole index has none."""
    return Counter(path.suffix for path in (root / "cache" / "indexes").iterdir())


@pytest.mark.parametrize("stop", [4, 10])
def test_a_build_that_is_killed_goes_on_where_it_was(stop: int, root: Path, pool: Pool) -> None:
    killed = builder(root, pool, stop)
    assert killed.stdout is not None
    while json.loads(killed.stdout.readline()) != ["encode", stop]:
        pass
    killed.kill()
    killed.communicate()
    assert len(list(root.glob("cache/indexes/*.pieces/0*.npy"))) == stop
    assert end(builder(root, pool)) == (len(pool) - stop, undisturbed(root, pool))
    assert kinds(root) == {"": 1, ".lock": 1}


def test_two_builders_at_once_encode_every_skill_once(root: Path, pool: Pool) -> None:
    both = [builder(root, pool), builder(root, pool)]
    (first, answer), (second, same) = map(end, both)
    assert sorted([first, second]) == [0, len(pool)]
    assert answer == same == undisturbed(root, pool)
    assert kinds(root) == {"": 1, ".lock": 1}


def test_a_pool_or_a_model_that_changed_has_vectors_of_its_own(root: Path, pool: Pool, models: Path) -> None:
    changed = dict(pools.SKILLS)
    changed["web/scraper"] = ("web-scraper", "Extract the tables of a PDF", "Extract the tables of a PDF")
    other = pools.write(root / "small.pool", changed)
    workspace = Workspace((root,), root, root / "cache")
    before = load_router("made", pool, workspace).route([TASK], 10)
    assert load_router("made", other, workspace).route([TASK], 10) != before
    folder = tiny_models.save_encoder(root / "retrained", seed=1)
    recipe = root / "routers" / "made.yaml"
    recipe.write_text(recipe.read_text().replace(str(models / "tiny/encoder"), str(folder)))
    assert load_router("made", pool, workspace).route([TASK], 10) != before
    assert kinds(root) == {"": 3, ".lock": 3}
    recipe.write_text(recipe.read_text().replace(str(folder), str(models / "tiny/encoder")))
    assert load_router("made", pool, workspace).route([TASK], 10) == before
    assert kinds(root) == {"": 3, ".lock": 3}
