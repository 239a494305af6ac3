"""The numbers of a trial as Inspect shows them: one value per column, and its mean per arm."""

from __future__ import annotations

import math
from collections.abc import Sequence

from inspect_ai.scorer import Metric, SampleScore, Value, metric

REWARD = "reward"
ROUTING = ("Hit@1", "MRR@10", "Recall@10", "Recall@20", "Recall@50", "FullCoverage@10", "nDCG@10")
COLUMNS = (REWARD, *ROUTING)


def column_metrics() -> dict[str, list[Metric]]:
    """For the reward: mean per arm. For routing metrics: mean per arm and stratum."""
    return {REWARD: [mean_by_arm()], **{name: [mean_by_arm_and_stratum()] for name in ROUTING}}


@metric
def mean_by_arm() -> Metric:
    """Mean of the scored trials of each arm; an arm without one is NaN."""

    def compute(scores: list[SampleScore]) -> Value:
        return _means({_arm(s): [] for s in scores}, [(_arm(s), s) for s in scores])

    return compute


@metric
def mean_by_arm_and_stratum() -> Metric:
    """Mean over tasks of each routed arm, for all tasks and for those with one and several gold skills."""

    def compute(scores: list[SampleScore]) -> Value:
        routed = [s for s in scores if (s.sample_metadata or {}).get("condition") == "routed"]
        keyed = [(f"{_arm(s)} {part}", s) for s in routed for part in ("all", _stratum(s))]
        names: dict[str, list[float]] = {key: [] for key, _ in keyed}
        return _means(names, keyed)

    return compute


def _means(groups: dict[str, list[float]], scores: Sequence[tuple[str, SampleScore]]) -> Value:
    for key, score in scores:
        value = score.score.as_float()
        if not math.isnan(value):
            groups[key].append(value)
    return {key: math.fsum(values) / len(values) if values else math.nan for key, values in sorted(groups.items())}


def _arm(score: SampleScore) -> str:
    return str((score.sample_metadata or {}).get("arm", "?"))


def _stratum(score: SampleScore) -> str:
    return str((score.sample_metadata or {}).get("stratum", "multi"))
