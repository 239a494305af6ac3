"""The numbers of a trial as Inspect shows them: one value per column, and its mean per arm."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from inspect_ai._util.registry import RegistryInfo, registry_tag
from inspect_ai.scorer import Metric, SampleScore, Value
from inspect_ai.scorer._metric import metric_register

REWARD = "reward"
ROUTING = ("Hit@1", "MRR@10", "Recall@10", "Recall@20", "Recall@50", "FullCoverage@10", "nDCG@10")
COLUMNS = (REWARD, *ROUTING)

_Compute = Callable[[list[SampleScore]], Value]


def column_metrics() -> dict[str, list[Metric]]:
    """For the reward: mean per arm. For routing metrics: mean per router, and per stratum."""
    return {REWARD: [arm()], **{name: [by()] for name in ROUTING}}


def arm() -> Metric:
    """Mean over scored trials: ``arm_none``, ``arm_gold``, ``arm_bm25``. NaN where none is scored."""
    return _metric("arm", arm, _mean_by_arm)


def by() -> Metric:
    """Mean of each router: ``by_bm25``, ``by_bm25 single``, ``by_bm25 multi`` (number of gold skills)."""
    return _metric("by", by, _mean_by_router)


def _metric(name: str, factory: Callable[[], Metric], compute: _Compute) -> Metric:
    """A metric under its bare name. ``@metric`` would put the package's name before it, and Inspect's
    table of results then shows ``workbench/...`` in every column and nothing else.
    """

    def instance(scores: list[SampleScore]) -> Value:
        return compute(scores)

    registry_tag(factory, instance, RegistryInfo(type="metric", name=name))
    return instance


for _factory in (arm, by):
    metric_register(_factory, _factory.__name__)


def _mean_by_arm(scores: list[SampleScore]) -> Value:
    return _means([(_name(s), s) for s in scores])


def _mean_by_router(scores: list[SampleScore]) -> Value:
    routed = [s for s in scores if (s.sample_metadata or {}).get("condition") == "routed"]
    return _means([(_name(s) + part, s) for s in routed for part in ("", f" {_stratum(s)}")])


def _means(scores: Sequence[tuple[str, SampleScore]]) -> Value:
    groups: dict[str, list[float]] = {key: [] for key, _ in scores}
    for key, score in scores:
        value = score.score.as_float()
        if not math.isnan(value):
            groups[key].append(value)
    return {key: _mean(values) for key, values in sorted(groups.items())}


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values) if values else math.nan


def _name(score: SampleScore) -> str:
    return str((score.sample_metadata or {}).get("arm", "?")).removeprefix("routed-")


def _stratum(score: SampleScore) -> str:
    return str((score.sample_metadata or {}).get("stratum", "multi"))
