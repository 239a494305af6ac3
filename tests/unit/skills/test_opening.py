"""From a name or a path to an open pool: what is built, when it is built again, and what is refused."""

from __future__ import annotations

import gc
import json
import os
import random
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from workbench.core.errors import (
    ContentError,
    GateError,
    MissingDataError,
    UnknownNameError,
    UsageError,
)
from workbench.core.workspace import Workspace
from workbench.skills.opening import PoolOpener, open_pool
from workbench.skills.pool import Pool

MakeSkill = Callable[..., Path]


class Watcher:
    """A `Progress` that counts what it is told."""

    def __init__(self) -> None:
        self.told: Counter[str] = Counter()

    def __call__(self, what: str, done: int, total: int | None) -> None:
        self.told[what] += 1


def define(workspace: Workspace, name: str, sources: str, more: str = "") -> Path:
    path = workspace.roots[0] / "pools" / f"{name}.yaml"
    path.write_text(f"description: for a test\nsources:\n{sources}{more}")
    return path


def rejects(pool: Pool) -> list[dict[str, object]]:
    return [json.loads(line) for line in pool.path.with_suffix(".rejects.jsonl").read_text().splitlines()]


@pytest.fixture
def skills(workspace: Workspace, make_skill: MakeSkill) -> Path:
    """``pools/few/`` with two good skills."""
    folder = workspace.roots[0] / "pools" / "few"
    make_skill(folder / "alpha")
    make_skill(folder / "group" / "beta")
    return folder


def test_a_named_pool_is_built_from_its_yaml_file(workspace: Workspace, skills: Path) -> None:
    define(workspace, "few", "  - folder: {path: few, prefix: mine/}\n", "count: 2\n")
    pool = open_pool("few", workspace)
    assert pool.ids() == ("mine/alpha", "mine/group/beta")
    assert pool.name == "few"
    assert pool.path.parent == workspace.cache / "pools"
    assert pool.header.sources == ("folder few",)
    assert pool.get("mine/group/beta").folder == "beta"
    assert pool.tree("mine/alpha").files["SKILL.md"].data == (skills / "alpha" / "SKILL.md").read_bytes()


def test_an_unchanged_pool_is_not_read_again_and_a_changed_one_is(workspace: Workspace, skills: Path) -> None:
    define(workspace, "few", "  - folder: {path: few}\n")
    watcher = Watcher()
    first = open_pool("few", workspace, progress=watcher)
    inode = first.path.stat().st_ino
    assert watcher.told["reading skills"] == 2
    assert open_pool("few", workspace, progress=watcher).path.stat().st_ino == inode
    assert watcher.told["reading skills"] == 2
    (skills / "alpha" / "tool.py").write_text("1")
    second = open_pool("few", workspace, progress=watcher)
    assert watcher.told["reading skills"] == 4
    assert second.path == first.path
    assert set(second.tree("alpha").files) == {"SKILL.md", "tool.py"}
    assert second.fingerprint != first.fingerprint


@pytest.mark.parametrize("change", ["text", "mode", "removed", "renamed"])
def test_every_kind_of_change_is_seen_by_its_stat(workspace: Workspace, skills: Path, change: str) -> None:
    before = open_pool(str(skills), workspace).fingerprint
    file = skills / "alpha" / "SKILL.md"
    if change == "text":
        file.write_text(file.read_text() + "More.\n")
    elif change == "mode":
        file.chmod(0o755)
    elif change == "removed":
        file.unlink()
    else:
        (skills / "alpha").rename(skills / "omega")
    assert open_pool(str(skills), workspace).fingerprint != before


def test_F18_a_damaged_build_in_the_cache_is_built_again(workspace: Workspace, skills: Path) -> None:
    pool = open_pool(str(skills), workspace)
    pool.path.write_bytes(pool.path.read_bytes()[:1000])
    assert open_pool(str(skills), workspace).fingerprint == pool.fingerprint


