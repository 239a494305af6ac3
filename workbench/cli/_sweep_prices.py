"""What a trial takes, from the logs of a pilot: turns, tokens, money and seconds by cell.

A price holds for trials of the same model, agent, arm and way of showing skills, and of the same
settings that bear on the length of an answer. Sampling settings and speed do not; baselines of any
number of skills and any pool serve.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench.cli._sweep_ledger import Cell, arm_of
from workbench.cli._sweep_lock import Lock
from workbench.cli._sweep_spec import DEFAULT_AGENT
from workbench.core.record import Spend, TrialRecord
from workbench.core.types import TASK_PREFIX
from workbench.reporting.logfile import EvalSpec, ForeignLogError, UnreadableLogError, read_header
from workbench.reporting.prices import seconds
from workbench.reporting.read import Notes, read_trials
from workbench.reporting.settings import UNRELATED

_SAMPLING = frozenset(
    ("temperature", "top_p", "top_k", "seed", "frequency_penalty", "presence_penalty", "logit_bias")
)
"""Which words come, not how many, as far as a forecast goes."""


@dataclass(frozen=True)
class Price:
    """Means over the known trials of one cell, tasks weighing alike; ``None`` is not known."""

    turns: float | None
    tokens: float | None
    cost: float | None
    seconds: float | None


@dataclass(frozen=True)
class Prices:
    """Prices by cell of a lock.

    Attributes:
        bounded: some come from trials under other limits than the lock's, so may not hold.
    """

    cells: Mapping[Cell, Price]
    bounded: bool = False


def pilot_prices(logs: Iterable[Path], lock: Lock) -> Prices:
    """Prices of a lock's cells from logs of any run, as far as they tell."""
    wanted = {_length(job.generate) for job in lock.jobs}
    limits = {json.dumps(dict(job.limits), sort_keys=True) for job in lock.jobs}
    alike = {path: spec for path, spec in _specs(logs) if _length(spec.model_generate_config) in wanted}
    found: dict[Cell, dict[str, list[Spend]]] = defaultdict(lambda: defaultdict(list))
    bounded = False
    for trial in read_trials(list(alike), Notes()):
        if trial.status == "scored" and trial.record is not None:
            spec = alike[trial.log]
            bounded |= json.dumps(spec.config.limits, sort_keys=True) not in limits
            for cell in _cells(spec, trial.sample_id, trial.record):
                found[cell][trial.task].append(trial.record.spend)
    return Prices({cell: _price(tasks.values()) for cell, tasks in found.items()}, bounded)


def _specs(logs: Iterable[Path]) -> Iterator[tuple[Path, EvalSpec]]:
    for path in logs:
        with suppress(UnreadableLogError, ForeignLogError, OSError, ValueError):
            yield path, read_header(path).eval


def _length(generate: Mapping[str, Any]) -> str:
    """The settings that bear on how long an answer gets, e.g. ``reasoning_effort``."""
    kept = {
        name: value
        for name, value in generate.items()
        if value is not None and name not in UNRELATED and name not in _SAMPLING
    }
    return json.dumps(kept, sort_keys=True, default=str)


def _cells(spec: EvalSpec, sample: str, record: TrialRecord) -> Iterator[Cell]:
    """The cell of a trial, also under the number of skills that its suite gave it."""
    agent = (spec.solver or DEFAULT_AGENT).removeprefix(TASK_PREFIX)
    given = spec.task_args_passed or {}
    arms = (arm_of(sample, given), arm_of(sample, {**given, "router_k": record.route.k}))
    for arm in dict.fromkeys(arms):
        yield spec.model, agent, arm


def _price(tasks: Iterable[list[Spend]]) -> Price:
    spends = list(tasks)
    return Price(
        turns=_mean([[spend.turns for spend in task] for task in spends]),
        tokens=_mean([[spend.total_tokens for spend in task] for task in spends]),
        cost=_mean([[spend.cost_usd for spend in task] for task in spends]),
        seconds=_mean([[seconds(spend) for spend in task] for task in spends]),
    )


def _mean(tasks: Iterable[Iterable[float | None]]) -> float | None:
    known = [[value for value in task if value is not None] for task in tasks]
    means = [sum(task) / len(task) for task in known if task]
    return sum(means) / len(means) if means else None
