"""Judging a task that is answered in words; programs among the answers run in the trial's sandbox only."""

from __future__ import annotations

import secrets
import time

from inspect_ai.util import sandbox

from workbench.benchmarks.judging import Rules, code_judge, judged
from workbench.benchmarks.task import Question
from workbench.core.errors import VerifierError
from workbench.evaluation.verify import Verdict, alive

_MAX_REPLY = 200_000
_SECONDS = 240
_SHOWN = 500


async def judge_answer(reply: str, question: Question, rules: Rules) -> Verdict:
    """The verdict on a reply: 1 when it is right, else 0.

    A reply longer than 200,000 characters is judged by its end.

    Raises:
        InfrastructureError: the sandbox is gone.
        VerifierError: ``verifier_error:bootstrap``, the sandbox lacks what the tests import.
    """
    started = time.monotonic()
    reply = reply[-_MAX_REPLY:]
    if question.in_sandbox:
        correct, shown = await _run(reply, question)
    else:
        judgement = judged(question.judge, reply, question.facts, rules)
        correct, shown = judgement.correct, f"read as: {judgement.answer[:_SHOWN]}"
    return Verdict(float(correct), (), time.monotonic() - started, shown)


async def _run(reply: str, question: Question) -> tuple[bool, str]:
    """Run a program's tests; a program that does not end in time is wrong."""
    await alive(sandbox())
    word = secrets.token_hex(16)
    program = code_judge(question.judge).program(reply, question.facts, word)
    try:
        done = await sandbox().exec(["python3", "-"], input=program, timeout=_SECONDS, timeout_retry=False)
    except TimeoutError:
        return False, f"the tests did not end within {_SECONDS} s"
    last = done.stdout.rstrip().rpartition("\n")[2]
    if last.startswith(f"{word} lacks "):
        what = last.removeprefix(f"{word} lacks ")
        raise VerifierError(
            "verifier_error:bootstrap",
            f"the sandbox's image lacks {what}, which the tests need;"
            " install it in sandboxes/answers/Dockerfile of your workspace",
        )
    return last == word, done.stderr[-_SHOWN:]
