"""Do intervals of fractional rewards cover 95 %, and do comparisons have the power that a plan promises?

    python bench/calibration_fractional.py [RUNS]

Rewards in [0, 1], continuous or in quarters, 20 to 87 tasks, 1 to 10 trials, correlation within tasks 0 to
1. Where nothing differs, coverage is one minus what the sign-flip test rejects; where skills mend 30 % or
5 % of the tasks, differences are skewed. At 5 % a third of the samples of 20 tasks hold no task that is
mended, and no interval on the scale of what was seen can know: there ours covers less than it says. The
peer is Student's t over tasks, on the same data. Power is how often the test finds a difference that
`workbench plan` calls detectable with 80 %, from a large pilot.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from itertools import product
from typing import NamedTuple

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from workbench.stats.paired import difference, t_interval, task_differences
from workbench.stats.permutation import sign_flip
from workbench.stats.planted import graded_rewards, rewards, true_means, true_rates
from workbench.stats.power import Design, detectable, paired_components

MENDED = (0.3, 0.05)
SEED = 2027
PILOT = 4000


class Cell(NamedTuple):
    """One design; `steps` ``None`` is continuous."""

    tasks: int
    trials: int
    steps: int | None
    correlation: float
    mended: float

    def __str__(self) -> str:
        kind = "continuous" if self.steps is None else f"{self.steps} steps"
        change = f", {self.mended:.0%} mended" if self.mended else ""
        return f"{self.tasks} x {self.trials}, {kind}, {self.correlation:g}{change}"


def covered(rng: np.random.Generator, cell: Cell) -> tuple[float, float]:
    """Whether our interval and the t interval hold the true difference."""
    means = true_means(rng, cell.tasks, 0.5, cell.correlation)
    better = np.where(rng.random(cell.tasks) < cell.mended, 1.0, means)
    first = graded_rewards(rng, better, cell.trials, cell.correlation, cell.steps)
    second = graded_rewards(rng, means, cell.trials, cell.correlation, cell.steps)
    truth, values = cell.mended / 2, task_differences(first, second)
    if not cell.mended:
        return float(sign_flip(values, rng) >= 0.05), float(0 in t_interval(values))
    interval = difference(first, second, rng).interval
    assert interval is not None
    return float(truth in interval), float(truth in t_interval(values))


Arms = Callable[[int, float], tuple[list[list[float]], list[list[float]]]]


def binary_arms(rng: np.random.Generator, cell: Cell) -> Arms:
    """Passes and failures at 30 %; the better arm fails less often on every task alike."""

    def draw(tasks: int, effect: float) -> tuple[list[list[float]], list[list[float]]]:
        rates = true_rates(rng, tasks, 0.3, cell.correlation)
        return (
            rewards(rng, 1 - (1 - rates) * (1 - effect / 0.7), cell.trials),
            rewards(rng, rates, cell.trials),
        )

    return draw


def graded_arms(rng: np.random.Generator, cell: Cell) -> Arms:
    """Fractional rewards; the better arm mends as many tasks as the effect takes."""

    def draw(tasks: int, effect: float) -> tuple[list[list[float]], list[list[float]]]:
        means = true_means(rng, tasks, 0.5, cell.correlation)
        better = 1 - (1 - means) * (1 - effect / 0.5)
        return (
            graded_rewards(rng, better, cell.trials, cell.correlation, cell.steps),
            graded_rewards(rng, means, cell.trials, cell.correlation, cell.steps),
        )

    return draw


def power_of(arms: Arms, cell: Cell, runs: int, rng: np.random.Generator) -> tuple[float, float] | None:
    """(difference called detectable with 80 %, how often it is found); ``None`` where none is."""
    least = detectable(paired_components(*arms(PILOT, 0.01)), cell.tasks, cell.trials, Design())
    if least is None or least > 0.5:
        return None
    found = [sign_flip(task_differences(*arms(cell.tasks, least)), rng) < 0.05 for _ in range(runs)]
    return least, sum(found) / runs


def coverage_table(runs: int) -> Table:
    """Every design, ours beside Student's t."""
    drawn = Table("tasks x trials, kind, correlation", "ours", "t", title="Coverage of 95 % intervals, %")
    cells = [Cell(*row) for row in product((20, 87), (1, 10), (None, 4), (0.0, 0.5, 1.0), (0.0, *MENDED))]
    shares = []
    for number, cell in enumerate(track(cells, "coverage", console=Console(stderr=True))):
        rng = np.random.default_rng([SEED, number])
        share = np.mean([covered(rng, cell) for _ in range(runs)], axis=0)
        shares.append(share)
        drawn.add_row(str(cell), f"{100 * share[0]:.1f}", f"{100 * share[1]:.1f}")
    drawn.add_section()
    for name, pick in (("mean", np.mean), ("worst", np.min)):
        ours, theirs = pick(np.array(shares), axis=0)
        drawn.add_row(name, f"{100 * ours:.1f}", f"{100 * theirs:.1f}", style="bold")
    return drawn


def power_table(runs: int) -> Table:
    """Every design: what is promised at 80 %, and what is had."""
    drawn = Table("tasks x trials, kind, correlation", "detectable", "found", title="Power promised: 80 %")
    kinds = (("0/1", binary_arms, 1), ("fractional", graded_arms, 4))
    cells = list(product((20, 40, 87), (1, 3, 10), (0.3, 1.0)))
    for (name, make, steps), (tasks, trials, correlation) in track(
        list(product(kinds, cells)), "power", console=Console(stderr=True)
    ):
        cell = Cell(tasks, trials, steps, correlation, 0.0)
        rng = np.random.default_rng([SEED, tasks, trials, steps])
        found = power_of(make(rng, cell), cell, runs, rng)
        label = f"{tasks} x {trials}, {name}, {correlation:g}"
        drawn.add_row(label, *(("-", "-") if found is None else (f"{found[0]:.3f}", f"{100 * found[1]:.1f}")))
    return drawn


def main() -> None:
    """Simulate and print."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    console, started = Console(width=100), time.process_time()
    console.print(power_table(runs))
    console.print(coverage_table(runs))
    error = 100 * (0.05 * 0.95 / runs) ** 0.5
    spent = time.process_time() - started
    console.print(
        f"{runs} runs a design; error of 95 % is {error:.1f} points, of 80 % twice that; {spent:.0f} s"
    )


if __name__ == "__main__":
    main()
