"""A run from its builds to its last container, also when it is broken off; strangers are never touched."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalLog
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import SandboxEnvironmentSpec, sandbox, sandboxenv

from workbench.core.errors import InfrastructureError
from workbench.sandboxing import labels
from workbench.sandboxing.config import BuildPlan, DockerConfig
from workbench.sandboxing.engine import Engine
from workbench.sandboxing.fleet import Fleet
from workbench.sandboxing.images import plan
from workbench.sandboxing.kill import MAIN_PROCESS
from workbench.sandboxing.labels import Owner
from workbench.sandboxing.orphans import sweep
from workbench.sandboxing.providers.docker import DockerSandbox

pytestmark = [
    pytest.mark.docker,
    pytest.mark.usefixtures("docker_engine"),
    # Inspect leaves streams of its own open when an evaluation ends.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
PROVIDER = "docker-sdk-tested"


def ours(engine: Engine, run: str) -> list[str]:
    """Containers of one run, running or not."""
    filters = {"label": f"{labels.RUN}={run}"}
    found: Any = engine.blocking(lambda api: api.containers(all=True, filters=filters))
    return [str(record["Id"]) for record in found]


@pytest.fixture(scope="module")
def tested(engine: Engine) -> Fleet:
    """A provider of its own for these evaluations, and its containers."""
    fleet = Fleet(engine)

    class Tested(DockerSandbox):
        @classmethod
        def fleet(cls) -> Fleet:
            return fleet

    sandboxenv(name=PROVIDER)(Tested)
    return fleet


@solver
def shell(script: str) -> Solver:
    """Runs one script in the sandbox and keeps what it printed."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        done = await sandbox().exec(["sh", "-c", script], timeout=60)
        state.metadata["said"] = done.stdout.strip()
        return state

    return solve


def evaluated(plans: dict[str, BuildPlan], script: str, tmp_path: Path) -> EvalLog:
    """One sample for each plan, run through Inspect without a model."""
    samples = [
        Sample(id=name, input="x", sandbox=SandboxEnvironmentSpec(PROVIDER, DockerConfig(build=made)))
        for name, made in plans.items()
    ]
    task = Task(dataset=samples, solver=shell(script), fail_on_error=False)
    (log,) = eval(task, model=None, log_dir=str(tmp_path), display="none", log_level="error")
    return log


def test_a_run_builds_first_runs_every_sample_and_leaves_nothing(
    tested: Fleet, tmp_path: Path, root_image: BuildPlan, user_image: BuildPlan
) -> None:
    log = evaluated({"root": root_image, "user": user_image}, "id -un", tmp_path)
    assert log.status == "success"
    assert {sample.id: sample.metadata["said"] for sample in log.samples or ()} == {
        "root": "root",
        "user": "agent",
    }
    assert ours(tested.engine, tested.run) == []


def test_F39_a_failing_build_excludes_its_own_samples_only(
    tested: Fleet, tmp_path: Path, root_image: BuildPlan
) -> None:
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "Dockerfile").write_text("FROM skill-workbench/debian-python:bookworm\nRUN exit 9\n")
    log = evaluated({"good": root_image, "bad": plan(tmp_path / "bad")}, "echo ran", tmp_path)
    good, bad = sorted(log.samples or (), key=lambda sample: sample.id == "bad")
    assert good.metadata["said"] == "ran"
    assert bad.error is not None
    assert "[infra:build]" in bad.error.message
    assert re.search("non-zero code: 9|exit status 9", bad.error.message)


def test_an_absent_engine_stops_a_run_with_one_line(tmp_path: Path, root_image: BuildPlan) -> None:
    from inspect_ai._util.error import PrerequisiteError

    class Gone(DockerSandbox):
        @classmethod
        def fleet(cls) -> Fleet:
            return Fleet(Engine(f"unix://{tmp_path}/absent.sock"))

    with pytest.raises(PrerequisiteError) as stopped:
        anyio.run(Gone.task_init, "startup", DockerConfig(build=root_image))
    assert "no Docker engine at" in str(stopped.value.message)


