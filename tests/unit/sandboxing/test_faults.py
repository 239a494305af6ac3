"""A failing command is a result; a failing container or engine is an error, told apart by fact."""

from __future__ import annotations

import re
import time
from typing import Any

import anyio
import pytest
from inspect_ai._util.exception import TerminateSampleError
from inspect_ai.model import ChatMessageAssistant, execute_tools
from inspect_ai.tool import ToolCall, ToolDef

from workbench.core.errors import InfrastructureError, MachineError, TrialError
from workbench.evaluation.verify import alive
from workbench.sandboxing.base import Bases
from workbench.sandboxing.builder import BuildError
from workbench.sandboxing.config import DockerConfig
from workbench.sandboxing.container import Container, ContainerLostError
from workbench.sandboxing.engine import Engine, EngineGoneError
from workbench.sandboxing.fleet import Fleet, Started
from workbench.sandboxing.limits import Limits
from workbench.sandboxing.losses import SandboxLostError, SandboxSpentError
from workbench.sandboxing.pause import Pause
from workbench.sandboxing.providers.docker import DockerSandbox

OCI = b'OCI runtime exec failed: exec failed: exec: "x": executable file not found in $PATH: unknown\r\n'


def sandbox(container: Container) -> DockerSandbox:
    """The provider over the scripted engine."""
    started = Started(container, {"Config": {"WorkingDir": "/w"}}, Limits(1.0, 1 << 30, 64), None)
    return DockerSandbox(started, DockerConfig(image="a"))


async def test_output_that_comes_with_the_head_of_the_answer_is_not_lost(
    fake: Any, container: Container
) -> None:
    fake.output, fake.early = [(1, b"out"), (2, b"err")], True
    done = await container.run(["x"])
    assert (done.out.data(), done.err.data(), done.code) == (b"out", b"err", 0)


async def test_a_command_that_the_engine_could_not_start_is_known_by_having_had_no_process(
    fake: Any, container: Container
) -> None:
    fake.output, fake.record = [(1, OCI)], {"Running": False, "ExitCode": 126, "Pid": 0}
    result = await sandbox(container).exec(["x"])
    assert (result.returncode, result.stdout) == (127, "")
    assert "executable file not found" in result.stderr


async def test_a_command_that_prints_the_engines_words_is_only_a_command(
    fake: Any, container: Container
) -> None:
    fake.output, fake.record = [(1, OCI)], {"Running": False, "ExitCode": 126, "Pid": 99}
    result = await sandbox(container).exec(["x"])
    assert (result.returncode, result.stdout.encode()) == (126, OCI)


async def test_a_program_that_may_not_be_run_is_a_permission_error(fake: Any, container: Container) -> None:
    fake.output = [(1, b'exec: "/etc/passwd": permission denied: unknown')]
    fake.record = {"Running": False, "ExitCode": 126, "Pid": 0}
    with pytest.raises(PermissionError):
        await sandbox(container).exec(["/etc/passwd"])


async def test_F25_an_engine_that_stops_in_the_middle_is_no_result(fake: Any, container: Container) -> None:
    fake.output, fake.drop = [(1, b"half of it")], r"^/exec/e1/json"
    with pytest.raises(SandboxLostError, match=r"^\[infra:engine\]") as lost:
        await sandbox(container).exec(["x"])
    assert lost.value.cause == "infra:engine"


async def test_F25_an_engine_that_falls_silent_while_a_command_runs_is_noticed(
    fake: Any, container: Container
) -> None:
    fake.silent, fake.drop = True, r"^/exec/e1/json"
    with pytest.raises(SandboxLostError, match=r"^\[infra:engine\]"):
        await sandbox(container).exec(["x"])


async def test_a_stream_that_stays_open_after_the_command_ended_is_left(
    fake: Any, container: Container
) -> None:
    fake.silent, fake.output = True, [(1, b"done")]
    assert (await sandbox(container).exec(["x"])).stdout == "done"


async def test_F25_a_socket_that_refuses_is_no_result(container: Container, tmp_path: Any) -> None:
    gone = Container(Engine(f"unix://{tmp_path}/absent.sock"), "c1")
    with pytest.raises(SandboxLostError, match=r"infra:engine. no Docker engine"):
        await sandbox(gone).exec(["x"])
    with pytest.raises(EngineGoneError):
        await gone.alive()


async def test_F26_a_call_that_never_returns_ends_at_its_deadline_and_no_command_is_started_twice(
    fake: Any, container: Container
) -> None:
    fake.hang = r"^/exec/e1/json"
    with pytest.raises(EngineGoneError):
        await container.run(["x"])
    assert fake.times(r"^POST /exec/e1/start") == 1
    assert fake.times(r"^GET /exec/e1/json") == 2


