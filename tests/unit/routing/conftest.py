"""A small real pool, a workspace, and tiny models for the tests of this room."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.routing import pools, tiny_models
from workbench.core.workspace import Workspace
from workbench.routing.language import Complete
from workbench.routing.load import RecipeRouter, load_router
from workbench.routing.stage import SkillCollection
from workbench.skills.pool import Pool

MakeRouter = Callable[..., RecipeRouter]


@pytest.fixture(scope="session")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Pool:
    """Ten skills: three of equal text, one Chinese, one with neither description nor body."""
    return pools.write(tmp_path_factory.mktemp("pool") / "small.pool")


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """A workspace with an empty ``routers/`` and a cache of its own."""
    (tmp_path / "routers").mkdir()
    return Workspace((tmp_path,), tmp_path, tmp_path / "cache")


@pytest.fixture
def make_router(workspace: Workspace, pool: Pool) -> MakeRouter:
    """A router from the text of a recipe's stages."""

    def make(
        stages: str,
        over: SkillCollection | None = None,
        seed: int = 0,
        complete: Complete | None = None,
    ) -> RecipeRouter:
        text = "description: made for a test\nstages:\n" + "".join(
            f"  {line}\n" for line in stages.splitlines()
        )
        (workspace.roots[0] / "routers" / "made.yaml").write_text(text, encoding="utf-8")
        return load_router("made", pool if over is None else over, workspace, seed=seed, complete=complete)

    return make


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with ``tiny/encoder`` and ``tiny/reranker``: random weights, real files."""
    tiny_models.require_dense()
    return tiny_models.provide(tmp_path_factory.mktemp("models"), ["tiny/encoder"], ["tiny/reranker"])
