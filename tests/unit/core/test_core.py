"""Names, paths, digests, atomic writing and safe printing."""

from __future__ import annotations

import contextlib
import io
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.cli.main import run
from workbench.core.atomic import atomic_open, check_writable, write_text
from workbench.core.digest import digest_json, digest_parts
from workbench.core.errors import POLICY, MachineError, TrialError, UnknownNameError, policy, read_fault
from workbench.core.plugins import load_plugin, plugin_names
from workbench.core.terminal import filled, safe
from workbench.core.types import Arm, ranked
from workbench.core.workspace import Workspace, cache_root, find_workspace


def test_a_mistyped_name_gets_the_nearest_one() -> None:
    assert (
        str(UnknownNameError("router", "bm52", ["bm25", "random"]))
        == "unknown router 'bm52'; did you mean 'bm25'?"
    )
    assert "there are: a, b" in str(UnknownNameError("router", "zzz", ["b", "a"]))
    assert "there is none" in str(UnknownNameError("router", "zzz", []))


def test_a_message_is_filled_without_tearing_words_apart() -> None:
    path = "/a/path/that/is/longer-than/the/line"
    assert filled(f"workbench: {path}: no such log or folder", 24).splitlines() == [
        "workbench:",
        f"  {path}:",
        "  no such log or folder",
    ]


