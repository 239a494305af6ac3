"""Fusion, by hand."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean, pstdev
from typing import Any

import pytest

from tests.unit.routing.conftest import MakeRouter
from workbench.core.types import Ranking, ranked
from workbench.routing.methods.fuse import Config, Fuse
from workbench.routing.pipeline import Pipeline, Step
from workbench.routing.router import Query
from workbench.routing.stage import Stage
from workbench.skills.pool import Pool

LEFT = {"data/charts": 9.0, "data/csv-clean": 6.0, "web/scraper": 0.0}
RIGHT = {"web/scraper": 0.8, "gt/pdf-tables": 0.6}
QUERY = [Query("t", "text")]


class Fixed(Stage):
    """Answers with fixed scores."""

    def __init__(self, scores: dict[str, float]) -> None:
        self.scores = scores

    def run(self, queries: Sequence[Query], candidates: Sequence[Ranking] | None, k: int) -> list[Ranking]:
        return [ranked(self.scores.items(), k) for _ in queries]


def fused(
    pool: Pool, left: dict[str, float] = LEFT, right: dict[str, float] = RIGHT, **options: Any
) -> Ranking:
    weights = options.pop("weights", (1.0, 1.0))
    config = Config(channels=[{"weight": weight, "stages": []} for weight in weights], **options)
    channels = [Pipeline([Step("fixed", Fixed(scores), "")], pool) for scores in (left, right)]
    return Fuse(config, channels).run(QUERY, None, 50)[0]


def test_reciprocal_ranks_are_added(pool: Pool) -> None:
    found = dict(fused(pool, by="rrf"))
    assert found == pytest.approx(
        {
            "data/charts": 1 / 61,
            "data/csv-clean": 1 / 62,
            "web/scraper": 1 / 63 + 1 / 61,
            "gt/pdf-tables": 1 / 62,
        }
    )


def test_ranks_may_be_weighted_and_flattened(pool: Pool) -> None:
    found = dict(fused(pool, by="rrf", weights=(1.0, 2.0), constant=1))
    assert found["web/scraper"] == pytest.approx(1 / 4 + 2 / 2)
    assert found["data/charts"] == pytest.approx(1 / 2)


@pytest.mark.parametrize("by", ["rrf", "zscore", "weighted", "round_robin"])
def test_a_channel_of_weight_zero_is_no_evidence(pool: Pool, by: str) -> None:
    assert {entry.id for entry in fused(pool, by=by, weights=(0.0, 2.0))} == set(RIGHT)


@pytest.mark.parametrize("missing", ["lowest", "zero"])
def test_standardised_scores_are_added_with_weights(pool: Pool, missing: str) -> None:
    found = dict(fused(pool, by="zscore", weights=(0.7, 0.3), missing=missing))
    mean, spread = fmean(LEFT.values()), pstdev(LEFT.values())
    lowest = (0.0 - mean) / spread if missing == "lowest" else 0.0
    assert found["web/scraper"] == pytest.approx(0.7 * (0.0 - mean) / spread + 0.3 * 1.0)
    assert found["gt/pdf-tables"] == pytest.approx(0.7 * lowest + 0.3 * -1.0)
    assert found["data/charts"] == pytest.approx(
        0.7 * (9.0 - mean) / spread + 0.3 * (-1.0 if missing == "lowest" else 0.0)
    )


def test_a_channel_of_equal_scores_decides_nothing(pool: Pool) -> None:
    found = fused(pool, right={"gt/pdf-tables": 1.0, "web/scraper": 1.0}, by="zscore", missing="zero")
    assert [entry.id for entry in found[:2]] == ["data/charts", "data/csv-clean"]


def test_raw_scores_are_added(pool: Pool) -> None:
    assert dict(fused(pool, by="weighted", weights=(0.5, 10.0))) == pytest.approx(
        {"data/charts": 4.5, "data/csv-clean": 3.0, "web/scraper": 8.0, "gt/pdf-tables": 6.0}
    )


def test_channels_take_turns_and_a_skill_seen_is_passed_over(pool: Pool) -> None:
    left = {"a": 3.0, "b": 2.0, "c": 1.0}
    renamed = dict(zip(left, ("data/charts", "data/csv-clean", "web/scraper"), strict=True))
    found = fused(pool, by="round_robin")
    assert [entry.id for entry in found] == [renamed["a"], "web/scraper", renamed["b"], "gt/pdf-tables"]
    assert [entry.score for entry in found] == [1.0, 1 / 2, 1 / 3, 1 / 4]


@pytest.mark.parametrize("by", ["rrf", "zscore", "weighted", "round_robin"])
def test_channels_without_an_answer_give_none(pool: Pool, by: str) -> None:
    assert fused(pool, left={}, right={}, by=by) == ()
    alone = fused(pool, right={}, by=by)
    assert [entry.id for entry in alone] == list(LEFT)


def test_the_depth_of_channels_does_not_depend_on_k(make_router: MakeRouter) -> None:
    recipe = (
        "- fuse:\n    by: zscore\n    channels:\n      - {weight: 0.7, stages: [bm25: {}]}\n"
        "      - {weight: 0.3, stages: [bm25: {fields: nd}]}"
    )
    router = make_router(recipe)
    query = [Query("t", "tables of a PDF as charts, CSV")]
    assert router.route(query, 2)[0] == router.route(query, 9)[0][:2]


def test_channels_may_use_gold_and_their_stages_may_not(make_router: MakeRouter) -> None:
    recipe = "- fuse:\n    by: rrf\n    channels:\n      - stages: [gold: ]\n      - stages: [bm25: {}]"
    found = make_router(recipe).route([Query("t", "mesh", gold=("misc/bare",))], 9)[0]
    assert {entry.id for entry in found} == {"misc/bare", "gt/mesh-analysis"}


def test_a_fusion_has_the_fingerprint_of_its_channels_indexes(make_router: MakeRouter) -> None:
    recipe = "- fuse:\n    by: rrf\n    channels:\n      - stages: [bm25: {k1: %s}]\n      - stages: [none: ]"
    assert make_router(recipe % 1).index_fingerprint != make_router(recipe % 2).index_fingerprint
    empty = "- fuse:\n    by: rrf\n    channels:\n      - stages: [none: ]\n      - stages: [gold: ]"
    assert make_router(empty).index_fingerprint is None
