"""Recipes: what is accepted, and how exactly a mistake is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.core.errors import ContentError, UnknownNameError
from workbench.core.workspace import Workspace
from workbench.routing.load import load_router, router_names
from workbench.routing.recipe import load_recipe
from workbench.skills.pool import Pool


def write(folder: Path, text: str) -> Path:
    path = folder / "made.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_recipe_is_read_with_its_options_and_defaults(tmp_path: Path) -> None:
    text = "description: both\nsource: a paper\nstages:\n  - bm25: {k1: 1.2}\n  - none:\n"
    recipe = load_recipe(write(tmp_path, text))
    assert (recipe.name, recipe.description, recipe.source) == ("made", "both", "a paper")
    assert [stage.method for stage in recipe.stages] == ["bm25", "none"]
    options = recipe.stages[0].options.model_dump()
    assert (options["k1"], options["b"], options["fields"]) == (1.2, 0.75, "full")


HEAD = "description: d\nstages:\n"
FUSE = HEAD + "  - fuse:\n      by: rrf\n      channels:\n        - stages: [bm25: {}]\n"
MISTAKES = [
    (
        HEAD + "  - bm52: {}\n",
        "3: stages: unknown routing method 'bm52'; did you mean 'bm25'? There are: agentic, bm25",
    ),
    (
        HEAD + "  - bm25:\n      k1: 1\n      k11: 2\n",
        "5: bm25.k11: unknown key; did you mean 'k1'? There are: b, delta, fields, k1,",
    ),
    (HEAD + "  - bm25: {b: 2}\n", "3: bm25.b: must be at most 1 (found 2)"),
    (HEAD + "  - bm25:\n      weights:\n        titel: 1\n", "5: bm25.weights.titel: unknown key"),
    (HEAD + "  - bm25: 3\n", "3: bm25: "),
    (HEAD + "  - bm25\n", "3: stages: each must be one `method: {options}`"),
    (HEAD + "  - bm25: {}\n    none: {}\n", "3: stages: each must be one `method: {options}`"),
    (
        HEAD + "  - rerank: {model: a/b, instruction: i}\n",
        "3: rerank: orders what another stage has ranked; put one",
    ),
    (
        HEAD + "  - self_cot: {model: a/b}\n  - judge: {model: a/b}\n",
        "4: judge: orders what another stage has ranked; put one before it",
    ),
    (
        HEAD + "  - dense: {model: a/b}\n  - project:\n  - expand_documents: {model: a/b}\n",
        "5: expand_documents: refines the vectors of `dense`, but the one before must be the last",
    ),
    (HEAD + "  - bm25: {k1: 1.0e+300}\n", "3: bm25.k1: must be at most 1000"),
    (HEAD + "  - bm25: {fields: text, weights: {body: 2}}\n", "3: bm25: weights are of fields scored apart"),
    (HEAD + "  - bm25: {fields: nd, weights: {name: 0, description: 0}}\n", "3: bm25: weights: at least one"),
    (
        FUSE.replace("- stages", "- weight: 0\n          stages")
        + "        - {weight: 0, stages: [bm25: {}]}\n",
        "4: fuse: channels: at least one needs a weight above 0",
    ),
    (HEAD + "  - dense: {model: a b}\n", "3: dense.model: String should match pattern"),
    (HEAD + "  - dense: {}\n", "3: dense.model: is required"),
    (FUSE, "5: fuse.channels"),
    (FUSE + "        - stages:\n            - bm25:\n                kk: 1\n", "9: bm25.kk: unknown key"),
    (FUSE + "        - weight: 1\n", "7: fuse.channels.1.stages: is required"),
    ("description: d\nstages: []\n", "2: stages: must be a list"),
    ("description: d\nstages: bm25\n", "2: stages: must be a list"),
    ("description: d\n", "1: stages: is required"),
    ("description: d\nstage: []\nstages: []\n", "2: stage: unknown key; did you mean 'stages'?"),
    ("stages:\n  - [\n", "not valid YAML"),
    (HEAD + "  - bm25: {k1: " + "9" * 5000 + "}\n", " not valid YAML: Exceeds the limit"),
    (HEAD + '  - "bm\\n25": {}\n', "3: stages: unknown routing method 'bm 25'; did you mean 'bm25'?"),
    (HEAD + "  - fuse: {by: rrf, channels: bm25}\n", "3: fuse.channels: must be a list (found 'bm25')"),
    (HEAD + "  - fuse: {by: rrf, channels: [a, b]}\n", "3: fuse.channels.0: must be a mapping (key: value)"),
]


@pytest.mark.parametrize(("text", "message"), MISTAKES)
def test_a_mistake_is_named_with_file_and_line(tmp_path: Path, text: str, message: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(ContentError) as caught:
        load_recipe(path)
    found = str(caught.value)
    assert found.startswith(f"{path}:")
    assert message in found.removeprefix(f"{path}:")
    assert "\n" not in found


def test_an_unknown_router_names_the_nearest(workspace: Workspace, pool: Pool) -> None:
    for name in ("bm25", "none"):
        (workspace.roots[0] / "routers" / f"{name}.yaml").write_text("description: d\nstages:\n  - none:\n")
    assert router_names(workspace) == ["bm25", "none"]
    with pytest.raises(UnknownNameError, match="unknown router 'bm52'; did you mean 'bm25'"):
        load_router("bm52", pool, workspace)


def test_the_digest_changes_with_an_option_and_not_with_a_written_default(tmp_path: Path) -> None:
    def digest(options: str) -> str:
        return (
            load_recipe(write(tmp_path, f"description: d\nstages:\n  - bm25: {options}\n")).stages[0].digest
        )

    assert digest("{}") == digest("{k1: 1.5}")
    assert digest("{}") != digest("{k1: 1.6}")


def test_the_digest_of_a_fusion_changes_with_a_channel(tmp_path: Path) -> None:
    def digest(k1: float, weight: float = 1) -> str:
        text = (
            "description: d\nstages:\n  - fuse:\n      by: rrf\n      channels:\n"
            f"        - {{weight: {weight}, stages: [bm25: {{k1: {k1}}}]}}\n        - stages: [none: ]\n"
        )
        return load_recipe(write(tmp_path, text)).stages[0].digest

    assert digest(1.5) == digest(1.5)
    assert len({digest(1.5), digest(1.6), digest(1.5, weight=2)}) == 3
