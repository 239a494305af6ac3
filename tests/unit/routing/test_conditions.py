"""Controlled conditions made from gold: with hard negatives, and without gold."""

from __future__ import annotations

from tests.unit.routing.conftest import MakeRouter
from workbench.routing.router import Query

TASK = Query(
    "t", "Extract the tables of a PDF and write clean CSV data", gold=("gt/pdf-tables", "misc/bare", "gone")
)


def test_gold_stands_among_the_most_similar_wrong_skills(make_router: MakeRouter) -> None:
    similar = [entry.id for entry in make_router("- bm25:").route([TASK], 50)[0] if entry.id not in TASK.gold]
    found = [
        e.id for e in make_router("- bm25:\n- distractors: {count: 2, order: gold_first}").route([TASK], 9)[0]
    ]
    assert found == ["gt/pdf-tables", "misc/bare", *similar[:2]]


def test_the_shuffle_is_the_seeds_and_the_querys(make_router: MakeRouter) -> None:
    recipe = "- bm25:\n- distractors: {count: 3}"
    found = {tuple(e.id for e in make_router(recipe, seed=seed).route([TASK], 9)[0]) for seed in range(8)}
    assert len({frozenset(order) for order in found}) == 1
    assert len(found) > 1
    assert make_router(recipe, seed=1).route([TASK], 9) == make_router(recipe, seed=1).route([TASK], 9)
    assert make_router(recipe, seed=1).fingerprint != make_router(recipe, seed=2).fingerprint


def test_without_gold_the_next_move_up(make_router: MakeRouter) -> None:
    whole = make_router("- bm25:").route([TASK], 9)[0]
    found = make_router("- bm25:\n- without_gold:").route([TASK], 3)[0]
    assert found == tuple(entry for entry in whole if entry.id not in TASK.gold)[:3]
    assert whole[0].id == "gt/pdf-tables"