OPEN_IN_ANOTHER_PROCESS = """
import sys
from pathlib import Path
from workbench.core.workspace import Workspace
from workbench.skills.opening import open_pool
told = set()
workspace = Workspace((), Path(sys.argv[1]), Path(sys.argv[1], "cache"))
sys.stdin.readline()
pool = open_pool(sys.argv[2], workspace, progress=lambda what, done, total: told.add(what))
print(pool.fingerprint, "built" if any(w.startswith("reading") for w in told) else "reused")
"""


def test_IX06_two_processes_at_once_build_once(tmp_path: Path) -> None:
    records = tmp_path / "records.jsonl"
    records.write_text("".join(f'{{"id": "s{n}", "name": "s{n}", "body": "b"}}\n' for n in range(3_000)))
    command = [sys.executable, "-c", OPEN_IN_ANOTHER_PROCESS, str(tmp_path), str(records)]
    runs = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in "ab"]
    for run in runs:
        assert run.stdin is not None
        run.stdin.write("go\n")
        run.stdin.flush()
    answers = [run.communicate(timeout=60)[0].split() for run in runs]
    assert sorted(answer[1] for answer in answers) == ["built", "reused"]
    assert answers[0][0] == answers[1][0]


def test_paths_of_every_kind_are_pools(workspace: Workspace, skills: Path, tmp_path: Path) -> None:
    shards = tmp_path / "shards"
    shards.mkdir()
    (shards / "part-0.jsonl").write_text('{"id": "a", "name": "a", "body": "b"}\n')
    (shards / "part-1.jsonl").write_text('{"id": "b", "name": "b", "body": "b"}\n')
    define(workspace, "few", "  - folder: {path: few}\n")
    built = open_pool(str(skills), workspace).path
    for path, ids in (
        (skills, ("alpha", "group/beta")),
        (workspace.roots[0] / "pools" / "few.yaml", ("alpha", "group/beta")),
        (built, ("alpha", "group/beta")),
        (shards, ("a", "b")),
        (shards / "part-1.jsonl", ("b",)),
    ):
        assert open_pool(str(path), workspace).ids() == ids


