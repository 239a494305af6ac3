"""Folder names are one safe segment; installers get distinct ones."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.skills.folders import safe_folder, unique_folders
from workbench.skills.skill import Skill


def skill(skill_id: str, folder: str) -> Skill:
    return Skill(skill_id, "name", "", "", folder, "")


@pytest.mark.parametrize(
    "name", ["mesh-analysis", "PDF_tools", "v1.2", "My Skill", "日本語", "café", "a+b@c"]
)
def test_usual_names_stay_as_they_are(name: str) -> None:
    assert safe_folder(name) == name


@pytest.mark.parametrize(
    "name",
    ["../../x", "/tmp/x", "a\\b", "nul\0", "x" * 300, "CON", "con.txt", ".", "..", "", " ", "-rf", "$(id)"],
)
def test_F03_unsafe_names_become_one_safe_segment(name: str) -> None:
    folder = safe_folder(name)
    assert folder
    assert not set(folder) & set("/\\\0$()")
    assert folder not in {".", "..", name}
    assert not folder.startswith(("-", "."))
    assert len(folder.encode()) <= 100


@given(st.text(max_size=200))
def test_every_name_gives_one_segment_that_stays_inside(name: str) -> None:
    folder = safe_folder(name)
    assert PurePosixPath("root", folder).parts == ("root", folder)
    assert safe_folder(folder) == folder
    assert folder.isprintable()


def test_long_names_that_differ_at_their_end_stay_apart() -> None:
    assert safe_folder("x" * 200 + "a") != safe_folder("x" * 200 + "b")


def test_SP15_the_same_folder_is_told_apart_the_same_way_in_any_order() -> None:
    skills = [skill("b/demo", "demo"), skill("a/demo", "demo"), skill("c", "demo-2"), skill("d", "Demo")]
    expected = {"a/demo": "demo", "b/demo": "demo-3", "c": "demo-2", "d": "Demo-4"}
    assert unique_folders(skills) == expected
    assert unique_folders(reversed(skills)) == expected
    assert len({folder.casefold() for folder in expected.values()}) == len(expected)
