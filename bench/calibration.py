"""Do the intervals cover 95 % and the tests reject 5 %, and what do the usual methods do in their place?

    python bench/calibration.py [RUNS]

Over 20 to 87 tasks, 1 to 10 trials (also unequal), success 5 to 95 %, correlation within tasks 0 to 1;
arms of equal mean that share the tasks' difficulties ("alike"), have difficulties of their own
("apart"), or fail where the other passes ("opposed"). Peers in the same runs: the interval over trials
as if they were independent (what a binomial error bar shows), Student's t over tasks, the percentile
bootstrap over tasks, and the mid-p variant of the test.

The worst of hundreds of designs is mostly the unluckiest, so the three that look worst are run again,
five times as often, and the worst of these is shown. A permutation test can reject only as often as
the sums it permutes allow; how often that is, is computed beside it. With ties broken by chance
it must reject 5 % everywhere.
"""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Literal, NamedTuple

import numpy as np
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from workbench.stats.bootstrap import bootstrap_mean
from workbench.stats.equivalence import equivalence
from workbench.stats.gap import gap_share
from workbench.stats.paired import difference, t_interval, task_differences
from workbench.stats.permutation import attainable, sign_flips
from workbench.stats.planted import rewards, true_rates
from workbench.stats.proportion import TaskRewards, clustered_rate, task_means, wilson

ALPHA = 0.05
MARGIN = 0.1
SEED = 2026
AGAIN = 5
SELDOM = 4
"""What takes long is looked at in one run of so many."""

Arms = Literal["alike", "apart", "opposed"]

COVERAGE = (
    "rate: clustered score interval",
    "rate: trials as independent",
    "rate: t over tasks",
    "rate: bootstrap over tasks",
    "difference: clustered score interval",
    "10 points apart: clustered score interval",
    "share of the gold gap: score intervals",
    "difference: t over tasks",
    "difference: bootstrap over tasks",
)
EXACT, MID, CHANCE = "sign-flip, exact", "sign-flip, mid-p", "sign-flip, ties by chance"
SAME = "sameness, at the margin"
ATTAINABLE = "attainable"
OURS = {COVERAGE[0], *COVERAGE[4:7], EXACT, CHANCE, SAME}


class Design(NamedTuple):
    """One cell of the simulation; trials ``None`` are one to five, unequal."""

    tasks: int
    trials: int | None
    success: float
    correlation: float
    arms: Arms

    def __str__(self) -> str:
        trials = "1-5" if self.trials is None else self.trials
        return f"{self.tasks} x {trials}, {self.success:.0%}, {self.correlation:g}, {self.arms}"


def designs() -> list[Design]:
    """All cells; arms can only be opposed where that leaves their means equal."""
    trials: tuple[int | None, ...] = (1, 3, 10, None)
    arms: tuple[Arms, ...] = ("alike", "apart", "opposed")
    cells = product((20, 40, 87), trials, (0.05, 0.3, 0.5, 0.95), (0.0, 0.4, 1.0), arms)
    return [
        cell
        for cell in map(Design._make, cells)
        if cell.arms == "alike" or (cell.correlation and (cell.arms == "apart" or cell.success == 0.5))
    ]


def second_rates(rng: np.random.Generator, design: Design, rates: np.ndarray) -> np.ndarray:
    """True rates of the other arm, whose mean over all tasks is the same."""
    if design.arms == "alike":
        return rates
    apart = true_rates(rng, design.tasks, design.success, design.correlation)
    return apart if design.arms == "apart" else 1 - rates


def moved(rates: np.ndarray, success: float) -> np.ndarray:
    """Rates whose mean over all tasks is the margin away from `success`, towards the middle."""
    if success > 0.5:
        return rates * (1 - MARGIN / success)
    return 1 - (1 - rates) * (1 - MARGIN / (1 - success))


def once(rng: np.random.Generator, design: Design, peers: bool) -> dict[str, float]:
    """One data set: did each interval cover the truth, did each test reject?"""
    rates = true_rates(rng, design.tasks, design.success, design.correlation)
    first = rewards(rng, rates, design.trials)
    second = rewards(rng, second_rates(rng, design, rates), design.trials)
    single, pair = clustered_rate(first).interval, difference(first, second, rng)
    assert single is not None
    assert pair.interval is not None
    values = task_differences(first, second)
    flips = sign_flips(values, rng)
    found: dict[str, float] = {
        COVERAGE[0]: design.success in single,
        COVERAGE[4]: 0 in pair.interval,
        EXACT: pair.p_value < ALPHA,
        MID: flips.mid_p < ALPHA,
        CHANCE: flips.beyond + rng.random() * flips.tied < ALPHA,
        **apart(rng, design, rates, first),
    }
    return found | seldom(rng, design, rates, first, values) if peers else found


def apart(
    rng: np.random.Generator, design: Design, rates: np.ndarray, first: TaskRewards
) -> dict[str, float]:
    """The same where the arms differ by the margin."""
    far = rewards(rng, moved(rates, design.success), design.trials)
    distance = MARGIN if design.success > 0.5 else -MARGIN
    interval = difference(first, far, rng).interval
    assert interval is not None
    return {COVERAGE[5]: distance in interval, SAME: equivalence(first, far, MARGIN).p_equivalent < ALPHA}


