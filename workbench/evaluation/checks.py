"""Is a suite fit to measure with? The reference solution must pass with the gold skills, doing
nothing must score 0, and where a suite claims it, the reference solution must fail without skills.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from workbench.core.record import TrialRecord
from workbench.core.workspace import Workspace

Probe = Literal["gold", "nothing", "without"]
PROBES: dict[Probe, tuple[str, str]] = {
    "gold": ("oracle", "gold"),
    "nothing": ("nop", "gold"),
    "without": ("oracle", "none"),
}
"""Probe -> (agent, condition)."""


@dataclass
class TaskCheck:
    """What a task's probes scored, a reward per repetition; `faults` says what was excluded and why."""

    task: str
    rewards: dict[Probe, list[float]] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)

    def problems(self, needs_skills: bool) -> list[str]:
        """What is wrong with the task; empty when it holds."""
        wanted: list[tuple[Probe, float, str]] = [
            ("gold", 1.0, "the reference solution with gold skills scored"),
            ("nothing", 0.0, "doing nothing scored"),
        ]
        if needs_skills:
            wanted.append(("without", 0.0, "the reference solution without skills scored"))
        found = list(self.faults)
        for probe, reward, text in wanted:
            values = self.rewards.get(probe, [])
            if not values and not self.faults:
                found.append(f"{text} nothing that counts")
            elif any(value != reward for value in values):
                found.append(f"{text} {', '.join(f'{value:g}' for value in values)}, not {reward:g}")
        return found


def run_checks(
    suite: str, workspace: Workspace, given: dict[str, Any], log_dir: Path, *, repeat: int, display: str
) -> list[TaskCheck]:
    """Run every probe of every task through the same path as an evaluation.

    Args:
        given: task arguments that choose tasks and data (``tasks``, ``data``).
        log_dir: where the Inspect logs go.
        repeat: runs of each probe (reference solutions can be flaky).
        display: Inspect's display mode.
    """
    from inspect_ai import eval as inspect_eval

    from workbench.evaluation.agents.nop import nop
    from workbench.evaluation.agents.oracle import oracle
    from workbench.evaluation.tasks import build_task

    here = Path.cwd()
    both = build_task(suite, {**given, "conditions": "none,gold"}, workspace, here)
    gold = build_task(suite, {**given, "conditions": "gold"}, workspace, here)
    checks = {name: TaskCheck(name) for name in (str(s.metadata["task"]) for s in gold.dataset if s.metadata)}
    for task, agent in ((both, oracle()), (gold, nop())):
        logs = inspect_eval(
            task,
            model="none",
            solver=agent,
            log_dir=str(log_dir),
            epochs=repeat,
            display=display,  # type: ignore[arg-type]
        )
        if any(log.status == "cancelled" for log in logs):
            raise KeyboardInterrupt
        for sample in (s for log in logs for s in log.samples or []):
            _count(checks[str(sample.metadata["task"])], sample)
    return [checks[name] for name in sorted(checks)]


def _count(check: TaskCheck, sample: Any) -> None:
    score = (sample.scores or {}).get("workbench")
    if score is None:
        check.faults.append(f"{sample.id}: {sample.error.message if sample.error else 'not scored'}")
        return
    record = TrialRecord.model_validate(score.metadata["record"])
    if record.outcome.reward is None:
        check.faults.append(f"{sample.id}: [{record.outcome.cause}] {record.outcome.detail}")
        return
    check.rewards.setdefault(probe_of(record), []).append(record.outcome.reward)


def probe_of(record: TrialRecord) -> Probe:
    """Which probe a trial was."""
    return next(p for p, how in PROBES.items() if how == (record.agent, record.condition))


def failing(checks: Sequence[TaskCheck], needs_skills: bool) -> list[TaskCheck]:
    """The tasks that do not hold."""
    return [check for check in checks if check.problems(needs_skills)]
