"""The SkillRouter benchmark's own scorer, faults included: for comparing with numbers made by it.

It differs from `scoring` in three ways, and in nothing else: a task without a prediction is left
out of the mean; an id that a ranking repeats takes a place each time and gains each time, so that
nDCG and Precision can exceed 1; and where a task has grades, gold without a grade gains nothing.
"""

from __future__ import annotations

import math
from collections.abc import Container, Mapping, Sequence
from statistics import fmean

from workbench.metrics.scoring import STRATA, Relevance, Summary

_NDCG, _COVERAGE, _RECALL = (1, 3, 10), (3, 5, 10), (10, 20, 50)


def compat_summaries(
    rankings: Mapping[str, Sequence[str]], tasks: Mapping[str, Relevance], pool: Container[str]
) -> dict[str, Summary]:
    """Stratum -> means by the authors' rules, under their metrics' names.

    Args:
        rankings: task -> ids as predicted, best first, repetitions and all.
    """
    parts: dict[str, list[dict[str, float]]] = {stratum: [] for stratum in STRATA}
    for task, relevance in tasks.items():
        gold = {skill for skill in relevance.gold if skill in pool}
        if not relevance.counted or not gold or task not in rankings:
            continue
        grades = {skill: float(grade) for skill, grade in relevance.grades.items() if skill in pool}
        values = _values(rankings[task], gold, grades or dict.fromkeys(gold, 1.0))
        for stratum in ("all", relevance.stratum):
            parts[stratum].append(values)
    return {stratum: Summary(len(values), _means(values)) for stratum, values in parts.items()}


def _means(values: Sequence[Mapping[str, float]]) -> dict[str, float]:
    return {name: fmean(each[name] for each in values) for name in (values[0] if values else ())}


def _values(ranking: Sequence[str], gold: set[str], grades: Mapping[str, float]) -> dict[str, float]:
    gains = [grades.get(skill, 0.0) for skill in ranking]
    ideal = sorted(grades.values(), reverse=True)
    first = next((rank for rank, skill in enumerate(ranking[:10], start=1) if skill in gold), None)
    values = {f"nDCG@{k}": _ratio(_discounted(gains[:k]), _discounted(ideal[:k])) for k in _NDCG}
    values |= {f"FullCoverage@{k}": float(gold.issubset(ranking[:k])) for k in _COVERAGE}
    values |= {f"Recall@{k}": len(gold.intersection(ranking[:k])) / len(gold) for k in _RECALL}
    return values | {
        "Hit@1": float(first == 1),
        "MRR@10": 1.0 / first if first else 0.0,
        "Precision@3": sum(skill in gold for skill in ranking[:3]) / 3,
    }


def _discounted(gains: Sequence[float]) -> float:
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, start=1))


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole > 0 else 0.0
