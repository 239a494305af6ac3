"""A pool file: lazy, immutable, checked, and the same wherever it was built."""

from __future__ import annotations

import pickle
import random
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from workbench.core.errors import MissingDataError, UnknownNameError
from workbench.skills.pool import Pool
from workbench.skills.reader import read_skill
from workbench.skills.skill import SkillFile, SkillTree
from workbench.skills.writer import Entry, text_entry, write_pool

MakePool = Callable[..., Pool]
TREE = SkillTree({"SKILL.md": SkillFile(b"---\nname: x\n---\n"), "run.sh": SkillFile(b"\x00\xff", True)})


def folder_entry(skill_id: str, tree: SkillTree = TREE) -> Entry:
    return Entry(skill_id, "x", "About x", "# x", "x", tree)


def test_skills_come_back_as_they_were_written_in_id_order(make_pool: MakePool) -> None:
    pool = make_pool()
    assert pool.ids() == ("a/one", "a/three", "a/two")
    assert len(pool) == 3
    assert [skill.id for skill in pool.skills()] == list(pool.ids())
    skill = pool.get("a/one")
    assert (skill.name, skill.description, skill.body) == ("one", "About one", "# one\n\nDo one.")
    assert skill.folder == "one"
    assert "a/one" in pool
    assert "one" not in pool
    assert 1 not in pool


def test_chosen_skills_come_once_each_in_id_order(make_pool: MakePool) -> None:
    assert [skill.id for skill in make_pool().skills(["a/two", "a/one", "a/two"])] == ["a/one", "a/two"]


def test_all_skills_are_streamed_across_chunks(make_pool: MakePool) -> None:
    ids = [f"s{n:04}" for n in range(600)]
    entries = [text_entry(i, i, "", "") for i in ids]
    random.Random(1).shuffle(entries)
    assert [skill.id for skill in make_pool(*entries).skills()] == ids


@pytest.mark.parametrize("wanted", ["a/thre", "a/oen", "one", "b/two"])
def test_an_unknown_id_names_the_nearest(make_pool: MakePool, wanted: str) -> None:
    nearest = {"a/thre": "a/three", "a/oen": "a/one", "one": "a/one", "b/two": "a/two"}[wanted]
    with pytest.raises(UnknownNameError, match=f"did you mean '{nearest}'"):
        make_pool().get(wanted)


def test_an_unlike_id_lists_what_there_is(make_pool: MakePool) -> None:
    with pytest.raises(UnknownNameError, match="there are: a/one, a/three, a/two"):
        make_pool().tree("zzzzzzzz")


def test_a_tree_is_byte_exact_and_has_the_skills_digest(make_pool: MakePool) -> None:
    pool = make_pool(folder_entry("x"))
    assert pool.tree("x").files == TREE.files
    assert pool.get("x").digest == TREE.digest
    assert not pool.is_text_only("x")


def test_a_skill_from_text_has_a_tree_that_reads_back_as_its_texts(make_pool: MakePool) -> None:
    pool = make_pool(text_entry("a/b", "na: me", "de[scr", "\r\n\r\nbo\rdy  \n"))
    tree, skill = pool.tree("a/b"), pool.get("a/b")
    assert list(tree.files) == ["SKILL.md"]
    assert tree.digest == skill.digest
    found = read_skill(tree.files["SKILL.md"].data, "b")
    assert (found.name, found.description, found.body) == (skill.name, skill.description, "bo\ndy")
    assert pool.is_text_only("a/b")
    assert not pool.is_text_only("unknown")


def test_names_and_copies_are_looked_up(make_pool: MakePool) -> None:
    pool = make_pool(folder_entry("a"), folder_entry("b"), text_entry("c", "other", "", ""))
    assert pool.by_name("x") == ["a", "b"]
    assert pool.by_name("nobody") == []
    assert pool.by_digest(TREE.digest) == ["a", "b"]
    assert pool.repeated_names() == [("x", 2)]
    assert pool.repeated_digests() == [(TREE.digest, 2)]


def test_equal_content_has_equal_fingerprints_in_any_order_name_or_place(make_pool: MakePool) -> None:
    entries = [folder_entry("a"), text_entry("b", "b", "", ""), text_entry("c", "c", "", "")]
    one, other = make_pool(*entries, name="one"), make_pool(*reversed(entries), name="other")
    assert one.fingerprint == other.fingerprint
    assert one.path != other.path


@pytest.mark.parametrize(
    "changed",
    [
        Entry("b", "x", "About x", "# x", "x", TREE),
        Entry("a", "y", "About x", "# x", "x", TREE),
        Entry("a", "x", "About y", "# x", "x", TREE),
        Entry("a", "x", "About x", "# y", "x", TREE),
        Entry("a", "x", "About x", "# x", "y", TREE),
        Entry("a", "x", "About x", "# x", "x", SkillTree({**TREE.files, "run.sh": SkillFile(b"\x00\xff")})),
    ],
)
def test_any_change_changes_the_fingerprint(make_pool: MakePool, changed: Entry) -> None:
    assert make_pool(folder_entry("a"), name="one").fingerprint != make_pool(changed, name="two").fingerprint


