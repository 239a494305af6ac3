"""A trial's setup, before any agent: route, install, prove. Runs whatever solver is used."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import TYPE_CHECKING

from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import SandboxEnvironment, sandbox, store_as
from inspect_ai.util._sandbox.registry import registry_find_sandboxenv

from workbench.benchmarks.task import BenchmarkTask
from workbench.core.errors import InfrastructureError, TrialError, UsageError, WorkbenchError
from workbench.core.record import Exposure, RouteInfo
from workbench.core.types import Arm
from workbench.evaluation import trials
from workbench.evaluation.dataset import LOCAL, PROVIDER
from workbench.evaluation.experiment import Experiment
from workbench.evaluation.layout import Layout, container_layout, local_layout
from workbench.evaluation.state import TrialState
from workbench.evaluation.treatment import install
from workbench.evaluation.verify import read_folder
from workbench.sandboxing.dockerfile import Dockerfile, parse
from workbench.sandboxing.landing import image, landings, places
from workbench.sandboxing.transfer import put_tree

if TYPE_CHECKING:
    from workbench.sandboxing.providers.docker import DockerSandbox


def arm_of(state: TaskState) -> Arm:
    """The treatment of a sample, from its metadata."""
    return Arm(state.metadata["condition"], state.metadata["router"] or None)


def provider_of(environment: SandboxEnvironment) -> str:
    """What the sandbox is called on the command line.

    Raises:
        UsageError: a provider that cannot run these tasks. Nothing may be installed in it: what
            is right in a container would overwrite the host in a sandbox that is none.
    """
    for provider in (LOCAL, PROVIDER):
        try:
            environment.as_type(registry_find_sandboxenv(provider))
        except TypeError:
            continue
        return provider
    raise UsageError(
        f"workbench tasks run in '{PROVIDER}' or '{LOCAL}'; leave out --sandbox, or give one of them"
    )


def docker_of(environment: SandboxEnvironment) -> DockerSandbox | None:
    """Our Docker sandbox behind Inspect's proxy, ``None`` in another one."""
    from workbench.sandboxing.providers.docker import DockerSandbox

    try:
        return environment.as_type(DockerSandbox)
    except TypeError:
        return None


def image_of(environment: SandboxEnvironment) -> str | None:
    """Content id of the container's image."""
    box = docker_of(environment)
    return None if box is None else box.image


def notes_of(environment: SandboxEnvironment) -> list[str]:
    """What of the sandbox is not as the task asked: substituted bases, limits that are not enforced."""
    box = docker_of(environment)
    if box is None:
        return []
    build = box.started.build
    swapped = {} if build is None else build.substitutes
    return [
        *(f"base image {new} in place of {old}" for old, new in sorted(swapped.items())),
        *box.started.limits.notes,
    ]


def prepare(experiment: Experiment) -> Solver:
    """The setup of every trial of an experiment."""

    @solver(name="prepare")
    def build() -> Solver:
        async def solve(state: TaskState, generate: Generate) -> TaskState:
            del generate
            try:
                await _prepare(experiment, state)
            except WorkbenchError as error:
                raise as_trial_error(error, "task:setup") from error
            return state

        return solve

    return build()


async def _prepare(experiment: Experiment, state: TaskState) -> None:
    experiment.guard.check()
    started = time.monotonic()
    arm, task_id = arm_of(state), str(state.metadata["task"])
    task = experiment.suite.task(task_id)
    record = store_as(TrialState)
    record.route = await asyncio.to_thread(_route, experiment, arm, task_id)
    if task.unsupported is not None:
        raise TrialError("task:unsupported", task.unsupported)
    environment = sandbox()
    layout = await _stage(experiment, task, environment)
    trials.begin(state.uuid, trials.Trial(task, layout, experiment.arguments.disclosure))
    treatments = await asyncio.to_thread(experiment.treatments, arm, task_id)
    installed = await install(environment, layout, treatments)
    record.exposure = Exposure(
        disclosure=experiment.arguments.disclosure,
        routed=experiment.routes.chosen(arm, task_id),
        installed=installed,
    )
    record.places = list(layout.skills)
    record.sandbox = provider_of(environment)
    record.image, record.notes = image_of(environment), [*task.notes, *notes_of(environment)]
    record.setup_seconds = time.monotonic() - started


def _route(experiment: Experiment, arm: Arm, task_id: str) -> RouteInfo:
    try:
        return experiment.routes.route(arm, task_id)
    except WorkbenchError as error:
        raise as_trial_error(error, "config:router") from error


def as_trial_error(error: WorkbenchError, cause: str) -> TrialError:
    """A failure with its cause: its own where it has one, else `cause`."""
    return error if isinstance(error, TrialError) else TrialError(cause, str(error))


async def _stage(experiment: Experiment, task: BenchmarkTask, environment: SandboxEnvironment) -> Layout:
    """Find out where things lie in this sandbox and make the places that Harbor promises."""
    if provider_of(environment) == LOCAL:
        layout = await _stage_locally(experiment, task, environment)
    else:
        dockerfile = _dockerfile(task.environment)
        layout = container_layout(places(dockerfile))
    folders = [f"{layout.logs}/{name}" for name in ("agent", "verifier", "artifacts")]
    result = await environment.exec(
        ["mkdir", "-p", *folders], user=layout.user, timeout=60, timeout_retry=False
    )
    if not result.success:
        raise InfrastructureError("infra:transfer", f"cannot make {layout.logs}: {result.stderr[-200:]}")
    return layout


async def _stage_locally(
    experiment: Experiment, task: BenchmarkTask, environment: SandboxEnvironment
) -> Layout:
    """What the image would hold in its working directory, put into the local sandbox's folder."""
    if experiment.suite.spec.sandbox == "docker":
        raise UsageError(f"the tasks of '{task.suite}' need containers; leave out --sandbox local")
    files = await asyncio.to_thread(local_files, task.environment)
    await put_tree(environment, files, ".")
    root = await environment.exec(["pwd", "-P"], timeout=60, timeout_retry=False)
    return local_layout(root.stdout.strip())


def local_files(environment: Path) -> dict[str, tuple[bytes, bool]]:
    """Files of a build context that land in the image's working directory, by path relative to it."""
    dockerfile = _dockerfile(environment)
    context = {
        path: file for path, file in read_folder(environment).items() if not path.startswith("skills/")
    }
    workdir = image(dockerfile).workdir.rstrip("/") + "/"
    return {
        landing.target.removeprefix(workdir): context[landing.source]
        for landing in landings(dockerfile, context)
        if landing.target.startswith(workdir)
    }


def _dockerfile(environment: Path) -> Dockerfile:
    file = environment / "Dockerfile"
    return parse(file.read_text(encoding="utf-8"), file)