def seldom(
    rng: np.random.Generator, design: Design, rates: np.ndarray, first: TaskRewards, values: list[float]
) -> dict[str, float]:
    """What takes long: the peers, the level that the test can attain, and the share of a gap.

    Gold skills mend 70 % of what fails, the router's half of that. No interval covers everything.
    """
    means, flat = task_means(first), [reward for task in first for reward in task]
    routed, gold = (rewards(rng, 1 - (1 - rates) * left, design.trials) for left in (0.65, 0.3))
    share = gap_share(routed, first, gold).interval
    return {
        COVERAGE[1]: design.success in wilson(sum(flat), len(flat)),
        COVERAGE[2]: design.success in t_interval(means),
        COVERAGE[3]: design.success in bootstrap_mean(means, rng, "percentile", draws=499),
        COVERAGE[6]: share is None or 0.5 in share,
        COVERAGE[7]: 0 in t_interval(values),
        COVERAGE[8]: 0 in bootstrap_mean(values, rng, "percentile", draws=499),
        ATTAINABLE: attainable(values, ALPHA),
    }


def simulate(design: Design, runs: int, seed: int) -> dict[str, float]:
    """Share of `runs` data sets in which each thing happened."""
    rng = np.random.default_rng(seed)
    sums: dict[str, float] = defaultdict(float)
    for run in range(runs):
        for name, value in once(rng, design, peers=run % SELDOM == 0).items():
            sums[name] += value
    return {name: total / looks(name, runs) for name, total in sums.items()}


def looks(name: str, runs: int) -> int:
    """In how many of `runs` a thing was looked at."""
    often = {COVERAGE[0], COVERAGE[4], COVERAGE[5], EXACT, MID, CHANCE, SAME}
    return runs if name in often else -(-runs // SELDOM)


@dataclass(frozen=True)
class Line:
    """One method: its mean over designs, and its worst design after a second, longer look."""

    name: str
    mean: float
    worst: float
    design: Design


def summed(name: str, found: Mapping[Design, Mapping[str, float]], runs: int, bar: Progress) -> Line:
    """The line of one method; the designs that look worst are simulated again."""
    shares = {design: result[name] for design, result in found.items()}
    ranked = sorted(shares, key=shares.__getitem__, reverse=name not in COVERAGE)[:3]
    task = bar.add_task(f"again: {name}", total=len(ranked))
    again: dict[Design, float] = {}
    for design in ranked:
        again[design] = simulate(design, runs * AGAIN, SEED)[name] if name in OURS else shares[design]
        bar.advance(task)
    bar.remove_task(task)
    worst = (min if name in COVERAGE else max)(again, key=again.__getitem__)
    return Line(name, sum(shares.values()) / len(shares), again[worst], worst)


def error(runs: float) -> float:
    """Monte-Carlo standard error of a share of 5 % (or 95 %), in points."""
    return 100 * float((ALPHA * (1 - ALPHA) / runs) ** 0.5)


def table(title: str, lines: list[Line], runs: int) -> Table:
    """Lines of one kind."""
    drawn = Table("method", "mean", "worst", "+-", "tasks x trials, success, correlation, arms", title=title)
    for line in lines:
        length = looks(line.name, runs * AGAIN if line.name in OURS else runs)
        row = (f"{100 * line.mean:.1f}", f"{100 * line.worst:.1f}", f"{error(length):.1f}", str(line.design))
        drawn.add_row(line.name, *row, style="bold" if line.name in OURS else "")
    return drawn


def limits(found: Mapping[Design, Mapping[str, float]]) -> Table:
    """How often the exact test rejects against how often it can, by what it can."""
    bands = ((0.0, "never"), (0.0005, "up to 2 %"), (0.02, "2 to 4 %"), (0.04, "4 to 5 %"), (1.0, ""))
    drawn = Table("can reject", "designs", "can", "exact", "mid-p", "ties by chance", "the largest of them")
    drawn.title = "Sign-flip test by what the data allow, %"
    for (low, word), (high, _) in pairwise(bands):
        within = {design: result for design, result in found.items() if low <= result[ATTAINABLE] < high}
        columns = (ATTAINABLE, EXACT, MID, CHANCE)
        means = [100 * sum(r[name] for r in within.values()) / max(len(within), 1) for name in columns]
        largest = str(max(within, key=lambda d: d.tasks * (d.trials or 3))) if within else ""
        drawn.add_row(word, str(len(within)), *(f"{mean:.1f}" for mean in means), largest)
    return drawn


def main() -> None:
    """Simulate and print."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    console, started = Console(width=120), time.process_time()
    cells = designs()
    with Progress(console=Console(stderr=True)) as bar:
        found = {}
        for design in bar.track(cells, description="designs"):
            found[design] = simulate(design, runs, len(found))
        coverage = [summed(name, found, runs, bar) for name in COVERAGE]
        tests = [summed(name, found, runs, bar) for name in (EXACT, MID, CHANCE, SAME)]
    console.print(
        f"{len(cells)} designs x {runs} runs, error of a design {error(runs):.1f} points; bold: what is "
        f"reported, worst design at {runs * AGAIN} runs. {time.process_time() - started:.0f} s of CPU"
    )
    console.print(table("Coverage of 95 % intervals, %", coverage, runs))
    console.print(table("Rejections at 5 % where nothing differs, %", tests, runs))
    console.print(limits(found))


if __name__ == "__main__":
    main()
