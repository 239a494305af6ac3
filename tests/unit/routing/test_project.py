"""Background projection, against its definition written out on whole matrices."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.routing import pools
from tests.unit.routing.conftest import MakeRouter
from workbench.core.errors import ContentError
from workbench.routing import background, vectors
from workbench.routing.router import Query
from workbench.skills.pool import Pool

TASK = Query("t", "Extract the tables of a PDF and draw charts")
DENSE = "- dense:\n    model: tiny/encoder\n    path: {path}\n    device: cpu\n    dtype: float32\n"


def unit(rows: np.ndarray) -> np.ndarray:
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def test_principal_directions_are_the_top_right_singular_vectors_uncentred() -> None:
    rows = np.random.default_rng(0).normal(size=(300, 12)) + 0.7
    expected = np.linalg.svd(rows)[2][:3]
    found = background.principal(rows, 3)
    assert np.abs(found @ expected.T) == pytest.approx(np.eye(3), abs=1e-9)


def test_there_are_no_more_directions_than_the_rank_allows() -> None:
    rows = np.outer(np.arange(1, 6), [3.0, 4.0, 0.0])
    assert background.principal(rows, 2).shape == (1, 3)
    assert background.principal(np.zeros((4, 3)), 2).shape == (0, 3)


def test_what_is_removed_is_gone_and_the_rest_untouched() -> None:
    rows = np.random.default_rng(1).normal(size=(5, 4))
    basis = np.eye(4)[:2]
    assert background.without(rows, basis) == pytest.approx(rows * [0, 0, 1, 1])
    assert background.lengths(rows, basis) == pytest.approx(np.linalg.norm(rows[:, 2:], axis=1))


def by_definition(rows: np.ndarray, query: np.ndarray, pool: Pool, generic_words: int) -> np.ndarray:
    """SkillRep 3.3 on the whole matrix: remove, rescale, remove; requests as they are."""
    from bm25s.stopwords import STOPWORDS_EN

    from workbench.routing.words import words

    first = np.linalg.svd(rows)[2][:2]
    documents = unit(rows - rows @ first.T @ first)
    texts = [set(words(f"{s.name} {s.description} {s.body}")) - set(STOPWORDS_EN) for s in pool.skills()]
    texts = [{word for word in text if len(word) > 1} for text in texts]
    spread = {word: sum(word in text for text in texts) for text in texts for word in text}
    chosen = sorted(spread, key=lambda word: (-spread[word], word))[:generic_words]
    means = np.array([documents[[word in text for text in texts]].mean(axis=0) for word in chosen])
    second = np.linalg.svd(means)[2][:2]
    return (documents - documents @ second.T @ second) @ query


def test_scores_are_those_of_the_projected_documents(
    make_router: MakeRouter, models: Path, pool: Pool, tmp_path: Path
) -> None:
    dense = DENSE.format(path=models / "tiny/encoder")
    plain = make_router(dense)
    plain.prepare()
    (index,) = (tmp_path / "cache" / "indexes").glob("*/vectors.npy")
    rows = vectors.read(index.parent).rows.astype(np.float64)
    query = plain.stages()[0].encode([TASK])[0].astype(np.float64)  # type: ignore[attr-defined]
    found = dict(make_router(dense + "- project: {generic_words: 7}").route([TASK], 50)[0])
    expected = dict(zip(pool.ids(), by_definition(rows, query, pool, 7).tolist(), strict=True))
    assert found == pytest.approx(expected, abs=2e-6)


def test_nothing_removed_changes_nothing(make_router: MakeRouter, models: Path) -> None:
    dense = DENSE.format(path=models / "tiny/encoder")
    plain = dict(make_router(dense).route([TASK], 50)[0])
    same = dict(make_router(dense + "- project: {directions: 0, generic: 0}").route([TASK], 50)[0])
    assert same == pytest.approx(plain, abs=1e-3)  # stored vectors are half precision


def test_the_index_depends_on_the_inner_one_and_on_the_options(make_router: MakeRouter, models: Path) -> None:
    dense = DENSE.format(path=models / "tiny/encoder")
    recipes = (
        dense,
        dense + "- project:",
        dense + "- project: {directions: 3}",
    )
    assert len({make_router(recipe).index_fingerprint for recipe in recipes}) == 3
    assert len({make_router(recipe).fingerprint for recipe in recipes}) == 3


@pytest.mark.parametrize("before", ["", "- bm25:\n", "- dense: {model: a/b}\n- project:\n"])
def test_it_must_stand_once_behind_a_stage_with_vectors(make_router: MakeRouter, before: str) -> None:
    with pytest.raises(ContentError, match="project: refines the vectors of"):
        make_router(before + "- project:")


def test_more_directions_than_the_pool_has_leave_half_of_them_and_are_said(
    make_router: MakeRouter, models: Path
) -> None:
    dense = DENSE.format(path=models / "tiny/encoder")
    router = make_router(dense + "- project: {directions: 100000, generic: 3}")
    found = router.route([TASK], 50)[0]
    assert found == make_router(dense + "- project: {directions: 5, generic: 0}").route([TASK], 50)[0]
    assert router.notes() == ("project: 5 directions removed, not 100003: this pool has no more",)


def test_a_skill_that_is_nothing_but_background_is_no_result(
    make_router: MakeRouter, models: Path, tmp_path: Path
) -> None:
    one = {"only/skill": ("skill", "A skill", "Its body.")}
    single = pools.write(tmp_path / "one.pool", one)
    router = make_router(DENSE.format(path=models / "tiny/encoder") + "- project:", over=single)
    assert [entry.id for entry in router.route([TASK], 5)[0]] == ["only/skill"]