def test_a_pool_may_be_empty(tmp_path: Path) -> None:
    write_pool(tmp_path / "none.pool", "none", [])
    pool = Pool(tmp_path / "none.pool")
    assert (len(pool), pool.ids(), list(pool.skills())) == (0, (), [])
    pool.verify()


def test_an_id_is_written_once(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="occurs twice"):
        write_pool(tmp_path / "x.pool", "x", [folder_entry("a"), folder_entry("a")])
    assert list(tmp_path.iterdir()) == []


def test_hostile_texts_are_kept_as_data(make_pool: MakePool) -> None:
    name = "'); DROP TABLE skill; --\0\x1b[2J\u202e"
    pool = make_pool(Entry("☃ #\t'", name, "😀", "", "f", TREE))
    assert pool.get("☃ #\t'").name == name
    assert pool.by_name(name) == ["☃ #\t'"]


def test_many_threads_read_one_pool(make_pool: MakePool) -> None:
    pool = make_pool(*[text_entry(f"s{n}", f"s{n}", "", f"body {n}") for n in range(300)])
    expected = list(pool.skills())
    with ThreadPoolExecutor(8) as threads:
        assert all(
            list(skills) == expected for skills in threads.map(lambda _: list(pool.skills()), range(16))
        )
        bodies = list(threads.map(lambda n: pool.get(f"s{n}").body, range(300)))
    assert bodies == [f"body {n}" for n in range(300)]


def test_an_open_pool_outlives_the_replacement_of_its_file(make_pool: MakePool) -> None:
    pool = make_pool()
    write_pool(pool.path, "small", [])
    assert pool.get("a/one").name == "one"
    assert len(Pool(pool.path)) == 0


def test_a_pool_is_closed_by_its_block(make_pool: MakePool) -> None:
    with make_pool() as pool:
        assert len(pool) == 3
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        pool.get("a/one")


def opening_fails(path: Path, why: str) -> None:
    with pytest.raises(MissingDataError, match=f"{why}.*workbench pool build"):
        Pool(path)


def test_F18_a_damaged_or_foreign_file_is_refused_with_the_command_that_rebuilds_it(
    make_pool: MakePool, tmp_path: Path
) -> None:
    whole = make_pool().path.read_bytes()
    damaged = tmp_path / "damaged.pool"
    for content in (b"", b"not a pool", pickle.dumps({"a": 1})):
        damaged.write_bytes(content)
        opening_fails(damaged, "it is no pool file")
    for length in (len(whole) // 2, len(whole) - 1):
        damaged.write_bytes(whole[:length])
        opening_fails(damaged, "it is cut short")
    damaged.unlink()
    with sqlite3.connect(damaged) as foreign:
        foreign.execute("PRAGMA page_size = 4096")
        foreign.execute("CREATE TABLE header (json, sha256)")
    foreign.close()
    opening_fails(damaged, "it is no pool file")


def test_F18_another_version_is_refused(make_pool: MakePool) -> None:
    path = make_pool().path
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    opening_fails(path, "it has format 99")


def test_F18_a_changed_header_is_refused(make_pool: MakePool) -> None:
    path = make_pool().path
    path.write_bytes(path.read_bytes().replace(b'"count": 3', b'"count": 4'))
    opening_fails(path, "its header does not match its checksum")


def test_F18_a_flipped_byte_in_a_text_or_a_file_is_met_when_it_is_read(make_pool: MakePool) -> None:
    pool = make_pool(folder_entry("x"), text_entry("y", "y", "", "a body to damage"))
    content = pool.path.read_bytes()
    pool.path.write_bytes(content.replace(b"a body to damage", b"a body to demage"))
    with pytest.raises(MissingDataError, match="text of 'y' does not match its digest"):
        Pool(pool.path).get("y")
    with pytest.raises(MissingDataError, match="does not match"):
        list(Pool(pool.path).skills())
    pool.path.write_bytes(content.replace(b"---\nname: x\n---\n", b"---\nname: z\n---\n"))
    with pytest.raises(MissingDataError, match="files of 'x' do not match their digest"):
        Pool(pool.path).tree("x")
    with pytest.raises(MissingDataError):
        Pool(pool.path).verify()


def test_F18_no_flipped_byte_anywhere_is_read_as_truth(make_pool: MakePool) -> None:
    pool = make_pool(folder_entry("x"), text_entry("y", "y", "about y", "a body"))
    truth = [(skill, pool.tree(skill.id).files) for skill in pool.skills()]
    content = bytearray(pool.path.read_bytes())
    rng = random.Random(0)
    for position in rng.sample(range(len(content)), 300):
        content[position] ^= 0xFF
        pool.path.write_bytes(content)
        content[position] ^= 0xFF
        try:
            with Pool(pool.path) as damaged:
                damaged.verify()
                assert [(s, damaged.tree(s.id).files) for s in damaged.skills()] == truth
        except MissingDataError:
            pass


def test_a_missing_file_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(MissingDataError, match="cannot be read"):
        Pool(tmp_path / "nowhere.pool")
