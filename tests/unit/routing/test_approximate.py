"""Approximate indexes: what they find is scored exactly, and what they miss is measured."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.unit.routing.conftest import MakeRouter
from workbench.routing import approximate
from workbench.routing.approximate import Approximate, SearchChoice
from workbench.routing.router import Query
from workbench.routing.search import ExactSearch

pytest.importorskip("faiss")
IDS = [f"s{place:04d}" for place in range(2000)]
CHOICES = [SearchChoice(index="hnsw", effort=400), SearchChoice(index="ivf", lists=16, probes=16)]


def vectors(count: int, seed: int = 0) -> np.ndarray:
    drawn = np.random.default_rng(seed).normal(size=(count, 16))
    return (drawn / np.linalg.norm(drawn, axis=1, keepdims=True)).astype(np.float16)


@pytest.mark.parametrize("choice", CHOICES, ids=lambda choice: choice.index)
def test_with_full_effort_the_answers_are_the_exact_ones(tmp_path: Path, choice: SearchChoice) -> None:
    rows, queries = vectors(2000), vectors(5, 1).astype(np.float32)
    scales = np.random.default_rng(2).uniform(0.5, 2.0, 2000)
    approximate.build(tmp_path, rows, scales, choice)
    found = ExactSearch(rows, IDS, scales, proposer=Approximate.open(tmp_path, choice)).search(queries, 10)
    assert found == ExactSearch(rows, IDS, scales).search(queries, 10)
    assert approximate.recall(tmp_path) > 0.99


def test_with_little_effort_less_is_found_and_that_is_measured(tmp_path: Path) -> None:
    choice = SearchChoice(index="ivf", lists=50, probes=1, oversample=1)
    approximate.build(tmp_path, vectors(2000), None, choice)
    assert 0.1 < approximate.recall(tmp_path) < 0.9


def test_more_results_than_vectors_are_no_error(tmp_path: Path) -> None:
    choice = SearchChoice(index="hnsw")
    rows = vectors(3)
    approximate.build(tmp_path, rows, None, choice)
    search = ExactSearch(rows, IDS[:3], proposer=Approximate.open(tmp_path, choice))
    assert len(search.search(rows[:1].astype(np.float32), 10)[0]) == 3


def test_skills_of_several_rows_are_found_by_any_of_them(tmp_path: Path) -> None:
    rows = vectors(90)
    starts = np.arange(0, 91, 3)
    approximate.build(tmp_path, rows, None, CHOICES[0])
    search = ExactSearch(rows, IDS[:30], None, starts, Approximate.open(tmp_path, CHOICES[0]))
    exact = ExactSearch(rows, IDS[:30], None, starts)
    query = vectors(1, 5).astype(np.float32)
    assert search.search(query, 5)[0][0] == exact.search(query, 5)[0][0]


def test_a_recipe_may_ask_for_one_and_says_what_it_misses(make_router: MakeRouter, models: Path) -> None:
    folder = models / "tiny/encoder"
    dense = f"- dense:\n    model: tiny/encoder\n    path: {folder}\n    device: cpu\n    dtype: float32\n"
    task = [Query("t", "Extract the tables of a PDF")]
    router = make_router(dense + "    search: {index: hnsw}\n- project: {generic_words: 4}")
    assert router.route(task, 3) == make_router(dense + "- project: {generic_words: 4}").route(task, 3)
    assert "hnsw: recall@10 1.000 against exact search over this pool" in router.notes()