@pytest.fixture
def crowd(engine: Engine, root_image: BuildPlan) -> Iterator[Callable[[dict[str, str]], str]]:
    """Starts containers with given labels, as other processes and strangers would."""
    made: list[str] = []

    def start(marks: dict[str, str]) -> str:
        def work(api: Any) -> str:
            host = api.create_host_config(network_mode="none")
            command = list(MAIN_PROCESS)
            return str(api.create_container(root_image.tag, command, labels=marks, host_config=host)["Id"])

        made.append(engine.blocking(work, repeatable=False))
        return made[-1]

    yield start
    for id in alive(engine) & set(made):
        engine.blocking(lambda api, id=id: api.remove_container(id, force=True))  # type: ignore[misc]


def alive(engine: Engine) -> set[str]:
    found: Any = engine.blocking(lambda api: api.containers(all=True))
    return {str(record["Id"]) for record in found}


def test_F37_only_what_dead_runs_left_is_swept(
    engine: Engine, crowd: Callable[[dict[str, str]], str]
) -> None:
    code = "from workbench.sandboxing.labels import Owner; print(Owner.current())"
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.strip()
    orphan = crowd({labels.RUN: "1", labels.OWNER: ended})
    used = crowd({labels.RUN: "1", labels.OWNER: str(Owner.current())})
    stranger = crowd({"com.example.run": "1", labels.OWNER: ended})
    unmarked = crowd({labels.RUN: "1"})
    anyio.run(sweep, engine)
    left = alive(engine)
    assert orphan not in left
    assert {used, stranger, unmarked} <= left


def test_networks_and_snapshots_of_dead_runs_are_swept_and_those_of_living_ones_stay(
    engine: Engine, root_image: BuildPlan
) -> None:
    code = "from workbench.sandboxing.labels import Owner; print(Owner.current())"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    made: dict[str, tuple[str, str]] = {}
    for who, owner in (("dead", ended.stdout.strip()), ("living", str(Owner.current()))):
        marks = {labels.RUN: "1", labels.OWNER: owner}

        def work(api: Any, marks: dict[str, str] = marks) -> tuple[str, str]:
            box = api.create_container(root_image.tag, list(MAIN_PROCESS), labels=marks)["Id"]
            image = api.commit(box)["Id"]
            api.remove_container(box, force=True)
            name = f"skill-workbench-trial-{labels.token()}"
            return f"sha256:{image.removeprefix('sha256:')}", str(
                api.create_network(name, internal=True, labels=marks)["Id"]
            )

        made[who] = engine.blocking(work, repeatable=False)
    anyio.run(sweep, engine)
    images = {str(r["Id"]) for r in engine.blocking(lambda api: list(api.images(all=True)))}
    networks = {str(r["Id"]) for r in engine.blocking(lambda api: list(api.networks()))}
    engine.blocking(lambda api: api.remove_image(made["living"][0], force=True, noprune=True))
    engine.blocking(lambda api: api.remove_network(made["living"][1]))
    assert (made["dead"][0] in images, made["dead"][1] in networks) == (False, False)
    assert (made["living"][0] in images, made["living"][1] in networks) == (True, True)


def test_SB_09_cleaning_up_by_id_removes_ours_and_refuses_a_strangers(
    engine: Engine, crowd: Callable[[dict[str, str]], str]
) -> None:
    own = crowd({labels.RUN: "1", labels.OWNER: str(Owner.current())})
    stranger = crowd({"com.example.run": "1"})
    anyio.run(DockerSandbox.cli_cleanup, own[:12])
    refused = subprocess.run(
        [str(Path(sys.executable).with_name("inspect")), "sandbox", "cleanup", "docker-sdk", stranger[:12]],
        capture_output=True,
        text=True,
    )
    said = f"Error: no container of this workbench has the id {stranger[:12]}; list them with: docker ps"
    assert (refused.returncode, refused.stderr.splitlines()[0][: len(said)]) == (1, said)
    assert len(refused.stderr.splitlines()) == 1
    assert own not in alive(engine)
    assert stranger in alive(engine)