class Terminal(io.StringIO):
    """A stream that says that it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("stream", "lines"), [(Terminal, 3), (io.StringIO, 1)])
def test_an_error_is_one_line_for_programs_and_is_filled_at_a_terminal(
    stream: type[io.StringIO], lines: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setattr("sys.stderr", stderr := stream())
    assert run(["route", "--router", "bm25"]) == 1
    said = stderr.getvalue().splitlines()
    assert len(said) == lines
    assert all(line.startswith("  ") for line in said[1:])


def test_an_unknown_cause_is_a_fault_of_the_harness() -> None:
    assert policy("something new") == POLICY["harness_bug"]
    assert {cause for cause, entry in POLICY.items() if entry.stops_run} == {
        "config:auth",
        "config:model",
        "config:router",
        "invalid_treatment",
    }
    assert str(TrialError("infra:build", "no space")) == "[infra:build] no space"


def test_only_what_the_agent_did_to_its_container_is_a_cause_that_is_a_result() -> None:
    valid = {cause: entry for cause, entry in POLICY.items() if entry.valid}
    assert {cause: (entry.score, entry.retry) for cause, entry in valid.items()} == {
        "agent_resource": (0.0, False),
        "agent_damage": (0.0, False),
    }
    assert not policy("something new").valid


@pytest.mark.parametrize(
    ("message", "cause", "detail"),
    [
        ("[infra:build] no space", "infra:build", "no space"),
        (repr(TrialError("infra:build", "no space")), "infra:build", "no space"),
        ("RuntimeError('[infra:engine] gone')", "infra:engine", "gone"),
        ("[nonsense] x", "harness_bug", "[nonsense] x"),
        ("KeyError('a')", "harness_bug", "KeyError('a')"),
    ],
)
def test_a_fault_can_be_read_back_from_a_log(message: str, cause: str, detail: str) -> None:
    assert read_fault(message) == (cause, detail)


def test_plugins_are_found_by_file_name_and_loaded_by_name() -> None:
    assert "progressive" in plugin_names("workbench.disclosure")
    assert load_plugin("workbench.disclosure", "none", "disclosure").present
    with pytest.raises(UnknownNameError, match="did you mean 'progressive'"):
        load_plugin("workbench.disclosure", "progresive", "disclosure")


@given(st.dictionaries(st.text(max_size=3), st.floats(-5, 5), max_size=8), st.integers(0, 9), st.randoms())
def test_a_ranking_is_totally_ordered_whatever_the_input_order(scores: dict[str, float], k: int, rng) -> None:  # type: ignore[no-untyped-def]
    pairs = list(scores.items())
    shuffled = pairs[:]
    rng.shuffle(shuffled)
    whole = ranked(pairs)
    assert ranked(shuffled) == whole
    assert ranked(shuffled, k) == whole[:k]
    assert [(-s.score, s.id) for s in whole] == sorted((-s, i) for i, s in pairs)


def test_a_skill_ranked_twice_keeps_its_best_score_once() -> None:
    assert ranked([("a", 1.0), ("b", 2.0), ("a", 3.0)]) == (("a", 3.0), ("b", 2.0))


def test_arm_labels_do_not_collide_with_baselines() -> None:
    labels = {Arm("none").label, Arm("gold").label, Arm("routed", "none").label, Arm("routed", "gold").label}
    assert labels == {"none", "gold", "routed-none", "routed-gold"}


def test_a_workspace_overlays_the_packaged_content(tmp_path: Path) -> None:
    (tmp_path / "routers").mkdir()
    (tmp_path / "routers" / "mine.yaml").write_text("description: x\n")
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    workspace = find_workspace(inner, {})
    assert workspace.base == tmp_path
    assert workspace.find("routers", "mine") == tmp_path / "routers" / "mine.yaml"
    assert "mine" in workspace.names("routers")
    assert "quickstart" in workspace.names("tasks")


@pytest.mark.parametrize("name", ["../x", "/etc/passwd", "..", ".", "", "a/b", "a\\b"])
def test_a_name_is_never_a_path(tmp_path: Path, name: str) -> None:
    with pytest.raises(UnknownNameError):
        find_workspace(tmp_path, {}).find("routers", name)


def test_a_folder_or_a_broken_link_in_place_of_a_file_hides_nothing(tmp_path: Path) -> None:
    (tmp_path / "routers" / "folder.yaml").mkdir(parents=True)
    (tmp_path / "routers" / "link.yaml").symlink_to(tmp_path / "nowhere")
    (tmp_path / "routers" / "mine.yaml").write_text("description: d\n")
    assert Workspace((tmp_path,), tmp_path, tmp_path).names("routers") == ["mine"]


def test_the_cache_can_be_moved() -> None:
    assert cache_root({"SKILL_WORKBENCH_CACHE": "/x/y"}) == Path("/x/y")
    assert cache_root({"XDG_CACHE_HOME": "/x"}) == Path("/x/skill-workbench")


def test_an_interrupted_write_leaves_the_old_file_and_no_litter(tmp_path: Path) -> None:
    target = tmp_path / "deep" / "x.json"
    write_text(target, "old")
    with contextlib.suppress(RuntimeError), atomic_open(target) as file:
        file.write(b"half")
        raise RuntimeError
    assert target.read_text() == "old"
    assert [path.name for path in target.parent.iterdir()] == ["x.json"]


def test_a_folder_that_cannot_be_written_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(MachineError, match="cannot write"):
        write_text(tmp_path / "file" / "x", "text")


def test_a_file_keeps_its_mode_a_link_is_followed_and_a_new_one_heeds_the_umask(tmp_path: Path) -> None:
    """A private report once became readable to all, and a link to one was replaced by a file."""
    secret, link, new = tmp_path / "secret", tmp_path / "link", tmp_path / "new"
    secret.write_text("old")
    secret.chmod(0o600)
    link.symlink_to(secret)
    before = os.umask(0o027)
    try:
        write_text(link, "one")
        write_text(new, "two")
    finally:
        os.umask(before)
    assert link.is_symlink()
    assert secret.read_text() == "one"
    assert [path.stat().st_mode & 0o777 for path in (secret, new)] == [0o600, 0o640]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "new", "secret"]


def test_digests_frame_their_parts_and_ignore_key_order() -> None:
    assert digest_parts(["ab", "c"]) != digest_parts(["a", "bc"])
    assert digest_json({"a": 1, "b": 2}) == digest_json({"b": 2, "a": 1})


@given(st.text())
def test_nothing_printed_can_move_the_cursor_or_reverse_text(text: str) -> None:
    shown = safe(text)
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert len(shown) == len(text)
    shown.encode("utf-8")


def test_a_cut_text_says_so() -> None:
    assert safe("abcdef", 4) == "abc…"


def test_a_place_is_found_writable_or_not_and_nothing_is_left(tmp_path: Path) -> None:
    check_writable(tmp_path / "new" / "deep" / "x")
    assert not list(tmp_path.iterdir())
    (tmp_path / "file").touch()
    with pytest.raises(MachineError, match=r"cannot write .*file/x: Not a directory; choose another place"):
        check_writable(tmp_path / "file" / "x")
    with pytest.raises(MachineError, match="it is there and is no file"):
        check_writable(tmp_path)


def test_a_device_is_never_replaced_by_a_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for place in (tmp_path / "pipe", Path("/dev/null")):
        for write in (check_writable, lambda target: write_text(target, "scores")):
            with pytest.raises(MachineError, match="it is there and is no file; choose another place"):
                write(place)
    assert (tmp_path / "pipe").is_fifo()
    assert Path("/dev/null").is_char_device()


def test_an_error_about_something_else_passes_through_unchanged(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), atomic_open(tmp_path / "out"):
        (tmp_path / "source").read_bytes()
    assert not list(tmp_path.iterdir())
