"""Exact search by faiss' flat index, as on a GPU: nothing that could be among the best is left out."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.routing import gpu
from workbench.routing.search import ExactSearch

faiss = pytest.importorskip("faiss")
IDS = [f"s{place:04d}" for place in range(3000)]


class Machine:
    """faiss as it is on a machine with GPUs; its GPU indexes are the real flat index on the CPU."""

    def __init__(self, gpus: int = 1, fails: str = "", error: float = 0.0) -> None:
        self.gpus = gpus
        self.fails = fails
        self.error = error
        self.searched = 0

    def get_num_gpus(self) -> int:
        return self.gpus

    def StandardGpuResources(self) -> None:
        return None

    def GpuIndexFlatIP(self, resources: None, size: int) -> Machine:
        self.index = faiss.IndexFlatIP(size)
        return self

    @property
    def ntotal(self) -> int:
        return int(self.index.ntotal)

    def add(self, block: Any) -> None:
        if self.fails:
            raise RuntimeError(self.fails)
        self.index.add(block)

    def search(self, queries: Any, wanted: int) -> Any:
        assert wanted <= 2048  # what a GPU gives
        self.searched += 1
        scores, rows = self.index.search(queries, wanted)
        return scores + np.float32(self.error), rows


def vectors(count: int, seed: int = 0) -> Any:
    drawn = np.random.default_rng(seed).normal(size=(count, 16))
    return (drawn / np.linalg.norm(drawn, axis=1, keepdims=True)).astype(np.float16)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 300), st.integers(1, 320), st.integers(0, 5))
def test_the_answers_are_those_of_the_plain_product(count: int, k: int, seed: int) -> None:
    rows, queries = vectors(count, seed), vectors(3, seed + 100).astype(np.float32)
    scales = np.random.default_rng(seed).uniform(0.5, 2.0, count)
    found = ExactSearch(rows, IDS[:count], scales, proposer=gpu.flat(rows, scales, None, Machine()))
    assert found.search(queries, k) == ExactSearch(rows, IDS[:count], scales).search(queries, k)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(1, 9), min_size=1, max_size=80), st.integers(1, 60), st.integers(0, 3))
def test_skills_are_counted_not_their_rows(counts: list[int], k: int, seed: int) -> None:
    rows, starts = vectors(sum(counts), seed), np.concatenate([[0], np.cumsum(counts)])
    for first, after in pairwise(starts[::2].tolist()):  # rows of one skill crowd the top
        rows[first:after] = rows[first]
    ids, queries = IDS[: len(counts)], vectors(2, seed + 50).astype(np.float32)
    found = ExactSearch(rows, ids, None, starts, gpu.flat(rows, None, starts, Machine()))
    assert found.search(queries, k) == ExactSearch(rows, ids, None, starts).search(queries, k)


def test_equal_vectors_are_all_looked_at_however_many_they_are() -> None:
    rows = np.repeat(vectors(3), 1000, axis=0)
    machine = Machine()
    found = ExactSearch(rows, IDS, proposer=gpu.flat(rows, None, None, machine))
    assert [entry.id for entry in found.search(rows[1500:1501].astype(np.float32), 7)[0]] == IDS[1000:1007]
    assert machine.searched > 2  # it asked for more until the last one was out of reach


def test_a_pool_larger_than_a_gpu_answers_for_is_looked_through_where_ties_never_end() -> None:
    rows = np.repeat(vectors(1), 3000, axis=0)
    found = ExactSearch(rows, IDS, proposer=gpu.flat(rows, None, None, Machine()))
    assert [entry.id for entry in found.search(rows[:1].astype(np.float32), 3)[0]] == IDS[:3]


@pytest.mark.parametrize("machine", [Machine(gpus=0), faiss])
def test_without_a_gpu_there_is_nothing_to_propose(machine: Any) -> None:
    if machine is faiss and getattr(faiss, "get_num_gpus", int)() > 0:
        machine = Machine(gpus=0)
    assert gpu.flat(vectors(5), None, None, machine) is None
    assert gpu.flat(vectors(0), None, None, Machine()) is None


@pytest.mark.parametrize(
    ("machine", "said"),
    [
        (Machine(fails="Error in alloc:\nCUDA out of memory"), "searching on the CPU: CUDA out of memory"),
        (Machine(error=1e-3), "searching on the CPU: scores of this GPU are off by up to 1.0e-03"),
    ],
)
def test_a_gpu_without_room_or_precision_is_left_alone(
    machine: Machine, said: str, caplog: pytest.LogCaptureFixture
) -> None:
    assert gpu.flat(vectors(50), None, None, machine) is None
    assert caplog.messages == [said]
