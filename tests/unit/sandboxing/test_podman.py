"""Podman speaks Docker's API with words of its own; what it cannot give is said."""

from __future__ import annotations

import json
from typing import Any

import pytest

from workbench.cli.main import run
from workbench.core.errors import InfrastructureError
from workbench.sandboxing.availability import engine_status
from workbench.sandboxing.config import DockerConfig
from workbench.sandboxing.container import Container, ContainerLostError
from workbench.sandboxing.engine import Engine
from workbench.sandboxing.fleet import Fleet, Started
from workbench.sandboxing.limits import Limits, effective, host_config
from workbench.sandboxing.network import join
from workbench.sandboxing.providers.docker import DockerSandbox

VERSION = {"ApiVersion": "1.41", "Version": "5.4.2", "Components": [{"Name": "Podman Engine"}]}
NOISE = b"Error: read unixpacket @->/proc/self/fd/14/attach: read: connection reset by peer\n"
MISSING = (
    b"Error: crun: executable file `x` not found in $PATH: No such file or directory: "
    b"OCI runtime attempted to invoke a command that was not found\n"
)
FORBIDDEN = b"Error: crun: the path `/etc/passwd` exists but it is not executable: OCI permission denied\n"
NO_FOLDER = (
    b"Error: crun: chdir to `/none`: No such file or directory: "
    b"OCI runtime attempted to invoke a command that was not found\n"
)
CLAIMS = dict.fromkeys(("MemoryLimit", "SwapLimit", "PidsLimit", "CpuCfsQuota"), True)


@pytest.fixture
def podman(fake: Any) -> Any:
    """The scripted engine as Podman: it forgets the process of a command that has ended."""
    fake.answers |= {
        "/version": (200, VERSION),
        "/v4.0.0/libpod/info": (200, {"host": {"cgroupControllers": ["memory", "pids"]}}),
        "/v4.0.0/libpod/networks/create": (200, {"id": "n1"}),
        "/containers/create": (201, {"Id": "c1"}),
    }
    fake.record = {"Running": False, "ExitCode": 0, "Pid": 0}
    fake.images = {"i": {"Id": "i", "Config": {"Labels": {}}}}
    return fake


@pytest.fixture
def box(container: Container) -> DockerSandbox:
    started = Started(container, {"Config": {"WorkingDir": "/w"}}, Limits(1.0, 1 << 30, 64), None)
    return DockerSandbox(started, DockerConfig(image="i"))


@pytest.mark.parametrize("components", [None, [], [{}], [{"Name": "Engine"}]])
def test_an_engine_is_docker_unless_it_says_podman(fake: Any, components: object) -> None:
    fake.answers["/version"] = (200, {**VERSION, "Components": components})
    assert engine_status({"DOCKER_HOST": fake.url}).name == "Docker 5.4.2"
    fake.answers["/version"] = (200, VERSION)
    assert engine_status({"DOCKER_HOST": fake.url}).name == "Podman 5.4.2"


@pytest.mark.parametrize("version", [None, "", "1.41+dev", "one"])
def test_an_engine_with_an_odd_version_is_refused_in_words(fake: Any, version: object) -> None:
    fake.answers["/version"] = (200, {"ApiVersion": version})
    status = engine_status({"DOCKER_HOST": fake.url})
    assert not status.ok
    assert fake.url in status.reason


async def test_a_commands_result_counts_although_its_process_is_forgotten(
    podman: Any, box: DockerSandbox
) -> None:
    podman.output = [(1, b"out")]
    assert (await box.exec(["x"])).stdout == "out"
    for more in (b"", MISSING):
        podman.output, podman.record["ExitCode"] = [(2, b"Error: mine\n" + more)], 127
        done = await box.exec(["x"])
        assert (done.returncode, done.stderr.encode()) == (127, b"Error: mine\n" + more)


@pytest.mark.parametrize(
    ("said", "code"),
    [(MISSING, 127), (NO_FOLDER, 126), (NO_FOLDER.replace(b"chdir to `", b"chdir `"), 126)],
    ids=["program", "folder", "folder in 4.3"],
)
async def test_a_command_that_podman_cannot_start_is_a_result_as_a_shell_gives_it(
    podman: Any, box: DockerSandbox, said: bytes, code: int
) -> None:
    podman.output, podman.record["ExitCode"] = [(2, said), (2, NOISE)], 127
    done = await box.exec(["x"])
    assert (done.returncode, done.stderr) == (code, said.decode())


async def test_a_program_that_podman_may_not_run_is_a_permission_error(
    podman: Any, box: DockerSandbox
) -> None:
    podman.output, podman.record["ExitCode"] = [(2, FORBIDDEN), (2, NOISE)], 126
    with pytest.raises(PermissionError, match="not executable"):
        await box.exec(["/etc/passwd"])


@pytest.mark.parametrize("channels", [True, False])
async def test_an_unknown_user_is_a_result_also_where_the_engine_refuses_at_once(
    podman: Any, box: DockerSandbox, channels: bool
) -> None:
    podman.answers["/exec/e1/start"] = (500, {"message": "unable to find user x: no matching entries"})
    box.container.channels = channels
    done = await box.exec(["true"], user="x")
    assert (done.returncode, done.stderr) == (126, "unable to find user x: no matching entries\n")