async def test_F37_forty_containers_at_once_start_and_go(fleet: Fleet, root_image: BuildPlan) -> None:
    config = DockerConfig(build=root_image, network_verify="public")
    answers: list[bool] = []
    bridges: list[set[str]] = []

    async def one() -> None:
        started = await fleet.start(config)
        answers.append(await started.container.alive())
        found: list[dict[str, Any]] = await fleet.engine.call(
            lambda api: api.networks(names=["skill-workbench-"])
        )
        bridges.append({str(each["Id"]) for each in found if "trial" not in each["Name"]})
        await fleet.remove([started.container])

    async with anyio.create_task_group() as tasks:
        for _ in range(40):
            tasks.start_soon(one)
    assert answers == [True] * 40
    assert len(set.union(*bridges)) <= 2  # none per trial; two where another process makes one as well
    assert not fleet.running


@pytest.mark.usefixtures("allow_lists")
async def test_F37_trials_with_an_allow_list_share_a_gateway_and_leave_no_network(
    engine: Engine, root_image: BuildPlan
) -> None:
    fleet = Fleet(engine)
    config = DockerConfig(build=root_image, allow=("pypi.org",))
    started = []

    async def one() -> None:
        started.append((await fleet.start(config)).container)

    def networks(api: Any) -> list[Any]:
        return list(api.networks(filters={"label": f"{labels.RUN}={fleet.run}"}))

    async with anyio.create_task_group() as tasks:
        for _ in range(8):
            tasks.start_soon(one)
    assert len(fleet.running) == len(started) + 1
    assert len(await engine.call(networks)) == len(started) == 8
    await fleet.remove(started)
    assert await engine.call(networks) == []
    await fleet.close(cleanup=True)
    assert ours(engine, fleet.run) == []


async def test_F38_an_image_that_cannot_be_had_has_a_cause_of_its_own(fleet: Fleet) -> None:
    with pytest.raises(InfrastructureError, match=r"infra:image.*cannot be pulled"):
        await fleet.start(DockerConfig(image=f"localhost:1/absent-{labels.token()}"))


PROGRAM = textwrap.dedent("""
    import sys
    from inspect_ai import Task, eval
    from inspect_ai.dataset import Sample
    from inspect_ai.solver import solver
    from inspect_ai.util import SandboxEnvironmentSpec, sandbox, sandboxenv
    from workbench.sandboxing.config import DockerConfig
    from workbench.sandboxing.providers.docker import DockerSandbox

    @sandboxenv(name="tested")
    class Tested(DockerSandbox):
        pass

    @solver
    def wait():
        async def solve(state, generate):
            print("RUN", DockerSandbox.fleet().run, flush=True)
            await sandbox().exec(["sleep", "120"])
            return state
        return solve

    spec = SandboxEnvironmentSpec("tested", DockerConfig(image=sys.argv[1]))
    task = Task(dataset=[Sample(id=i, input="x", sandbox=spec) for i in range(2)], solver=wait())
    eval(task, model=None, log_dir=sys.argv[2], display="none")
""")


def broken_off(image: str, tmp_path: Path, kind: signal.Signals, *before: str) -> str:
    """An evaluation stopped by a signal while its containers run; returns its run token."""
    command = [*before, sys.executable, "-c", PROGRAM, image, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        run = next(line.split()[1] for line in process.stdout if line.startswith("RUN"))
        os.kill(process.pid, kind)
        process.wait(timeout=60)
    return run


IN_BACKGROUND = ("sh", "-c", 'trap "" INT; exec "$@"', "sh")
"""As a script's ``&`` starts a program: Ctrl-C is not for it."""


@pytest.mark.parametrize(
    ("kind", "before"),
    [
        (signal.SIGINT, ()),
        (signal.SIGTERM, ()),
        (signal.SIGHUP, ()),
        (signal.SIGTERM, IN_BACKGROUND),
    ],
    ids=["int", "term", "hup", "term-in-background"],
)
def test_F61_a_run_that_is_interrupted_leaves_no_container(
    engine: Engine, root_image: BuildPlan, tmp_path: Path, kind: signal.Signals, before: tuple[str, ...]
) -> None:
    assert ours(engine, broken_off(root_image.tag, tmp_path, kind, *before)) == []


def test_F61_what_a_killed_run_leaves_the_next_one_sweeps(
    engine: Engine, root_image: BuildPlan, tmp_path: Path
) -> None:
    run = broken_off(root_image.tag, tmp_path, signal.SIGKILL)
    assert ours(engine, run)
    anyio.run(Fleet(engine).prepare, DockerConfig(build=root_image))
    assert ours(engine, run) == []
