"""A trial's setup, before any agent: route, install, prove. Runs whatever solver is used."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

from anyio import to_thread
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import SandboxEnvironment, sandbox

from workbench.benchmarks.task import BenchmarkTask
from workbench.core.errors import InfrastructureError, TrialError, UsageError, policy
from workbench.core.record import Exposure
from workbench.core.types import Arm
from workbench.evaluation import trials
from workbench.evaluation.bounds import bounds_of
from workbench.evaluation.budget import priced
from workbench.evaluation.container import LOCAL, docker_of, image_of, notes_of, provider_of
from workbench.evaluation.experiment import Experiment
from workbench.evaluation.faults import as_faults
from workbench.evaluation.layout import Layout, container_layout, local_layout
from workbench.evaluation.showing import given_skills, installed_skills
from workbench.evaluation.state import ROUTE, TrialState
from workbench.evaluation.treatment import fingerprint, install
from workbench.evaluation.trials import Trial
from workbench.evaluation.verify import host_variables, read_folder
from workbench.sandboxing.dockerfile import parse
from workbench.sandboxing.landing import image, landings
from workbench.sandboxing.transfer import put_tree

NO_SANDBOX = "none"
"""In the record of a trial that needed none."""


def arm_of(state: TaskState) -> Arm:
    """The treatment of a sample, from its metadata."""
    return Arm(state.metadata["condition"], state.metadata["router"] or None)


def prepare(experiment: Experiment) -> Solver:
    """The setup of every trial of an experiment."""

    @solver(name="prepare")
    def build() -> Solver:
        async def solve(state: TaskState, generate: Generate) -> TaskState:
            del generate
            record = trials.start(state.uuid)
            try:
                with as_faults("task:setup"):
                    await _prepare(experiment, state, record)
            except TrialError as failure:
                error = _before_the_agent(failure)
                experiment.guard.saw(error, str(state.sample_id))
                if policy(error.cause).retry:
                    raise
                record.fault = str(error)
                state.completed = True
            return state

        return solve

    return build()


async def _prepare(experiment: Experiment, state: TaskState, record: TrialState) -> None:
    experiment.guard.check()
    ceiling = await _admit(experiment, state)
    arm, task_id = arm_of(state), str(state.metadata["task"])
    task = experiment.suite.task(task_id)
    route = await experiment.routes.route(arm, task_id)
    record.route = route
    state.store.set(ROUTE, route.model_dump(mode="json"))
    started = time.monotonic()
    if task.unsupported is not None:
        raise TrialError("task:unsupported", task.unsupported)
    put = _install if task.question is None else _give
    trial = await put(experiment, task, record, experiment.routes.chosen(arm, route))
    trials.begin(state.uuid, replace(trial, ceiling=ceiling))
    record.setup_ended = time.monotonic()
    record.setup_seconds = record.setup_ended - started


def _before_the_agent(error: TrialError) -> TrialError:
    """A failure as it counts where no agent has done anything yet: never one that is scored."""
    return TrialError("task:setup", error.detail) if policy(error.cause).valid else error


async def _admit(experiment: Experiment, state: TaskState) -> float | None:
    """The most that the trial may spend, in US dollars; ``None`` without a budget."""
    budget, arguments = experiment.budget, experiment.arguments
    if budget is None:
        return None
    known = priced(budget.limit, arguments.unpriced)
    ceiling = await budget.admit(state.uuid)
    return ceiling if known else None


async def _give(
    experiment: Experiment, task: BenchmarkTask, record: TrialState, ids: tuple[str, ...]
) -> Trial:
    """Have the skills' texts ready; nothing is installed, and a sandbox is for running the answer alone."""
    showing = experiment.arguments.showing
    record.sandbox = NO_SANDBOX
    if task.sandboxed:
        _describe(record, task, sandbox())
    skills = given_skills(await to_thread.run_sync(experiment.shown, ids) if ids else ())
    record.exposure = Exposure(disclosure=showing.way, nudge=showing.nudge, routed=ids)
    return Trial(task, None, showing, skills, experiment.kit(task))


async def _install(
    experiment: Experiment, task: BenchmarkTask, record: TrialState, ids: tuple[str, ...]
) -> Trial:
    """Install the skills in the sandbox, and prove it."""
    showing = experiment.arguments.showing
    environment = sandbox()
    _describe(record, task, environment)
    layout = await _stage(experiment, task, environment)
    record.places = list(layout.skills)
    treatments = await to_thread.run_sync(experiment.treatments, ids, task.id)
    installed = await install(environment, layout, treatments)
    record.skill_files = fingerprint(treatments)
    record.exposure = Exposure(disclosure=showing.way, nudge=showing.nudge, routed=ids, installed=installed)
    box = docker_of(environment)
    if box is not None:
        await box.note_services()
    return Trial(task, layout, showing, installed_skills(treatments, layout))


def _describe(record: TrialState, task: BenchmarkTask, environment: SandboxEnvironment) -> None:
    record.sandbox = provider_of(environment)
    record.image, record.notes = image_of(environment), [*_notes(task), *notes_of(environment)]
    record.limits = bounds_of(task, docker_of(environment))


def _notes(task: BenchmarkTask) -> list[str]:
    """What of the task is ignored here, and what it takes from this machine."""
    given = {"verifier": host_variables(task.verifier_env), "solution": host_variables(task.solution_env)}
    return [
        *task.notes,
        *(f"{who} gets {', '.join(names)} of this machine" for who, names in given.items() if names),
    ]


async def _stage(experiment: Experiment, task: BenchmarkTask, environment: SandboxEnvironment) -> Layout:
    """Find out where things lie in this sandbox and make the places that Harbor promises."""
    if provider_of(environment) == LOCAL:
        layout = await _stage_locally(experiment, task, environment)
    else:
        layout = container_layout(experiment.plans[task.id].places)
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
    files = await to_thread.run_sync(local_files, task.environment)
    await put_tree(environment, files, ".")
    root = await environment.exec(["pwd", "-P"], timeout=60, timeout_retry=False)
    return local_layout(root.stdout.strip())


def local_files(environment: Path) -> dict[str, tuple[bytes, bool]]:
    """Files of a build context that land in the image's working directory, by path relative to it."""
    file = environment / "Dockerfile"
    dockerfile = parse(file.read_text(encoding="utf-8"), file)
    context = {
        path: file for path, file in read_folder(environment).items() if not path.startswith("skills/")
    }
    workdir = image(dockerfile).workdir.rstrip("/") + "/"
    return {
        landing.target.removeprefix(workdir): context[landing.source]
        for landing in landings(dockerfile, context)
        if landing.target.startswith(workdir)
    }
