"""Every pool that ships: its file is right, and where its sources ship too, it builds as it says."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.core.workspace import Workspace, cache_root, packaged_root
from workbench.skills.definition import load_definition
from workbench.skills.opening import open_pool

FILES = sorted((packaged_root() / "pools").glob("*.yaml"))
SHIPPED = {"folder"}
WHOLE = [path for path in FILES if {source.kind for source in load_definition(path).sources} == SHIPPED]
"""Those whose skills ship too; the others' are fetched, which the tests of fetching hold."""


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_pool_file_is_right_and_described_in_one_line(path: Path) -> None:
    definition = load_definition(path)
    assert "\n" not in definition.description
    assert definition.sources


@pytest.mark.parametrize("path", WHOLE, ids=lambda path: path.stem)
def test_a_pool_whose_skills_ship_builds_as_it_says(path: Path) -> None:
    definition = load_definition(path)
    workspace = Workspace((packaged_root(),), Path.cwd(), cache_root())
    with open_pool(path.stem, workspace) as pool:
        assert pool.name == path.stem
        assert len(pool) == (definition.count or len(pool))
        pool.verify()
