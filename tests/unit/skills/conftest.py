"""Skills on disk, workspaces and pools for the tests of this room."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from workbench.core.workspace import Workspace
from workbench.skills.pool import Pool
from workbench.skills.writer import Entry, text_entry, write_pool

MakeSkill = Callable[..., Path]
MakePool = Callable[..., Pool]


@pytest.fixture
def make_skill() -> MakeSkill:
    """Write a skill's folder: SKILL.md with a name, a description and a body, and other files."""

    def make(folder: Path, name: str | None = None, body: str = "Do it.", **files: str) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        head = f"---\nname: {name or folder.name}\ndescription: About {folder.name}\n---\n"
        (folder / "SKILL.md").write_text(f"{head}\n{body}\n", encoding="utf-8")
        for file, text in files.items():
            (folder / file).write_text(text, encoding="utf-8")
        return folder

    return make


@pytest.fixture
def make_pool(tmp_path: Path) -> MakePool:
    """Write and open a pool of entries, by default three made from text."""

    def make(*entries: Entry, name: str = "small") -> Pool:
        three = [text_entry(f"a/{n}", n, f"About {n}", f"# {n}\n\nDo {n}.") for n in ("one", "two", "three")]
        path = tmp_path / f"{name}.pool"
        write_pool(path, name, entries or three)
        return Pool(path)

    return make


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """A workspace with an empty ``pools/`` and a cache of its own."""
    root = tmp_path / "workspace"
    (root / "pools").mkdir(parents=True)
    return Workspace((root,), root, tmp_path / "cache")
