"""Where a trial is judged: in a fresh container, in the agent's own, or in the local sandbox's folder."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from fnmatch import fnmatchcase

from inspect_ai.log import transcript
from inspect_ai.util import SandboxEnvironment, sandbox
from inspect_ai.util._sandbox.events import SandboxEnvironmentProxy

from workbench.benchmarks.task import BenchmarkTask
from workbench.core.errors import TrialError, VerifierError, policy
from workbench.evaluation.container import docker_of
from workbench.evaluation.dataset import verifier_network
from workbench.evaluation.experiment import Experiment
from workbench.evaluation.layout import Layout
from workbench.evaluation.state import TrialState
from workbench.evaluation.verify import Verdict, alive, verify
from workbench.sandboxing.cleaning import Swept

_SHOWN = 20


def is_shared(experiment: Experiment, task: BenchmarkTask) -> bool:
    """Whether a task is verified in the agent's own container: by ``-T verifier``, else by its suite."""
    asked = experiment.arguments.verifier
    if asked is not None:
        return asked == "shared"
    return any(fnmatchcase(task.id, pattern) for pattern in experiment.suite.spec.shared_verifier)


def kept_changes(experiment: Experiment, task: BenchmarkTask) -> tuple[str, ...]:
    """Paths of the image that a task has its agent change."""
    stated = experiment.suite.spec.kept_changes
    return tuple(path for pattern, paths in stated.items() if fnmatchcase(task.id, pattern) for path in paths)


@asynccontextmanager
async def place(
    experiment: Experiment, task: BenchmarkTask, record: TrialState
) -> AsyncIterator[SandboxEnvironment]:
    """The sandbox in which a trial is judged. The agent's must be alive: nothing else may be scored.

    Raises:
        TrialError: the agent's sandbox is gone (with its cause), no other can be had, or ``tamper``.
    """
    box = docker_of(sandbox())
    if box is None:
        await alive(sandbox())
        yield sandbox()
        return
    fresh = not is_shared(experiment, task)
    await box.settle()
    network = verifier_network(experiment.suite, task)
    async with box.judged(network, fresh=fresh, keep=kept_changes(experiment, task)) as (judged, swept):
        _report(swept, record)
        yield SandboxEnvironmentProxy(judged)


def _report(swept: Swept, record: TrialState) -> None:
    """Incidents for the record, and the paths for the reader of the transcript."""
    for name in swept.incidents:
        record.incident(name)
        paths = swept.reasons[name.removeprefix("swept:")]
        shown = ", ".join(paths[:_SHOWN]) + (", ..." if len(paths) > _SHOWN else "")
        transcript().info(f"{name}: undone before verification: {shown}", source="workbench")


async def judge(experiment: Experiment, task: BenchmarkTask, layout: Layout, record: TrialState) -> Verdict:
    """Verify a trial in its place. Raises what `place` and `verify` raise."""
    async with place(experiment, task, record) as where:
        with _as_the_verifiers():
            try:
                return await verify(where, task, layout, shared=is_shared(experiment, task))
            except VerifierError as error:
                raise await _explained(where, error) from error


async def _explained(where: SandboxEnvironment, error: VerifierError) -> VerifierError:
    """The error of a verifier whose processes were killed for want of memory says so."""
    box = docker_of(where)
    if box is None or error.cause == "verifier_timeout" or not await box.ran_out_of_memory():
        return error
    return VerifierError("verifier_error:resource", f"memory ran out while the tests ran; {error.detail}")


@contextmanager
def _as_the_verifiers() -> Iterator[None]:
    """A container that is used up while tests run in it was not used up by the agent."""
    try:
        yield
    except TrialError as error:
        if policy(error.cause).valid:
            raise VerifierError("verifier_error:resource", error.detail) from error
        raise