async def test_F27_a_container_that_is_gone_is_lost_and_its_end_is_told(
    fake: Any, container: Container
) -> None:
    fake.output = []
    fake.record = {"Running": False, "ExitCode": 137, "Pid": 9}
    fake.state = {"Running": False, "Status": "exited", "ExitCode": 137, "OOMKilled": True}
    with pytest.raises(SandboxSpentError, match=r"^.agent_resource.*exit code 137, out of memory") as spent:
        await sandbox(container).exec(["x"])
    assert isinstance(spent.value, TerminateSampleError)
    fake.state["OOMKilled"] = False
    with pytest.raises(SandboxLostError, match=r"^.infra:sandbox_lost. .*exit code 137"):
        await sandbox(container).exec(["x"])
    container.disk_breaches = 1
    with pytest.raises(SandboxSpentError, match="disk limit"):
        await sandbox(container).exec(["x"])


async def test_F27_an_engine_that_learns_of_the_end_a_moment_later_is_asked_again(
    fake: Any, container: Container
) -> None:
    fake.record = {"Running": False, "ExitCode": 137, "Pid": 9}
    gone = {"Running": False, "Status": "exited", "ExitCode": 137, "OOMKilled": False}
    fake.states = [{"Running": True, "Status": "running", "ExitCode": 0}, gone, gone | {"OOMKilled": True}]
    with pytest.raises(SandboxSpentError, match=r"^.agent_resource.*is gone .*out of memory"):
        await sandbox(container).exec(["x"])
    assert fake.states == []


FULL = {"usage": 99, "limit": 100, "stats": {"total_inactive_file": 2, "total_active_file": 1}}
CACHED = {"usage": 99, "limit": 100, "stats": {"inactive_file": 40, "active_file": 1}}


@pytest.mark.parametrize(
    ("stats", "met"),
    [
        ({"memory_stats": FULL, "pids_stats": {"current": 3, "limit": 64}}, ["out_of_memory"]),
        ({"memory_stats": CACHED, "pids_stats": {"current": 63, "limit": 64}}, ["pids_limit"]),
    ],
    ids=["memory", "pids"],
)
async def test_F27_a_container_that_has_no_room_for_a_command_is_spent_and_still_judged(
    fake: Any, container: Container, stats: dict[str, Any], met: list[str]
) -> None:
    fake.record, fake.stats = {"Running": False, "ExitCode": 137, "Pid": 9}, stats
    box = sandbox(container)
    with pytest.raises(SandboxSpentError, match=met[0].replace("_", " ")):
        await box.exec(["x"])
    await box.settle()
    assert box.incidents == met
    fake.stats = {"memory_stats": CACHED, "pids_stats": {"current": 3}}
    with pytest.raises(SandboxLostError, match=r"^.infra:sandbox_lost"):
        await box.exec(["x"])
    fake.state = {"Running": False, "Status": "exited", "ExitCode": 137}
    with pytest.raises(SandboxLostError, match=r"^.infra:sandbox_lost"):
        await box.settle()


async def test_F25_an_engine_that_is_gone_keeps_its_name_when_the_sandbox_is_asked_for_a_sign_of_life(
    fake: Any, container: Container
) -> None:
    fake.drop = r"^/containers/c1/exec"
    for sign in (alive(sandbox(container)), sandbox(container).settle()):
        with pytest.raises(TrialError) as gone:
            await sign
        assert gone.value.cause == "infra:engine"


async def test_F25_the_model_is_never_shown_the_failure_of_an_engine(fake: Any, container: Container) -> None:
    fake.drop = r"^/containers/c1/exec"
    box = sandbox(container)

    async def bash(command: str) -> str:
        """Run a command.

        Args:
            command: The command.
        """
        return (await box.exec(["sh", "-c", command])).stdout

    call = ToolCall(id="1", function="bash", arguments={"command": "ls"})
    with pytest.raises(TrialError, match=r"^.infra:engine"):
        await execute_tools([ChatMessageAssistant(content="", tool_calls=[call])], [ToolDef(bash)])


async def test_F27_a_container_that_was_removed_is_lost(fake: Any, container: Container) -> None:
    fake.state = None
    with pytest.raises(ContainerLostError, match="was removed"):
        await container.run(["x"])


async def test_a_silent_kill_in_a_living_container_is_a_result(fake: Any, container: Container) -> None:
    fake.record = {"Running": False, "ExitCode": 143, "Pid": 9}
    fake.echo = True
    assert (await sandbox(container).exec(["x"])).returncode == 143


