"""Do the intervals cover 95 % and the tests reject 5 %, and what do the usual methods do in their place?

    python bench/calibration.py [RUNS]

Over 20 to 87 tasks, 1 to 10 trials (also unequal), success 5 to 95 %, correlation within tasks 0 to 1.
Peers in the same runs: the interval over trials as if they were independent (what a binomial error
bar shows), Student's t over tasks, and the percentile bootstrap over tasks.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Sequence
from itertools import product

import numpy as np

from workbench.stats.bootstrap import bootstrap_mean
from workbench.stats.equivalence import equivalence
from workbench.stats.paired import difference, t_interval, task_differences
from workbench.stats.proportion import clustered_rate, task_means, wilson

TASKS = (20, 40, 87)
TRIALS: tuple[int | None, ...] = (1, 3, 10, None)
RATES = (0.05, 0.3, 0.5, 0.95)
CORRELATIONS = (0.0, 0.3, 0.7, 1.0)
MARGIN = 0.1


def true_rates(rng: np.random.Generator, tasks: int, rate: float, correlation: float) -> np.ndarray:
    """Beta-distributed rates with this mean and intraclass correlation."""
    if correlation == 0:
        return np.full(tasks, rate)
    if correlation == 1:
        return (rng.random(tasks) < rate).astype(float)
    size = (1 - correlation) / correlation
    return rng.beta(rate * size, (1 - rate) * size, tasks)


def outcomes(rng: np.random.Generator, rates: np.ndarray, trials: int | None) -> list[list[float]]:
    """0/1 rewards; without `trials` each task has one to five."""
    counts = rng.integers(1, 6, len(rates)) if trials is None else [trials] * len(rates)
    return [list((rng.random(n) < p).astype(float)) for p, n in zip(rates, counts, strict=True)]


def once(rng: np.random.Generator, design: tuple[int, int | None, float, float]) -> dict[str, bool]:
    """One data set: did each interval cover the truth, did each test reject?"""
    tasks, trials, rate, correlation = design
    rates = true_rates(rng, tasks, rate, correlation)
    first, second = outcomes(rng, rates, trials), outcomes(rng, rates, trials)
    values = task_differences(first, second)
    flat = [reward for task in first for reward in task]
    single, pair = clustered_rate(first).interval, difference(first, second, rng)
    assert single is not None
    assert pair.interval is not None
    means = task_means(first)
    far = outcomes(rng, np.clip(rates - MARGIN, 0, 1), trials)
    return {
        "rate: here": rate in single,
        "rate: trials as independent": rate in wilson(sum(flat), len(flat)),
        "rate: t over tasks": rate in t_interval(means),
        "rate: bootstrap over tasks": rate in bootstrap_mean(means, rng, "percentile", draws=499),
        "difference: here": 0 in pair.interval,
        "difference: t over tasks": 0 in t_interval(values),
        "difference: bootstrap over tasks": 0 in bootstrap_mean(values, rng, "percentile", draws=499),
        "test: sign-flip, false alarms": pair.p_value < 0.05,
        "test: sameness at the margin, false alarms": bool(np.all(rates >= MARGIN))
        and equivalence(first, far, MARGIN).p_equivalent < 0.05,
    }


def say(line: str) -> None:
    """One line of the result."""
    sys.stdout.write(f"{line}\n")


def worst(shares: Sequence[tuple[float, object]], alarms: bool) -> tuple[float, object]:
    """The design that is furthest on the wrong side."""
    return max(shares, key=lambda s: s[0]) if alarms else min(shares, key=lambda s: s[0])


def main() -> None:
    """Simulate and print, for each method, its mean and its worst design."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    rng = np.random.default_rng(2026)
    found: dict[str, list[tuple[float, object]]] = defaultdict(list)
    for design in product(TASKS, TRIALS, RATES, CORRELATIONS):
        counts: dict[str, int] = defaultdict(int)
        for _ in range(runs):
            for name, hit in once(rng, design).items():
                counts[name] += hit
        for name, count in counts.items():
            found[name].append((count / runs, design))
    error = (0.05 * 0.95 / runs) ** 0.5
    say(f"{len(found['rate: here'])} designs x {runs} runs; error of a design {100 * error:.1f} points")
    say("(tasks, trials, success, correlation) of the worst design; trials None: one to five, unequal")
    for name, shares in found.items():
        share, design = worst(shares, "alarms" in name)
        mean = sum(s for s, _ in shares) / len(shares)
        word = "false alarms" if "alarms" in name else "coverage"
        what = f"{name.removesuffix(', false alarms'):42} {word}"
        say(f"{what} {100 * mean:5.1f} %, worst {100 * share:5.1f} % at {design}")


if __name__ == "__main__":
    main()
