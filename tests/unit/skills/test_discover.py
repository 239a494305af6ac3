"""Walking hostile folders: nothing outside is read, nothing hangs, everything is accounted for."""

from __future__ import annotations

import os
import resource
import socket
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from workbench.skills import discover
from workbench.skills.discover import Candidate, read_tree, walk
from workbench.skills.refusal import RefusedError

MakeSkill = Callable[..., Path]
CANARY = "canary-5b1f"


def found(root: Path) -> dict[str, Candidate]:
    return {candidate.path: candidate for candidate in walk(root)}


def reasons(root: Path) -> dict[str, str]:
    return {path: c.problem.reason for path, c in found(root).items() if c.problem is not None}


def refusal_of(root: Path, path: str) -> str:
    with pytest.raises(RefusedError) as refused:
        read_tree(root, path)
    return refused.value.problem.reason


@pytest.fixture
def outside(tmp_path: Path, make_skill: MakeSkill) -> Path:
    """A skill beside the root whose text must never be seen."""
    return make_skill(tmp_path / "outside", body=CANARY)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "root"
    folder.mkdir()
    return folder


def test_SP11_skills_are_found_at_any_depth_in_sorted_order(root: Path, make_skill: MakeSkill) -> None:
    for path in ("b", "a/x/y/z", "a-b"):
        make_skill(root / path)
    assert [candidate.path for candidate in walk(root)] == ["a/x/y/z", "a-b", "b"]


def test_a_root_that_is_a_skill_itself_is_found(root: Path, make_skill: MakeSkill) -> None:
    make_skill(root)
    assert list(found(root)) == ["."]
    assert set(read_tree(root, ".").files) == {"SKILL.md"}


@pytest.mark.parametrize("spelling", ["skill.md", "Skill.md", "SKILL.MD"])
def test_skill_files_are_found_in_any_case_and_installed_as_SKILL_md(root: Path, spelling: str) -> None:
    (root / "a").mkdir()
    (root / "a" / spelling).write_text("text of it")
    assert found(root)["a"].file == spelling
    assert read_tree(root, "a").files["SKILL.md"].data == b"text of it"


def test_of_two_spellings_the_usual_one_is_taken_and_the_other_refused(
    root: Path, make_skill: MakeSkill
) -> None:
    make_skill(root / "a", **{"skill.md": "other"})
    taken, other = list(walk(root))
    assert (taken.file, taken.problem) == ("SKILL.md", None)
    assert other.problem is not None
    assert (other.file, other.problem.reason) == ("skill.md", "second_skill_file")
    assert set(read_tree(root, "a").files) == {"SKILL.md", "skill.md"}


def test_SP11_a_nested_skill_is_its_own_and_part_of_the_outer_tree(root: Path, make_skill: MakeSkill) -> None:
    make_skill(root / "outer")
    make_skill(root / "outer" / "parts" / "inner")
    assert found(root)["outer/parts/inner"].outer == "outer"
    assert found(root)["outer"].outer is None
    assert set(read_tree(root, "outer").files) == {"SKILL.md", "parts/inner/SKILL.md"}


def test_SP24_every_file_is_taken_byte_for_byte(root: Path, make_skill: MakeSkill) -> None:
    folder = make_skill(root / "a", **{"_hidden.py": "1", ".env": "2"})
    (folder / "bin").mkdir()
    (folder / "bin" / "tool").write_bytes(b"\x00\xff\r\n")
    (folder / "bin" / "tool").chmod(0o755)
    (folder / ".git").mkdir()
    (folder / ".git" / "HEAD").write_text("ref")
    files = read_tree(root, "a").files
    assert set(files) == {"SKILL.md", "_hidden.py", ".env", "bin/tool"}
    assert files["bin/tool"].data == b"\x00\xff\r\n"
    assert files["bin/tool"].executable
    assert not files["SKILL.md"].executable


def test_F01_a_link_out_of_the_root_refuses_the_skill(
    root: Path, outside: Path, make_skill: MakeSkill
) -> None:
    make_skill(root / "file" / "references").joinpath("x.md").symlink_to("/etc/passwd")
    make_skill(root / "folder").joinpath("references").symlink_to(outside)
    (root / "own").mkdir()
    (root / "own" / "SKILL.md").symlink_to(outside / "SKILL.md")
    assert reasons(root) == {"own": "symlink_escape"}
    assert refusal_of(root, "file/references") == "symlink_escape"
    assert refusal_of(root, "folder") == "symlink_escape"


def test_F01_a_linked_folder_out_of_the_root_is_refused_where_it_stands(root: Path, outside: Path) -> None:
    (root / "a").symlink_to(outside)
    (root / "gone").symlink_to(root / "nowhere")
    (root / "self").symlink_to(root / "self")
    assert reasons(root) == {"a": "symlink_escape", "gone": "symlink_broken", "self": "symlink_cycle"}