async def test_F27_a_container_that_is_called_running_but_does_not_answer_is_lost(
    fake: Any, container: Container
) -> None:
    fake.record = {"Running": False, "ExitCode": 137, "Pid": 9}
    with pytest.raises(SandboxLostError, match="its commands are lost"):
        await sandbox(container).exec(["x"])


IMAGE = {"Id": "sha256:a", "Config": {}}


async def test_F39_a_disk_that_is_nearly_full_starts_nothing_and_says_so(
    fake: Any, engine: Engine, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake.info = {"DockerRootDir": str(tmp_path)}
    monkeypatch.setattr("workbench.sandboxing.fleet.free_bytes", lambda path: 5 << 20)
    with pytest.raises(InfrastructureError, match=r"infra:start. only 5 MiB are free"):
        await Fleet(engine, Pause(0.05, 0.01)).start(DockerConfig(image="a"))
    assert not fake.times("POST")


async def test_F39_trials_wait_until_the_disk_has_room_again(
    fake: Any, engine: Engine, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake.info, fake.images = {"DockerRootDir": str(tmp_path)}, {"a": IMAGE, "sha256:a": IMAGE}
    free = iter([5 << 20] * 3)
    monkeypatch.setattr("workbench.sandboxing.fleet.free_bytes", lambda path: next(free, 5 << 30))
    started = await Fleet(engine, Pause(5, 0.01)).start(DockerConfig(image="a"))
    assert (started.container.id, next(free, None)) == ("c1", None)


@pytest.mark.parametrize("away", ["^/_ping", "^/containers/create"])
async def test_F25_trials_wait_while_the_engine_is_away_and_then_start_once(
    fake: Any, engine: Engine, away: str
) -> None:
    fake.images = {"a": IMAGE, "sha256:a": IMAGE}
    fleet, started = Fleet(engine, Pause(5, 0.01)), []
    await fleet.prepare(DockerConfig(image="a"))
    fake.drop = f"{away}|^/_ping"

    async def one() -> None:
        started.append(await fleet.start(DockerConfig(image="a")))

    async with anyio.create_task_group() as tasks:
        for _ in range(3):
            tasks.start_soon(one)
        await anyio.sleep(0.2)
        assert started == []
        fake.drop = "^$"
    assert len(started) == fake.times("^POST /containers/c1/start") == 3


async def test_F25_trials_that_waited_in_vain_are_excluded_and_the_others_do_not_wait_as_well(
    fake: Any, engine: Engine
) -> None:
    fleet = Fleet(engine, Pause(0.3, 0.01))
    await fleet.prepare(DockerConfig(image="a"))
    fake.drop = "^/_ping"
    began = time.monotonic()
    for _ in range(5):
        with pytest.raises(EngineGoneError, match=r"^.infra:engine"):
            await fleet.start(DockerConfig(image="a"))
    assert time.monotonic() - began < 1.2


async def test_F25_a_container_of_another_boot_does_not_answer_for_ours(
    fake: Any, container: Container
) -> None:
    fake.output = [(1, b"")]
    fake.record = {"Running": False, "ExitCode": 0, "Pid": 7}
    assert not await container.alive()


async def test_alive_believes_only_its_own_word(fake: Any, container: Container) -> None:
    fake.output = [(1, b"some other word\n")]
    assert not await container.alive()


async def test_an_engine_that_is_too_old_says_what_is_needed(fake: Any, engine: Engine) -> None:
    fake.version = "1.24"
    with pytest.raises(MachineError, match=r"speaks API 1\.24, at least 1\.41"):
        engine.api()


@pytest.mark.parametrize(
    ("path", "status", "says"),
    [
        ("^/networks/create", 500, "could not find an available, non-overlapping IPv4 address pool"),
        ("^/containers/create", 409, 'Conflict. The container name "/x" is already in use'),
        ("^/containers/c1/start", 500, "failed to create endpoint: no available IPv4 addresses"),
    ],
    ids=["pools", "name", "addresses"],
)
async def test_F37_an_engine_that_has_no_addresses_or_names_left_fails_the_start_of_one_trial(
    fake: Any, engine: Engine, path: str, status: int, says: str
) -> None:
    fake.images, fake.refuse = {"a": IMAGE, "sha256:a": IMAGE}, [(path, status, says)]
    fleet, config = Fleet(engine), DockerConfig(image="a", network="public")
    with pytest.raises(InfrastructureError, match=rf"^.infra:start. .*{re.escape(says)}"):
        await fleet.start(config)
    assert not fleet.running
    assert (await fleet.start(config)).container.id == "c1"


async def test_F37_F42_what_is_made_has_random_names_and_says_nothing_of_its_trial(
    fake: Any, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake.images = {"a": IMAGE, "sha256:a": IMAGE}
    fleet, config = Fleet(engine), DockerConfig(image="a", network="public")
    monkeypatch.setattr(DockerSandbox, "fleet", classmethod(lambda cls: fleet))
    for _ in range(2):
        canaries = {"task": "canary-task", "gold": "canary-skill", "arm": "canary-arm"}
        await DockerSandbox.sample_init("canary-suite", config, canaries)
    asked = "".join(fake.bodies)
    assert "canary" not in asked
    names = re.findall(r'"(?:Hostname|Name)": "([^"]{5,})"', asked)
    names = [name for name in names if name != "nofile"]
    assert len(names) == len(set(names)) == 4
    assert all(re.fullmatch(r"(?:skill-workbench-)?[0-9a-f]{12,16}", name) for name in names)
    assert "containers/create?name" not in asked


async def test_F38_a_pull_that_a_registry_puts_off_is_tried_again_after_a_while_and_then_given_up(
    fake: Any, engine: Engine
) -> None:
    fake.events = [{"status": "Pulling"}, {"error": "toomanyrequests: slow down"}]
    bases, began = Bases(engine, back_off=(0.02, 0.1)), time.monotonic()
    for _ in range(2):
        with pytest.raises(BuildError, match=r"infra:image.*cannot be pulled: toomanyrequests"):
            await bases.have("python:3")
    assert fake.times("POST /images/create") == 3
    assert time.monotonic() - began > 0.12


async def test_F38_a_registry_that_recovers_is_asked_until_it_does_and_many_ask_once(
    fake: Any, engine: Engine
) -> None:
    bases, name = Bases(engine, back_off=(0.01, 0.01)), "python@sha256:" + "a" * 64
    fake.refuse = [("^/images/create", 503, "503 Service Unavailable")]
    fake.pulls = {name: IMAGE}
    found: set[str] = set()

    async def one() -> None:
        found.add(await bases.have(name))

    async with anyio.create_task_group() as tasks:
        for _ in range(4):
            tasks.start_soon(one)
    assert (found, fake.times("POST /images/create")) == ({"sha256:a"}, 2)


async def test_F38_a_pull_that_is_refused_for_good_is_tried_once(fake: Any, engine: Engine) -> None:
    fake.events = [{"error": "pull access denied for python, repository does not exist"}]
    with pytest.raises(BuildError, match=r"infra:image.*access denied"):
        await Bases(engine).have("python:3")
    assert fake.times("POST /images/create") == 1


async def test_F38_a_name_that_comes_to_mean_another_image_ends_no_trial_on_it(
    fake: Any, engine: Engine
) -> None:
    fake.images = {"a": IMAGE, "sha256:a": IMAGE, "sha256:b": {**IMAGE, "Id": "sha256:b"}}
    fleet = Fleet(engine)
    await fleet.start(DockerConfig(image="a"))
    fake.images["a"] = fake.images["sha256:b"]
    with pytest.raises(InfrastructureError, match=r"^.infra:image. a was a when this run began and is b now"):
        await fleet.start(DockerConfig(image="a"))


@pytest.mark.parametrize(
    ("name", "record", "says"),
    [
        ("a", {"Architecture": "arm64"}, "a is for arm64, this machine is amd64"),
        (f"a@sha256:{'1' * 64}", {"RepoDigests": [f"a@sha256:{'2' * 64}"]}, "another digest"),
    ],
    ids=["platform", "digest"],
)
async def test_F38_an_image_that_is_not_what_was_asked_for_is_refused(
    fake: Any, engine: Engine, name: str, record: dict[str, Any], says: str
) -> None:
    fake.info, fake.images = {"Architecture": "x86_64"}, {name: {**IMAGE, **record}}
    with pytest.raises(InfrastructureError, match=rf"^.infra:image.*{says}"):
        await Fleet(engine).start(DockerConfig(image=name))
    assert not fake.times("POST")


async def test_F38_a_registry_that_says_nothing_is_left_alone_from_then_on(fake: Any, engine: Engine) -> None:
    fake.hang = "^/images/create"
    bases = Bases(engine, patience=0.05)
    for name in ("ghcr.io/a/b", "ghcr.io/c/d:1"):
        with pytest.raises(BuildError, match="ghcr.io does not answer"):
            await bases.have(name)
    assert fake.times("POST /images/create") == 1
