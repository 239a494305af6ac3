"""Subsets of a suite count alike in the macro mean, however many tasks they have."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from workbench.core.record import TrialRecord
from workbench.reporting.summary import summarise
from workbench.reporting.trial import Trial

Make = Callable[..., TrialRecord]
SUBSETS = {"a1": "small", "b1": "large", "b2": "large", "b3": "large"}


def trials(make_record: Make, make_trial: Callable[..., Trial], **rewards: float) -> list[Trial]:
    records = [make_record(task, "routed-bm25", reward=rewards.get(task, 0.0)) for task in SUBSETS]
    return [make_trial(r.model_copy(update={"group": {"subset": SUBSETS[r.task]}})) for r in records]


def test_the_macro_mean_weighs_subsets_alike(make_record: Make, make_trial: Callable[..., Trial]) -> None:
    summary = summarise(trials(make_record, make_trial, a1=1.0))
    (arm,) = summary.blocks[0].arms
    assert arm.success.value == 0.25
    assert arm.macro is not None
    assert (arm.macro.value, arm.macro.tasks) == (0.5, 4)
    assert arm.macro.reason == "a subset of one task has no interval"


def test_a_suite_without_subsets_has_none(make_record: Make, make_trial: Callable[..., Trial]) -> None:
    summary = summarise([make_trial(make_record(task, "none")) for task in SUBSETS])
    assert summary.blocks[0].arms[0].macro is None


def test_routing_metrics_come_by_subset_and_as_their_macro_mean(
    make_record: Make, make_trial: Callable[..., Trial]
) -> None:
    (found,) = summarise(trials(make_record, make_trial)).routing
    strata = {stratum.name: stratum for stratum in found.strata}
    assert list(strata) == ["all", "single", "multi", "large", "small", "macro"]
    assert (strata["large"].tasks, strata["small"].tasks, strata["macro"].tasks) == (3, 1, 4)
    metric = next(iter(strata["small"].metrics))
    large, small, both = (strata[name].metrics[metric].value for name in ("large", "small", "macro"))
    assert large is not None
    assert small is not None
    assert both == pytest.approx((large + small) / 2)