async def test_F27_a_container_that_does_not_run_is_lost_also_in_podmans_words(
    podman: Any, container: Container
) -> None:
    said = "can only create exec sessions on running containers: container state improper"
    podman.answers["/containers/c1/exec"] = (500, {"message": said})
    podman.state = {"Running": False, "Status": "exited", "ExitCode": 137}
    with pytest.raises(ContainerLostError, match="exit code 137"):
        await container.run(["true"])


async def test_each_container_that_may_reach_out_has_a_network_of_its_own_which_goes_with_it(
    podman: Any, engine: Engine
) -> None:
    fleet = Fleet(engine)
    started = await fleet.start(DockerConfig(image="i", network="public"))
    assert podman.times("POST /v4.0.0/libpod/networks/create") == 1
    assert podman.times("POST /networks/create") == 0
    await fleet.remove([started.container])
    assert podman.times("DELETE /networks/n1") == 1


@pytest.mark.parametrize(
    ("mode", "call", "said"),
    [
        ("public", "connect", "container c1 is already connected to network n: network is already connected"),
        ("none", "disconnect", '"" is not supported: invalid network mode'),
    ],
)
async def test_a_network_that_is_as_wanted_is_left_so(
    podman: Any, engine: Engine, mode: Any, call: str, said: str
) -> None:
    podman.answers["/containers/c1/json"] = (200, {"Config": {"Labels": {"skill-workbench.trial": "t"}}})
    podman.answers["/networks"] = (200, [{"Id": "n1"}])
    podman.answers[f"/networks/n1/{call}"] = (500, {"message": said})
    engine.api()
    await join(engine, "c1", mode)
    assert podman.times(f"POST /networks/n1/{call}") == 1


async def test_an_allow_list_is_refused_with_the_reason(podman: Any, engine: Engine) -> None:
    with pytest.raises(InfrastructureError, match=r"task:unsupported. allowed_hosts needs Docker: Podman"):
        await Fleet(engine).start(DockerConfig(image="i", allow=("pypi.org",)))
    assert podman.times("POST /containers/create") == 0


def doctor(fake: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """The doctor's rows by name."""
    monkeypatch.setenv("DOCKER_HOST", fake.url)
    run(["doctor", "--json"])
    return {row["name"]: row for row in json.loads(capsys.readouterr().out)["checks"]}


def test_the_doctor_names_podman_and_what_it_cannot_give(
    podman: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    podman.info = {**CLAIMS, "Rootless": False, "CgroupVersion": "1"}
    podman.answers["/images/search"] = (500, {"message": "no such host"})
    rows = doctor(podman, monkeypatch, capsys)
    assert rows["engine"]["detail"].startswith("Podman 5.4.2, API 1.41")
    assert rows["limits"]["state"] == "ok"
    assert rows["networks"]["detail"].startswith("allowed_hosts needs Docker")
    assert "DOCKER_HOST" in rows["networks"]["next"]
    assert "no such host" in rows["registries"]["detail"]


@pytest.mark.parametrize(
    ("cgroup", "lacking", "todo"),
    [("1", "memory, swap, pids, cpus", "unified_cgroup_hierarchy"), ("2", "cpus", "Delegate=cpu")],
)
def test_a_rootless_podman_is_not_believed_about_limits_that_it_cannot_set(
    podman: Any,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    cgroup: str,
    lacking: str,
    todo: str,
) -> None:
    podman.info = {**CLAIMS, "Rootless": True, "CgroupVersion": cgroup}
    rows = doctor(podman, monkeypatch, capsys)
    assert rows["engine"]["detail"].startswith("rootless Podman")
    assert rows["limits"]["detail"].startswith(f"not enforced by this rootless engine: {lacking};")
    assert todo in rows["limits"]["next"]


def test_a_rootless_docker_with_cgroup_v1_limits_nothing_and_is_asked_for_nothing(
    fake: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fake.info = {**dict.fromkeys(CLAIMS, False), "CgroupVersion": "1", "SecurityOptions": ["name=rootless"]}
    rows = doctor(fake, monkeypatch, capsys)
    assert rows["engine"]["detail"].startswith("rootless Docker")
    assert "memory, swap, pids, cpus; cgroup v1 gives it none to set" in rows["limits"]["detail"]
    config = DockerConfig(image="i")
    limits = effective(config, fake.info)
    assert "memory: not enforced by this rootless engine" in limits.notes
    asked = host_config(config, limits, "none", storage=False)
    assert not {"Memory", "MemorySwap", "NanoCpus", "PidsLimit"} & set(asked)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (PermissionError(), "set DOCKER_HOST to unix://$XDG_RUNTIME_DIR/podman/podman.sock"),
        (FileNotFoundError(), "systemctl --user start podman.socket"),
        (ConnectionRefusedError(), "systemctl --user start podman.socket"),
        (TimeoutError(), "restart it with: systemctl --user restart podman.socket"),
    ],
)
def test_a_podman_that_does_not_answer_is_spoken_of_as_podman(error: Exception, words: str) -> None:
    from workbench.sandboxing.availability import _explain

    assert words in _explain("unix:///run/podman/podman.sock", error)
