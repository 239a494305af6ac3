"""What Inspect's own viewer shows of a trial: an answer beside the target, and an explanation below it."""

from __future__ import annotations

from collections.abc import Iterable

from workbench.core.record import TrialRecord
from workbench.core.terminal import safe
from workbench.core.types import stage_name
from workbench.evaluation.verify import Verdict

_SHOWN = 300


def answer(record: TrialRecord, said: str | None) -> str:
    """How the trial ended, in a few words; to a question (`said` is not ``None``) what was answered.

    Of an answer the last line is taken, at most 300 characters of it: what leads there is in the
    transcript.
    """
    lines = (said or "").strip().splitlines()
    return safe(lines[-1].strip(), _SHOWN) if lines else ending(record)


def ending(record: TrialRecord) -> str:
    """``passed`` · ``failed: gold not routed`` · ``failed: no skills`` · ``excluded: api``.

    A trial that its agent left nothing to judge of has ``failed: agent_resource``.
    """
    outcome = record.outcome
    if outcome.cause is not None and outcome.reward is not None:
        return f"failed: {outcome.cause}"
    if outcome.cause is not None or outcome.funnel is None:
        return f"excluded: {outcome.cause or 'not measured'}"
    if outcome.funnel == "passed":
        return "passed"
    if record.arm.condition == "none":
        return "failed: no skills"
    reached = stage_name(outcome.funnel, blind=record.exposure.blind).removesuffix(", failed")
    return f"failed: gold {reached}"


def explanation(record: TrialRecord, verdict: Verdict | None) -> str:
    """A line each for how it ended, the arm, skills: gold, given, loaded; then what the verifier said."""
    outcome, exposure = record.outcome, record.exposure
    reward = "" if outcome.reward is None else f" (reward {outcome.reward:g})"
    lines = [
        f"{ending(record)}{reward}",
        f"arm: {record.arm.label}",
        f"gold: {_names(record.route.gold)}",
        f"given: {_names(exposure.routed)}",
        f"loaded: {'not observed' if exposure.blind else _names(load.id for load in exposure.loads)}",
    ]
    lines += [f"incidents: {', '.join(outcome.incidents)}"] if outcome.incidents else []
    lines += [outcome.detail] if outcome.detail else []
    lines += [f"verifier:\n{verdict.output}"] if verdict is not None else []
    return "\n".join(lines)


def _names(ids: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(ids)) or "nothing"
