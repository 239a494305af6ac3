"""A trial's setup, before any agent: route, install, prove. Runs whatever solver is used."""

from __future__ import annotations

import asyncio
import time

from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import SandboxEnvironment, sandbox, store_as

from workbench.core.errors import InfrastructureError
from workbench.core.record import Exposure
from workbench.core.types import Arm
from workbench.evaluation import trials
from workbench.evaluation.dataset import LOCAL, PROVIDER
from workbench.evaluation.experiment import Experiment
from workbench.evaluation.layout import Layout, container_layout, local_layout
from workbench.evaluation.state import TrialState
from workbench.evaluation.treatment import install
from workbench.evaluation.verify import read_folder
from workbench.sandboxing.dockerfile import read_dockerfile
from workbench.sandboxing.transfer import put_tree


def arm_of(state: TaskState) -> Arm:
    """The treatment of a sample, from its metadata."""
    return Arm(state.metadata["condition"], state.metadata["router"] or None)


def prepare(experiment: Experiment) -> Solver:
    """The setup of every trial of an experiment."""

    @solver(name="prepare")
    def build() -> Solver:
        async def solve(state: TaskState, generate: Generate) -> TaskState:
            del generate
            await _prepare(experiment, state)
            return state

        return solve

    return build()


async def _prepare(experiment: Experiment, state: TaskState) -> None:
    started = time.monotonic()
    arm, task_id = arm_of(state), str(state.metadata["task"])
    task = experiment.suite.task(task_id)
    record = store_as(TrialState)
    record.route = await asyncio.to_thread(experiment.routes.route, arm, task_id)
    environment = sandbox()
    layout = await _stage(experiment, task_id, environment)
    trials.begin(state.uuid, trials.Trial(task, layout, experiment.arguments.disclosure))
    treatments = await asyncio.to_thread(experiment.treatments, arm, task_id)
    installed = await install(environment, layout, treatments)
    record.exposure = Exposure(
        disclosure=experiment.arguments.disclosure,
        routed=experiment.routes.chosen(arm, task_id),
        installed=installed,
    )
    record.places = list(layout.skills)
    record.setup_seconds = time.monotonic() - started


async def _stage(experiment: Experiment, task_id: str, environment: SandboxEnvironment) -> Layout:
    """Find out where things lie in this sandbox and make the places that Harbor promises."""
    task = experiment.suite.task(task_id)
    dockerfile = read_dockerfile(task.environment)
    if experiment.local:
        layout = local_layout(await _working_directory(environment))
        await put_tree(environment, _local_files(dockerfile.copies, task.environment), layout.scan)
    else:
        layout = container_layout(dockerfile.places)
    folders = " ".join(f"'{layout.logs}/{name}'" for name in ("agent", "verifier", "artifacts"))
    result = await environment.exec(["sh", "-c", f"mkdir -p {folders}"], user=layout.user, timeout=60)
    if not result.success:
        raise InfrastructureError("infra:transfer", f"cannot make {layout.logs}: {result.stderr[-200:]}")
    return layout
