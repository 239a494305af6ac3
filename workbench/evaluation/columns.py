"""The numbers of a trial as Inspect shows them: one value per column, and its mean per arm.

Inspect's own metrics are used, so that any Inspect installation can compute them again from a log.
"""

from __future__ import annotations

from inspect_ai.scorer import Metric, grouped, mean

REWARD = "reward"
ROUTING = ("Hit@1", "MRR@10", "Recall@10", "Recall@20", "Recall@50", "FullCoverage@10", "nDCG@10")
COLUMNS = (REWARD, *ROUTING)


def column_metrics() -> dict[str, list[Metric]]:
    """For the reward: mean per arm. For routing metrics: per router, and per number of gold skills.

    Trials that are NaN in a column (excluded, or without a router) take no part in its means.
    """
    routing = [grouped(mean(), "arm", all=False), grouped(mean(), "arm_stratum", all=False)]
    return {REWARD: [grouped(mean(), "arm", all=False)], **dict.fromkeys(ROUTING, routing)}
