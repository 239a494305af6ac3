"""What an untrusted command can reach: nothing of the host, the network or other trials."""

from __future__ import annotations

import contextlib
import json
import socket
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import anyio
import pytest

from tests.suites import skill_md
from workbench.core.errors import InfrastructureError, UsageError
from workbench.evaluation.layout import container_layout
from workbench.evaluation.treatment import Treatment, changed, fingerprint, install, prove
from workbench.sandboxing import labels
from workbench.sandboxing.config import BuildPlan, DockerConfig
from workbench.sandboxing.engine import Engine
from workbench.sandboxing.fleet import Fleet
from workbench.sandboxing.providers.docker import DockerSandbox
from workbench.skills.skill import SkillFile, SkillTree

pytestmark = [pytest.mark.docker, pytest.mark.usefixtures("docker_engine")]
Start = Callable[[DockerConfig], Awaitable[DockerSandbox]]

REACH = """
import socket, sys
from concurrent.futures import ThreadPoolExecutor
targets = [("172.17.0.1", 22), ("169.254.169.254", 80), ("1.1.1.1", 53), ("2606:4700:4700::1111", 53)]
targets += [(host, int(port)) for host, port in (each.rsplit(":", 1) for each in sys.argv[1:])]
names = ["pypi.org", "metadata.google.internal", "host.docker.internal"]

def attempt(work):
    try:
        return work()
    except OSError:
        return None

with ThreadPoolExecutor(16) as pool:
    reached = [pool.submit(attempt, lambda t=t: socket.create_connection(t, 2) and t[0]) for t in targets]
    resolved = [pool.submit(attempt, lambda n=n: socket.gethostbyname(n) and n) for n in names]
    for done in reached + resolved:
        if done.result():
            print("got", done.result())
print([name for _, name in socket.if_nameindex()])
"""
SERVE = "import socket; s = socket.create_server(('0.0.0.0', 8000)); s.accept(); s.accept()"
CONNECT = "import socket, sys; socket.create_connection((sys.argv[1], 8000), timeout=1)"


@pytest.fixture(scope="module")
def box(start: Start, root_image: BuildPlan) -> DockerSandbox:
    config = DockerConfig(build=root_image, network_verify="public", env={"OWN": "1"})  # type: ignore[arg-type]
    return anyio.run(start, config)


async def record(box: DockerSandbox) -> dict[str, object]:
    """The engine's whole record of the container."""
    return await box.container.engine.call(lambda api: dict(api.inspect_container(box.container.id)))


@pytest.fixture
def host_service(docker_bridge: str) -> Iterator[str]:
    """ADDRESS:PORT of a service of the host, on the address that containers see it by."""
    with socket.create_server((docker_bridge, 0)) as server:
        yield f"{docker_bridge}:{server.getsockname()[1]}"


@pytest.fixture
def docker_bridge(engine: Engine) -> str:
    """The host's own address on the engine's default network."""
    found: Any = engine.blocking(lambda api: api.inspect_network("bridge"))
    return str(found["IPAM"]["Config"][0].get("Gateway") or "172.17.0.1")


async def test_F33_without_a_network_nothing_can_be_reached(
    box: DockerSandbox, start: Start, root_image: BuildPlan, host_service: str
) -> None:
    done = await box.exec(["python3", "-c", REACH, host_service], timeout=60)
    assert done.stdout == "['lo']\n"
    public = await start(DockerConfig(build=root_image, network="public"))
    seen = await public.exec(["python3", "-c", REACH, host_service], timeout=60)
    assert f"got {host_service.partition(':')[0]}" in seen.stdout  # so the question was a real one


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
import socket, ssl, sys, urllib.request
listed, other, address = sys.argv[1:]

def page(url, **headers):
    try:
        request = urllib.request.Request(url, headers=headers)
        return urllib.request.urlopen(request, timeout=2).read().decode()
    except OSError:
        return "closed"

def hello(asked, name):
    with socket.create_connection((asked, 443), timeout=5) as raw:
        out = ssl.MemoryBIO()
        context = ssl.create_default_context()
        side = context.wrap_bio(ssl.MemoryBIO(), out, server_hostname=name)
        try:
            side.do_handshake()
        except ssl.SSLWantReadError:
            raw.sendall(out.read())
        return raw.recv(100).decode() or "closed"