def test_SP05_a_link_inside_the_root_counts_as_what_it_points_to_and_is_recorded(
    root: Path, make_skill: MakeSkill
) -> None:
    (root / "shared").mkdir()
    (root / "shared" / "a.md").write_text("shared text")
    (root / "a").mkdir()
    (root / "a" / "SKILL.md").symlink_to("../shared/a.md")
    make_skill(root / "b").joinpath("data").symlink_to("../shared")
    (root / "c").symlink_to("b")
    links: list[str] = []
    assert [c.path for c in walk(root, links.append)] == ["a", "b"]
    assert read_tree(root, "a").files["SKILL.md"].data == b"shared text"
    assert read_tree(root, "b", links.append).files["data/a.md"].data == b"shared text"
    assert links == ["a/SKILL.md -> shared/a.md", "c -> b", "b/data -> shared"]


def test_F02_a_cycle_of_links_ends(root: Path, make_skill: MakeSkill) -> None:
    make_skill(root / "a").joinpath("loop").symlink_to("..")
    (root / "up").symlink_to(".")
    assert list(found(root)) == ["a"]
    assert refusal_of(root, "a") == "symlink_cycle"


def test_F02_links_that_fan_out_meet_a_bound(root: Path, make_skill: MakeSkill) -> None:
    make_skill(root / "a")
    for level in range(10):
        folder = root / "a" / f"l{level}"
        folder.mkdir()
        for link in range(4):
            (folder / f"f{link}").symlink_to(f"../l{level + 1}")
    (root / "a" / "l10").mkdir()
    assert refusal_of(root, "a") == "too_many_files"


def test_F02_folders_deeper_than_the_bound_are_reported_not_searched(
    root: Path, make_skill: MakeSkill
) -> None:
    make_skill(root.joinpath(*["d"] * 12))
    make_skill(root.joinpath(*["e"] * 50))
    at_bound, beyond = found(root).values()
    assert (at_bound.path, at_bound.problem) == ("/".join("d" * 12), None)
    assert beyond.problem is not None
    assert (beyond.path, beyond.problem.reason) == ("/".join("e" * 13), "too_deep")
    make_skill(root / "tall").joinpath(*["f"] * 50).mkdir(parents=True)
    assert refusal_of(root, "tall") == "too_deep"


def test_F02_special_files_are_refused_without_waiting(root: Path, make_skill: MakeSkill) -> None:
    os.mkfifo(make_skill(root / "fifo") / "pipe")
    (root / "own").mkdir()
    os.mkfifo(root / "own" / "SKILL.md")
    with socket.socket(socket.AF_UNIX) as listening:
        make_skill(root / "s")
        here = Path.cwd()
        os.chdir(root / "s")
        listening.bind("x")
        os.chdir(here)
        assert refusal_of(root, "s") == "special_file"
    assert reasons(root) == {"own": "special_file"}
    assert refusal_of(root, "fifo") == "special_file"


def test_F02_a_folder_with_too_many_files_is_refused(root: Path, make_skill: MakeSkill) -> None:
    folder = make_skill(root / "a")
    for number in range(discover.MAX_FILES):
        (folder / str(number)).touch()
    assert refusal_of(root, "a") == "too_many_files"


def test_F09_huge_files_are_refused_unread(root: Path, make_skill: MakeSkill) -> None:
    for name, size in (("fifty", 50_000_000), ("two-thousand", 2_000_000_000)):
        (root / name).mkdir()
        with (root / name / "SKILL.md").open("wb") as file:
            file.truncate(size)
    with (make_skill(root / "data") / "big.bin").open("wb") as file:
        file.truncate(discover.MAX_TREE_BYTES + 1)
    before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    assert reasons(root) == {"fifty": "too_large", "two-thousand": "too_large"}
    assert refusal_of(root, "data") == "too_large"
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 32 * 1024
    assert time.process_time() - start < 1


def test_a_name_that_is_not_utf8_is_refused(root: Path, make_skill: MakeSkill) -> None:
    make_skill(root / "a")
    try:
        (root / "a" / os.fsdecode(b"caf\xe9")).touch()
        (root / os.fsdecode(b"\xff")).mkdir()
    except OSError:
        pytest.skip("this file system takes only UTF-8 names")
    assert refusal_of(root, "a") == "path_not_utf8"
    assert reasons(root) == {"\\udcff": "path_not_utf8"}


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_what_may_not_be_read_is_refused(root: Path, make_skill: MakeSkill) -> None:
    make_skill(root / "a").joinpath("SKILL.md").chmod(0)
    (root / "b").mkdir(mode=0)
    assert reasons(root) == {"b": "unreadable"}
    assert refusal_of(root, "a") == "unreadable"


def test_a_root_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OSError):
        list(walk(tmp_path / "nowhere"))
