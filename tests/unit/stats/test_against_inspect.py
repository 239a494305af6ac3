"""The clustered error is the one that Inspect prints."""

from __future__ import annotations

import numpy as np
import pytest
from inspect_ai.scorer import SampleScore, Score, stderr

from workbench.stats.paired import clustered_error


@pytest.mark.parametrize("seed", range(3))
def test_the_clustered_error_is_inspects(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rewards = (rng.random((30, 4)) < rng.random((30, 1))).astype(float)
    scores = [
        SampleScore(score=Score(value=float(reward)), sample_id=f"{task}-{n}", sample_metadata={"task": task})
        for task, row in enumerate(rewards)
        for n, reward in enumerate(row)
    ]
    theirs = stderr(cluster="task")(scores)  # type: ignore[operator]
    assert clustered_error(list(rewards.mean(axis=1))) == pytest.approx(theirs, rel=1e-12)
