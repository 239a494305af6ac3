"""What an untrusted command can reach: nothing of the host, the network or other trials."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable

import anyio
import pytest

from workbench.core.errors import InfrastructureError, UsageError
from workbench.sandboxing import labels
from workbench.sandboxing.config import BuildPlan, DockerConfig
from workbench.sandboxing.fleet import Fleet
from workbench.sandboxing.podman import NO_ALLOW_LIST
from workbench.sandboxing.providers.docker import DockerSandbox

pytestmark = [pytest.mark.docker, pytest.mark.usefixtures("docker_engine")]
Start = Callable[[DockerConfig], Awaitable[DockerSandbox]]

REACH = """
import socket, sys
for host, port in [("172.17.0.1", 22), ("169.254.169.254", 80), ("1.1.1.1", 53), ("::1", 9)]:
    try:
        socket.create_connection((host, port), timeout=2)
        print("reached", host)
    except OSError:
        pass
try:
    print("resolved", socket.gethostbyname("pypi.org"))
except OSError:
    pass
print([name for _, name in socket.if_nameindex()])
"""
SERVE = "import socket; s = socket.create_server(('0.0.0.0', 8000)); s.accept(); s.accept()"
CONNECT = "import socket, sys; socket.create_connection((sys.argv[1], 8000), timeout=3)"


@pytest.fixture(scope="module")
def box(start: Start, root_image: BuildPlan) -> DockerSandbox:
    config = DockerConfig(build=root_image, network_verify="public", env={"OWN": "1"})  # type: ignore[arg-type]
    return anyio.run(start, config)


async def record(box: DockerSandbox) -> dict[str, object]:
    """The engine's whole record of the container."""
    return await box.container.engine.call(lambda api: dict(api.inspect_container(box.container.id)))


async def test_F33_without_a_network_nothing_can_be_reached(box: DockerSandbox) -> None:
    done = await box.exec(["python3", "-c", REACH], timeout=60)
    assert done.stdout == "['lo']\n"


async def test_the_verifiers_network_comes_and_goes(box: DockerSandbox) -> None:
    interfaces = ["python3", "-c", "import socket; print(len(socket.if_nameindex()))"]
    await box.set_network("public")
    await box.set_network("public")
    assert (await box.exec(interfaces)).stdout == "2\n"
    await box.set_network("none")
    await box.set_network("none")
    assert (await box.exec(interfaces)).stdout == "1\n"


async def test_F33_trials_on_the_network_cannot_reach_each_other(start: Start, root_image: BuildPlan) -> None:
    config = DockerConfig(build=root_image, network="public")
    server, client = await start(config), await start(config)
    networks = (await record(server))["NetworkSettings"]["Networks"]  # type: ignore[index]
    host = next(iter(networks.values()))["IPAddress"]
    await server.exec(["sh", "-c", f'python3 -c "{SERVE}" > /dev/null 2>&1 &'])
    assert (await server.exec(["python3", "-c", CONNECT, host])).success
    assert not (await client.exec(["python3", "-c", CONNECT, host])).success


LISTED = """
import socket, ssl
def hello(asked, name):
    try:
        with socket.create_connection((asked, 443), timeout=5) as raw:
            raw.settimeout(15)
            context = ssl.create_default_context()
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            return context.wrap_socket(raw, server_hostname=name).version()
    except OSError:
        return "closed"
print(socket.gethostbyname("pypi.org") == socket.gethostbyname("files.pythonhosted.org"))
print(hello("pypi.org", "other.example"))
print(hello("pypi.org", "pypi.org"))
"""


async def test_F33_with_an_allow_list_nothing_but_its_hosts_can_be_reached(
    start: Start, root_image: BuildPlan, fleet: Fleet
) -> None:
    if fleet.engine.podman:
        pytest.skip(NO_ALLOW_LIST)
    config = DockerConfig(build=root_image, allow=("pypi.org", "files.pythonhosted.org"))
    box, other = await start(config), await start(config)
    done = await box.exec(["python3", "-c", REACH.replace("pypi.org", "deb.debian.org")], timeout=60)
    assert done.stdout == "['lo', 'eth0']\n"
    for neighbour in (box, other):
        networks = (await record(neighbour))["NetworkSettings"]["Networks"]  # type: ignore[index]
        (mine,) = networks.values()
        base = mine["IPAddress"].rpartition(".")[0]
        for last in {mine["Gateway"], f"{base}.{int(mine['IPAddress'].rpartition('.')[2]) + 1}"}:
            assert not (await box.exec(["python3", "-c", CONNECT, last], timeout=30)).success
    same, foreign, listed = (await box.exec(["python3", "-c", LISTED], timeout=60)).stdout.split()
    assert (same, foreign) == ("True", "closed")
    assert listed in ("closed", "TLSv1.3", "TLSv1.2")  # closed where this machine reaches no registry
    assert len(fleet._gateways) == 1
    networks = await fleet.engine.call(
        lambda api: api.networks(filters={"label": f"{labels.RUN}={fleet.run}"})
    )
    assert len(networks) == 2
    await fleet.remove([box.container, other.container])
    assert not await fleet.engine.call(
        lambda api: api.networks(filters={"label": f"{labels.RUN}={fleet.run}"})
    )


async def test_a_network_that_was_not_allowed_cannot_be_switched_on(
    start: Start, root_image: BuildPlan
) -> None:
    box = await start(DockerConfig(build=root_image))
    with pytest.raises(UsageError, match="network_verify"):
        await box.set_network("public")


