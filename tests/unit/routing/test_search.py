"""Exact search: against a full sort in double precision."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.core.types import Ranking, ranked
from workbench.routing import search
from workbench.routing.search import ExactSearch

IDS = [f"s{place:03d}" for place in range(300)]


def vectors(count: int, seed: int = 0) -> np.ndarray:
    drawn = np.random.default_rng(seed).normal(size=(count, 16))
    return (drawn / np.linalg.norm(drawn, axis=1, keepdims=True)).astype(np.float16)


def by_sorting(stored: np.ndarray, query: np.ndarray, k: int) -> Ranking:
    exact = [round(float(np.dot(row, query)), 9) for row in stored.astype(np.float64)]
    return ranked(zip(IDS[: len(stored)], exact, strict=True), k)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 300), st.integers(1, 320), st.integers(0, 5))
def test_the_nearest_are_those_of_a_full_sort(count: int, k: int, seed: int) -> None:
    stored, queries = vectors(count, seed), vectors(3, seed + 100).astype(np.float32)
    expected = [by_sorting(stored, query.astype(np.float64), k) for query in queries]
    assert ExactSearch(stored, IDS[:count]).search(queries, k) == expected


def test_an_answer_does_not_depend_on_the_other_queries() -> None:
    stored, queries = vectors(300), vectors(150, 1).astype(np.float32)
    search_all = ExactSearch(stored, IDS)
    assert [search_all.search(query[None], 5)[0] for query in queries] == search_all.search(queries, 5)


def test_equal_vectors_are_cut_by_id_and_share_a_score() -> None:
    stored = np.repeat(vectors(3), 20, axis=0)
    found = ExactSearch(stored, IDS[:60]).search(stored[25:26].astype(np.float32), 7)[0]
    assert [entry.id for entry in found] == IDS[20:27]
    assert len({entry.score for entry in found}) == 1


def test_only_the_rows_allowed_are_searched() -> None:
    stored = vectors(50)
    query = stored[7].astype(np.float32)
    found = ExactSearch(stored, IDS[:50]).search_among(query, 3, [9, 3, 5])
    assert sorted(entry.id for entry in found) == ["s003", "s005", "s009"]
    assert ExactSearch(stored, IDS[:50]).search_among(query, 3, []) == ()


def test_vectors_too_large_for_memory_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    stored, queries = vectors(200), vectors(5, 9).astype(np.float32)
    expected = ExactSearch(stored, IDS[:200]).search(queries, 20)
    monkeypatch.setattr(search, "_RESIDENT_BYTES", 0)
    monkeypatch.setattr(search, "_ROWS", 37)
    assert ExactSearch(stored, IDS[:200]).search(queries, 20) == expected


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(1, 4), min_size=1, max_size=60), st.integers(1, 70), st.integers(0, 3))
def test_a_skill_of_several_rows_has_its_best_rows_score(counts: list[int], k: int, seed: int) -> None:
    stored = vectors(sum(counts), seed)
    scales = np.random.default_rng(seed).uniform(0.5, 3.0, len(stored))
    starts = np.concatenate([[0], np.cumsum(counts)])
    query = vectors(1, seed + 50).astype(np.float32)
    scores = (stored.astype(np.float64) @ query[0].astype(np.float64)) * scales
    best = [round(float(scores[a:b].max()), 9) for a, b in pairwise(starts)]
    found = ExactSearch(stored, IDS[: len(counts)], scales, starts)
    expected = ranked(zip(IDS, best, strict=False), k)
    assert found.search(query, k)[0] == expected
    places = list(range(0, len(counts), 2))
    among = ranked(((IDS[place], best[place]) for place in places), k)
    assert found.search_among(query[0], k, places) == among
