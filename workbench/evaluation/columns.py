"""The numbers of a trial as Inspect shows them: one value per column, and its mean per arm.

Inspect's own metrics are used, so that any Inspect installation can compute them again from a log.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

from inspect_ai.log import HeadlineMetric
from inspect_ai.scorer import Metric, grouped, mean

from workbench.core.types import Arm

REWARD = "reward"
ROUTING = ("Hit@1", "MRR@10", "Recall@10", "Recall@20", "Recall@50", "FullCoverage@10", "nDCG@10")
COLUMNS = (REWARD, *ROUTING)
_GROUPED = "grouped_"
"""What Inspect puts before an arm's name where it keeps the arm's mean."""


def column_metrics() -> dict[str, list[Metric]]:
    """For the reward: mean per arm. For routing metrics: per router, and per number of gold skills.

    Trials that are NaN in a column (excluded, or without a router) take no part in its means.
    """
    routing = [grouped(mean(), "arm", all=False), grouped(mean(), "arm_stratum", all=False)]
    return {REWARD: [grouped(mean(), "arm", all=False)], **dict.fromkeys(ROUTING, routing)}


def headline(arms: Sequence[Arm]) -> HeadlineMetric:
    """The number that Inspect shows for a whole log, with the arm's name: the first router's success.

    Inspect's own choice is the first metric, which is success without skills. Where no router runs,
    it is that of the last arm.
    """
    logging.getLogger("inspect_ai.log._headline").addFilter(_is_news)
    shown = next((arm for arm in arms if arm.condition == "routed"), arms[-1])
    return HeadlineMetric(score=REWARD, metric=f"{_GROUPED}{shown.label}")


def _is_news(record: logging.LogRecord) -> bool:
    """Inspect warns that the arm has no mean yet, whenever another arm's trial is the first to end."""
    return not record.getMessage().startswith(f"Headline metric '{_GROUPED}")