def resolved(name):
    try:
        return socket.gethostbyname(name)
    except OSError:
        return "unknown"

print(page(f"http://{listed}/"))
print(page(f"http://{listed}/", Host=other), page(f"http://{other}/"), page(f"http://{address}/"))
print(page(f"http://{resolved(listed)}/", Host=address), resolved(other))
print(hello(listed, listed), hello(listed, other))
"""
HOST = """
import http.server, socketserver, threading
class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"page of " + self.headers["Host"].encode())
class Raw(socketserver.BaseRequestHandler):
    def handle(self):
        self.request.recv(9999); self.request.sendall(b"behind-tls")
threading.Thread(target=http.server.ThreadingHTTPServer(("", 80), Page).serve_forever).start()
socketserver.ThreadingTCPServer(("", 443), Raw).serve_forever()
"""


@pytest.fixture
def web_host(engine: Engine, fleet: Fleet, root_image: BuildPlan) -> Iterator[tuple[str, str]]:
    """(network, address): a real host of two names, at a public kind of address that only gateways reach."""
    from docker.types import EndpointConfig, IPAMConfig, IPAMPool

    def make(api: Any) -> tuple[str, str, str]:
        pool = IPAMConfig(pool_configs=[IPAMPool(subnet="11.213.7.0/29")])
        network = str(api.create_network(f"test-{labels.token()}", internal=True, ipam=pool)["Id"])
        ends = {network: EndpointConfig(api.api_version, aliases=["listed.example", "other.example"])}
        made = api.create_container(
            root_image.tag,
            ["python3", "-c", HOST],
            networking_config={"EndpointsConfig": ends},
            host_config=api.create_host_config(network_mode=network),
        )["Id"]
        api.start(made)
        found = api.inspect_container(made)["NetworkSettings"]["Networks"]
        return network, str(made), str(next(iter(found.values()))["IPAddress"])

    network, host, address = engine.blocking(make, repeatable=False)
    yield network, address
    for gateway in fleet._gateways.values():
        with contextlib.suppress(Exception):
            engine.blocking(
                lambda api, id=gateway.id: api.disconnect_container_from_network(id, network, force=True)  # type: ignore[misc]
            )
    engine.blocking(lambda api: api.remove_container(host, force=True))
    engine.blocking(lambda api: api.remove_network(network))


@pytest.mark.usefixtures("allow_lists")
async def test_F33_with_an_allow_list_nothing_but_its_hosts_can_be_reached(
    start: Start, root_image: BuildPlan, fleet: Fleet, web_host: tuple[str, str], host_service: str
) -> None:
    network, address = web_host
    config = DockerConfig(build=root_image, allow=("listed.example",))
    box, other = await start(config), await start(config)
    (gateway,) = fleet._gateways.values()
    await fleet.engine.call(lambda api: api.connect_container_to_network(gateway.id, network))
    done = await box.exec(
        ["python3", "-c", REACH, host_service, f"{address}:80", f"{address}:443"], timeout=60
    )
    assert done.stdout == "['lo', 'eth0']\n"
    for neighbour in (box, other):
        networks = (await record(neighbour))["NetworkSettings"]["Networks"]  # type: ignore[index]
        (mine,) = networks.values()
        base = mine["IPAddress"].rpartition(".")[0]
        for last in {mine["Gateway"], f"{base}.{int(mine['IPAddress'].rpartition('.')[2]) + 1}"}:
            assert not (await box.exec(["python3", "-c", CONNECT, last], timeout=30)).success
    seen = await box.exec(["python3", "-c", LISTED, "listed.example", "other.example", address], timeout=60)
    assert seen.stdout.splitlines() == [
        "page of listed.example",
        "closed closed closed",
        "closed unknown",
        "behind-tls closed",
    ], seen.stderr
    filters = {"label": f"{labels.RUN}={fleet.run}"}
    assert len(await fleet.engine.call(lambda api: api.networks(filters=filters))) == 2
    await fleet.remove([box.container, other.container])
    assert not await fleet.engine.call(lambda api: api.networks(filters=filters))


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
        "mount --bind / /mnt",
        "python3 -c 'import os; os.unshare(0x20000)'",
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


SYSTEM_CALL = """
import ctypes, os, platform, sys
libc = ctypes.CDLL(None, use_errno=True)
if sys.argv[1] == "module":
    number = {"x86_64": 175, "aarch64": 105}[platform.machine()]
    done = libc.syscall(number, b"", 0, b"")