@pytest.mark.parametrize(
    "attempt",
    [
        "mount -t tmpfs x /mnt",
        "mknod /tmp/disk b 8 0",
        "python3 -c 'import socket; socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)'",
        "echo 1 > /sys/kernel/mm/transparent_hugepage/enabled",
        "echo b > /proc/sysrq-trigger",
        "echo 1 > /proc/sys/vm/drop_caches",
        "hostname other",
        "chroot / unshare -n true",
        "dmesg",
        "cat /proc/kcore",
    ],
)
async def test_F36_root_in_the_container_has_no_power_over_the_host(box: DockerSandbox, attempt: str) -> None:
    assert not (await box.exec(["sh", "-c", attempt], timeout=20)).success


async def test_F36_a_user_cannot_gain_rights_by_a_setuid_file(start: Start, user_image: BuildPlan) -> None:
    box = await start(DockerConfig(build=user_image))
    plant = "cp /usr/bin/id /usr/local/bin/suid && chmod 4755 /usr/local/bin/suid"
    assert (await box.exec(["sh", "-c", plant], user="root")).success
    assert "(root)" not in (await box.exec(["/usr/local/bin/suid"])).stdout
    status = await box.exec(["sh", "-c", "grep -E 'CapEff|NoNewPrivs' /proc/self/status"])
    assert status.stdout.split() == ["CapEff:", "0000000000000000", "NoNewPrivs:", "1"]


async def test_packages_can_be_installed_and_users_switched_by_root(box: DockerSandbox) -> None:
    script = "adduser --disabled-password --gecos '' someone && su someone -c id && chown someone /work"
    done = await box.exec(["sh", "-c", script])
    assert "someone" in done.stdout, done.stderr


async def test_F42_neither_the_host_nor_the_task_can_be_seen(
    box: DockerSandbox, monkeypatch: pytest.MonkeyPatch, fleet: Fleet, root_image: BuildPlan
) -> None:
    for name in ("OPENAI_API_KEY", "HTTP_PROXY", "http_proxy", "DOCKER_CONFIG"):
        monkeypatch.setenv(name, "http://canary-7f3a:1")
    started = await fleet.start(DockerConfig(build=root_image))
    fresh = DockerSandbox(started, DockerConfig(build=root_image))
    look = "env; cat /proc/*/environ /etc/hosts /etc/hostname /proc/mounts; ls -la /"
    seen = await fresh.exec(["sh", "-c", look])
    everything = seen.stdout + json.dumps([await record(fresh), started.image])
    assert "canary-7f3a" not in everything
    assert root_image.title not in everything
    assert root_image.context not in everything
    names = {line.partition("=")[0] for line in (await fresh.exec(["env"])).stdout.splitlines()}
    usual = {"PATH", "HOSTNAME", "HOME", "LANG", "PYTHONDONTWRITEBYTECODE", "SANDBOX_EXEC", "PWD"}
    assert names - usual <= {"container"}  # Podman's name for itself


async def test_the_engine_was_asked_for_every_limit(box: DockerSandbox) -> None:
    host = (await record(box))["HostConfig"]
    assert isinstance(host, dict)
    if not box.started.limits.unlimited:
        assert host["Memory"] == host["MemorySwap"] == 4096 << 20
        assert (host["PidsLimit"], host["NanoCpus"]) == (512, 2_000_000_000)
    assert not host["Privileged"]
    assert (host["Binds"] or None, host["IpcMode"], host["RestartPolicy"]["Name"]) == (None, "private", "no")
    if not box.container.engine.podman:  # it keeps the limit elsewhere
        assert host["LogConfig"]["Config"] == {"max-file": "1", "max-size": "1m"}


async def test_SB_11_a_flood_into_the_containers_log_stays_bounded(box: DockerSandbox) -> None:
    flood = await box.exec(["sh", "-c", "yes | head -c 3000000 > /proc/1/fd/1"], timeout=60)
    assert flood.success
    log = await box.container.engine.call(lambda api: api.logs(box.container.id))
    assert len(log) < 1_500_000


async def test_gpus_are_refused_with_a_reason(fleet: Fleet, root_image: BuildPlan) -> None:
    with pytest.raises(InfrastructureError, match="task:unsupported. 1 GPU"):
        await fleet.start(DockerConfig(build=root_image, gpus=1))


async def test_F31_a_full_folder_is_an_error_of_its_own(start: Start, root_image: BuildPlan) -> None:
    box = await start(DockerConfig(build=root_image, tmpfs={"/small": 1}))  # type: ignore[arg-type]
    with pytest.raises(OSError, match="No space left"):
        await box.write_file("/small/file", b"x" * (2 << 20))
    shm = await box.exec(["sh", "-c", "head -c 100000000 /dev/zero > /dev/shm/x"])
    assert not shm.success


async def test_F31_SB_22_what_fills_the_disk_is_killed_and_the_container_lives_on(
    start: Start, root_image: BuildPlan
) -> None:
    box = await start(DockerConfig(build=root_image, storage_mb=64))
    fill = "setsid sh -c 'head -c 400M /dev/zero > more' & head -c 400M /dev/zero > big; sleep 60"
    done = await box.exec(["sh", "-c", fill], timeout=50)
    assert (done.returncode, box.container.disk_breaches >= 1) == (137, True)
    assert "[killed: the disk limit of 64 MiB was reached]" in done.stderr
    assert (await box.exec(["sh", "-c", "rm -f big more; echo lives"])).stdout == "lives\n"