def test_a_name_wins_over_a_folder_of_that_name_unless_it_is_a_path(
    workspace: Workspace, skills: Path, make_skill: MakeSkill, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    define(workspace, "few", "  - folder: {path: few}\n")
    make_skill(tmp_path / "few" / "gamma")
    make_skill(tmp_path / "loose" / "delta")
    monkeypatch.chdir(tmp_path)
    assert "alpha" in open_pool("few", workspace)
    assert open_pool("./few", workspace).ids() == ("gamma",)
    assert open_pool("loose", workspace).ids() == ("delta",)


def test_an_unknown_name_names_the_nearest_pool(workspace: Workspace, skills: Path) -> None:
    define(workspace, "few", "  - folder: {path: few}\n")
    with pytest.raises(UnknownNameError, match=r"unknown pool 'few2'; did you mean 'few'\?.*\.jsonl"):
        open_pool("few2", workspace)


@pytest.mark.parametrize("path", ["/does/not/exist", "nowhere.jsonl.gz", "nowhere.pool", "./nowhere"])
def test_SB19_a_path_that_is_not_there_is_an_error(workspace: Workspace, path: str) -> None:
    with pytest.raises(MissingDataError, match=path.removeprefix("./")):
        open_pool(path, workspace)


def test_SB19_a_pool_without_any_skill_is_an_error(workspace: Workspace, tmp_path: Path) -> None:
    (tmp_path / "bare").mkdir()
    with pytest.raises(MissingDataError, match=r"no SKILL\.md and no record found in folder"):
        open_pool(str(tmp_path / "bare"), workspace)


def test_a_pool_of_rejects_alone_is_an_error(workspace: Workspace, tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_bytes(b"\xff\xfe\0")
    with pytest.raises(GateError, match="none of 1 finds is a skill"):
        open_pool(str(tmp_path / "x.jsonl"), workspace)


def test_a_file_of_another_kind_is_refused(workspace: Workspace, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("x")
    with pytest.raises(UsageError, match="is no pool; give a folder"):
        open_pool(str(tmp_path / "notes.txt"), workspace)


def test_pools_are_made_of_pools(workspace: Workspace, skills: Path, tmp_path: Path) -> None:
    records = tmp_path / "more.jsonl"
    records.write_text('{"id": "text", "name": "text", "description": "d", "body": "b"}\n')
    define(workspace, "few", "  - folder: {path: few}\n")
    define(workspace, "all", f"  - pool: few\n  - jsonl: {{path: {records}}}\n")
    define(workspace, "turned", f"  - jsonl: {{path: {records}}}\n  - pool: few\n")
    pool = open_pool("all", workspace)
    assert pool.ids() == ("alpha", "group/beta", "text")
    assert pool.tree("alpha").digest == open_pool("few", workspace).tree("alpha").digest
    assert pool.is_text_only("text")
    assert open_pool("turned", workspace).fingerprint == pool.fingerprint
    (skills / "alpha" / "new.txt").write_text("x")
    assert open_pool("all", workspace).fingerprint != pool.fingerprint


def test_a_pool_that_includes_itself_is_refused(workspace: Workspace) -> None:
    define(workspace, "one", "  - pool: two\n")
    define(workspace, "two", "  - pool: one\n")
    with pytest.raises(UsageError, match="pool one > two > one: includes itself"):
        open_pool("one", workspace)


def test_skills_of_a_suite_need_its_tasks(
    workspace: Workspace, make_skill: MakeSkill, tmp_path: Path
) -> None:
    make_skill(tmp_path / "data" / "task-1" / "environment" / "skills" / "gamma")
    define(workspace, "gold", "  - task_skills: {suite: bench}\n")
    with pytest.raises(MissingDataError, match="workbench fetch bench"):
        open_pool("gold", workspace)
    asked: list[str] = []

    def suite_data(suite: str) -> Path:
        asked.append(suite)
        return tmp_path / "data"

    assert open_pool("gold", workspace, suite_data=suite_data).ids() == ("gt/gamma",)
    assert set(asked) == {"bench"}


def test_SP12_one_bad_skill_stops_nothing_and_is_accounted_for(workspace: Workspace, skills: Path) -> None:
    (skills / "broken").mkdir()
    (skills / "broken" / "SKILL.md").write_text("---\n: [\n---\nbody\n")
    pool = open_pool(str(skills), workspace)
    assert pool.ids() == ("alpha", "group/beta")
    counts = pool.header.counts
    assert (counts.found, counts.accepted, counts.rejected) == (3, 2, 1)
    assert counts.reasons == {"bad_yaml": 1}
    (row,) = rejects(pool)
    assert row["id"] == "broken"
    assert row["origin"] == str(skills / "broken" / "SKILL.md")
    assert (row["reason"], row["line"]) == ("bad_yaml", 2)


def test_SP13_a_named_pool_keeps_its_budget_of_rejects(workspace: Workspace, skills: Path) -> None:
    (skills / "empty").mkdir()
    (skills / "empty" / "SKILL.md").touch()
    define(workspace, "few", "  - folder: {path: few}\n")
    with pytest.raises(GateError, match=r"few: 1 of 3 rejected, 0 allowed \(empty_file 1\)"):
        open_pool("few", workspace)
    assert not list((workspace.cache / "pools").glob("*.pool"))
    assert len(list((workspace.cache / "pools").glob("*.rejects.jsonl"))) == 1
    define(workspace, "few", "  - folder: {path: few}\n", "rejects_allowed: 1\n")
    assert len(open_pool("few", workspace)) == 2


def test_a_count_that_is_not_the_expected_one_is_a_failed_check(workspace: Workspace, skills: Path) -> None:
    define(workspace, "few", "  - folder: {path: few}\n", "count: 3\n")
    with pytest.raises(GateError, match="few: holds 2 skills where 3 are expected"):
        open_pool("few", workspace)


def test_SP15_a_second_find_of_an_id_is_rejected_and_names_may_repeat(
    workspace: Workspace, skills: Path, make_skill: MakeSkill
) -> None:
    make_skill(skills / "copy", name="alpha")
    define(
        workspace, "few", "  - folder: {path: few}\n  - folder: {path: few/group}\n", "rejects_allowed: 9\n"
    )
    make_skill(skills / "group" / "alpha", name="alpha")
    pool = open_pool("few", workspace)
    assert pool.ids() == ("alpha", "beta", "copy", "group/alpha", "group/beta")
    assert pool.by_name("alpha") == ["alpha", "copy", "group/alpha"]
    assert pool.header.counts.reasons == {"duplicate_id": 1}
    assert rejects(pool)[0]["id"] == "alpha"


def test_F01_a_canary_behind_links_is_nowhere_in_what_is_written(
    workspace: Workspace, skills: Path, make_skill: MakeSkill, tmp_path: Path
) -> None:
    outside = make_skill(tmp_path / "outside", body="canary-5b1f")
    make_skill(skills / "thief").joinpath("data").symlink_to(outside)
    (skills / "whole").symlink_to(outside)
    (skills / "alpha" / "SKILL.md").unlink()
    (skills / "alpha" / "SKILL.md").symlink_to(outside / "SKILL.md")
    pool = open_pool(str(skills), workspace)
    assert pool.ids() == ("group/beta",)
    assert pool.header.counts.reasons == {"symlink_escape": 3}
    for file in (workspace.cache / "pools").iterdir():
        assert b"canary-5b1f" not in file.read_bytes()


def test_F14_everything_found_is_accounted_for_in_any_order(
    workspace: Workspace, make_skill: MakeSkill, tmp_path: Path
) -> None:
    fingerprints = set()
    for seed in range(3):
        root = tmp_path / f"walk-{seed}"
        numbers = list(range(200))
        random.Random(seed).shuffle(numbers)
        for number in numbers:
            folder = make_skill(root / f"group-{number % 7}" / f"skill-{number}")
            if number % 20 == 0:
                (folder / "SKILL.md").write_bytes(b"\xff\xfe\x00")
        pool = open_pool(str(root), workspace)
        counts = pool.header.counts
        assert (counts.found, counts.rejected) == (200, 10)
        assert counts.accepted + counts.repaired + counts.rejected == counts.found
        assert len(rejects(pool)) == 10
        fingerprints.add(pool.fingerprint)
    assert len(fingerprints) == 1


def test_nested_skills_and_links_are_counted(
    workspace: Workspace, skills: Path, make_skill: MakeSkill
) -> None:
    make_skill(skills / "alpha" / "inner")
    (skills / "again").symlink_to("alpha")
    (skills / "linked").mkdir()
    (skills / "linked" / "SKILL.md").symlink_to("../alpha/SKILL.md")
    header = open_pool(str(skills), workspace).header
    assert (header.counts.found, header.counts.nested, header.counts.links) == (4, 1, 2)
    assert header.links == ("again -> alpha", "linked/SKILL.md -> alpha/SKILL.md")


@pytest.mark.parametrize("cache", ["a file", "read-only"])
def test_F20_a_pool_that_finds_no_room_lives_in_a_temporary_folder(
    workspace: Workspace,
    skills: Path,
    tmp_path: Path,
    cache: str,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if cache == "a file":
        workspace.cache.write_text("in the way")
    elif os.geteuid() == 0:
        pytest.skip("root may write everywhere")
    else:
        workspace.cache.mkdir(mode=0o500)
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    pool = open_pool(str(skills), workspace)
    assert len(pool) == 2
    assert f"cannot write to {workspace.cache / 'pools'} (" in caplog.text
    assert "the pool is not kept" in caplog.text
    assert list((tmp_path / "tmp").iterdir())
    del pool
    gc.collect()
    assert not list((tmp_path / "tmp").iterdir())


OPEN = """
import sys
from pathlib import Path
from workbench.core.workspace import Workspace
from workbench.skills.opening import open_pool
print(len(open_pool(sys.argv[2], Workspace((), Path(sys.argv[1]), Path(sys.argv[1])))))
"""


@pytest.mark.parametrize("options", ["ro", "size=4k", "size=16k"])
def test_F20_a_disk_without_room_costs_the_cache_and_not_the_pool(
    tmp_path: Path, skills: Path, options: str
) -> None:
    disk, tmp = tmp_path / "disk", tmp_path / "tmp"
    disk.mkdir()
    tmp.mkdir()
    inside = ["unshare", "-Urm", "sh", "-c", f'mount -t tmpfs -o {options} none "$0" && exec "$@"', str(disk)]
    probe = subprocess.run([*inside, "true"], capture_output=True, text=True, check=False)
    if probe.returncode:
        pytest.skip(f"no mount namespaces here: {probe.stderr.strip()}")
    env = {"TMPDIR": str(tmp), "PYTHONPATH": str(Path(__file__).parents[3])}
    command = [*inside, sys.executable, "-c", OPEN, str(disk), str(skills)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=env)
    assert (done.returncode, done.stdout) == (0, "2\n"), done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert "the pool is not kept" in done.stderr
    assert not list(tmp.iterdir())


def test_building_always_reads(workspace: Workspace, skills: Path, tmp_path: Path) -> None:
    watcher = Watcher()
    opener = PoolOpener(workspace, progress=watcher)
    recipe = opener.recipe(str(skills))
    for _ in range(2):
        assert opener.build(recipe, tmp_path / "out.pool").count == 2
    assert watcher.told["reading skills"] == 4


DEFINITIONS = {
    "sources:\n  - foldr: {path: x}\n": r"bad.yaml:3: sources.0.foldr: unknown key; did you mean 'folder'",
    "sources:\n  - folder: {pth: x}\n": r"bad.yaml:3: sources.0.folder.pth: unknown key; did you mean 'path'",
    "sources:\n  - folder: {path: x}\n    pool: y\n": "bad.yaml:3: sources.0: give exactly one of",
    "sources: []\n": "bad.yaml:2: sources: ",
    "sources:\n  - jsonl: {path: x, url: 'https://x'}\n": "bad.yaml:3: sources.0.jsonl: give either path or",
    "sources:\n  - jsonl: {url: 'https://x'}\n": "bad.yaml:3: sources.0.jsonl: a url needs sha256",
    "sources:\n  - jsonl: {url: 'ftp://x', sha256: aa}\n": r"bad.yaml:3: sources.0.jsonl.(url|sha256): ",
    "sources:\n  - task_skills: {}\n": "bad.yaml:3: sources.0.task_skills: give either suite or path",
    "sources:\n  - pool: x\ncuont: 3\n": r"bad.yaml:4: cuont: unknown key; did you mean 'count'",
    "sources:\n  - pool: x\nrejects_allowed: -1\n": "bad.yaml:4: rejects_allowed: ",
    "sources: {\n": "bad.yaml:[23]: not valid YAML",
}


@pytest.mark.parametrize("text", DEFINITIONS)
def test_a_wrong_definition_names_its_line_and_key(workspace: Workspace, text: str) -> None:
    (workspace.roots[0] / "pools" / "bad.yaml").write_text(f"description: x\n{text}")
    with pytest.raises(ContentError, match=DEFINITIONS[text]):
        open_pool("bad", workspace)


BUILD_ON_A_FULL_DISK = """
import resource, signal, sys
from pathlib import Path
from workbench.core.errors import MachineError
from workbench.core.workspace import Workspace
from workbench.skills.opening import open_pool
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
try:
    open_pool(sys.argv[2], Workspace((), Path(sys.argv[1]), Path(sys.argv[1], "cache")))
except MachineError as error:
    print(error)
"""


def test_F20_a_full_disk_is_one_clear_error_and_leaves_nothing(tmp_path: Path) -> None:
    records = tmp_path / "records.jsonl"
    records.write_text("".join(f'{{"id": "s{n}", "body": "{"b" * 1000}"}}\n' for n in range(300)))
    command = [sys.executable, "-c", BUILD_ON_A_FULL_DISK, str(tmp_path), str(records)]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert run.stdout.startswith(f"no place to write a pool: neither {tmp_path / 'cache' / 'pools'} nor ")
    assert run.stdout.rstrip().endswith("set SKILL_WORKBENCH_CACHE to another folder")
    assert not [path.name for path in (tmp_path / "cache" / "pools").iterdir() if ".lock" not in path.name]