else:
    done = libc.ptrace(16, int(sys.argv[2]), 0, 0)
print(done, ctypes.get_errno())
"""


async def test_F36_no_process_of_another_user_can_be_traced_and_no_module_loaded(
    start: Start, user_image: BuildPlan
) -> None:
    box = await start(DockerConfig(build=user_image))
    await box.exec(["sh", "-c", "sleep 321 > /dev/null 2>&1 &"])
    pid = (await box.exec(["pgrep", "-x", "sleep", "-u", "agent"])).stdout.strip()
    call = ["python3", "-c", SYSTEM_CALL]
    assert (await box.exec([*call, "trace", pid], user="root")).stdout == "-1 1\n"
    assert (await box.exec([*call, "trace", "1"])).stdout == "-1 1\n"
    for user in ("root", "agent"):
        assert (await box.exec([*call, "module"], user=user)).stdout == "-1 1\n"


async def test_F36_skills_cannot_be_written_by_an_agent_and_a_root_agents_change_is_its_own_alone(
    start: Start, user_image: BuildPlan
) -> None:
    config = DockerConfig(build=user_image)
    box, other = await start(config), await start(config)
    layout = container_layout(("/opt/skills",))
    skill = Treatment("gt/a", "a", SkillTree({"SKILL.md": SkillFile(skill_md("a").encode(), False)}))
    for each in (box, other):
        await install(each, layout, [skill])
    for attempt in (
        "echo x >> $s",
        "rm $s",
        "mv /opt/skills/a /opt/b",
        "chmod 777 $s",
        "touch /opt/skills/a/new",
    ):
        done = await box.exec(["sh", "-c", f"s=/opt/skills/a/SKILL.md; {attempt}"])
        assert not done.success, attempt
    await prove(box, layout, [skill])
    files = fingerprint([skill])
    assert (await box.exec(["mkdir", "-p", "/opt/skills/a/__pycache__"], user="root")).success
    assert not await changed(box, layout.skills, files)
    assert (await box.exec(["sh", "-c", "echo x >> /opt/skills/a/SKILL.md"], user="root")).success
    assert await changed(box, layout.skills, files)
    assert (await box.exec(["sh", "-c", "rm -r /opt/skills; ln -s /etc /opt/skills"], user="root")).success
    assert await changed(box, layout.skills, files)
    assert not await changed(other, layout.skills, files)
    await prove(other, layout, [skill])
    await prove(await start(config), layout, [])


async def test_F36_a_user_cannot_gain_rights_by_a_setuid_file(start: Start, user_image: BuildPlan) -> None:
    box = await start(DockerConfig(build=user_image))
    plant = "cp /usr/bin/id /usr/local/bin/suid && chmod 4755 /usr/local/bin/suid"
    assert (await box.exec(["sh", "-c", plant], user="root")).success
    assert "(root)" not in (await box.exec(["/usr/local/bin/suid"])).stdout
    status = await box.exec(["sh", "-c", "grep -E 'CapEff|NoNewPrivs' /proc/self/status"])
    assert status.stdout.split() == ["CapEff:", "0000000000000000", "NoNewPrivs:", "1"]


async def test_packages_can_be_installed_and_users_switched_by_root(box: DockerSandbox) -> None:
    script = "adduser --disabled-password --gecos '' someone && su someone -c id && chown someone /job"
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


async def test_F31_SB_11_a_flood_into_the_containers_log_stays_bounded(box: DockerSandbox) -> None:
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
    fill = "setsid sh -c 'head -c 400M /dev/zero > /tmp/more' & head -c 400M /dev/zero > big; sleep 60"
    done = await box.exec(["sh", "-c", fill], timeout=50)
    assert (done.returncode, box.incidents) == (137, ["disk_limit"])
    assert "[killed: the disk limit of 64 MiB was reached]" in done.stderr
    assert (await box.exec(["sh", "-c", "rm -f big /tmp/more; echo lives"])).stdout == "lives\n"
    filters = {"id": box.container.id}
    found: Any = await box.container.engine.call(lambda api: api.containers(size=True, filters=filters))
    assert int(found[0].get("SizeRw") or 0) < 64 << 20
