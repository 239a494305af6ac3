"""trec_eval, an independent implementation, gives the same numbers where it defines the same thing."""

from __future__ import annotations

import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.metrics.metric import Judged
from workbench.metrics.scoring import score

SAME = {
    "Hit@1": "success_1",
    "Hit@5": "success_5",
    "Hit@10": "success_10",
    "MAP@50": "map",
    "Recall@5": "recall_5",
    "Recall@10": "recall_10",
    "Recall@20": "recall_20",
    "Precision@3": "P_3",
    "nDCG@3": "ndcg_cut_3",
    "nDCG@5": "ndcg_cut_5",
    "nDCG@10": "ndcg_cut_10",
}


@settings(max_examples=60, deadline=None)
@given(
    ranking=st.lists(st.integers(0, 40).map(str), min_size=1, max_size=30, unique=True),
    grades=st.dictionaries(st.integers(0, 40).map(str), st.integers(1, 3), min_size=1, max_size=12),
)
def test_values_agree_without_ties(ranking: list[str], grades: dict[str, int]) -> None:
    ours = score(Judged(tuple(ranking), frozenset(grades), {skill: float(g) for skill, g in grades.items()}))
    evaluator = pytrec_eval.RelevanceEvaluator({"q": grades}, {*SAME.values(), "recip_rank"})
    run = {skill: float(len(ranking) - place) for place, skill in enumerate(ranking)}
    theirs = evaluator.evaluate({"q": run})["q"]
    for name, other in SAME.items():
        assert ours[name] == pytest.approx(theirs[other], abs=1e-9), name
    if theirs["recip_rank"] >= 0.1:
        assert ours["MRR@10"] == pytest.approx(theirs["recip_rank"], abs=1e-9)
    else:
        assert ours["MRR@10"] == 0.0
