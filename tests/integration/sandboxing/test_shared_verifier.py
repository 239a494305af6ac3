"""Verification in the agent's own container: the image's services live on, the agent is gone."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import pytest

from workbench.sandboxing.config import BuildPlan, DockerConfig
from workbench.sandboxing.debian import DEBIAN_PYTHON
from workbench.sandboxing.engine import Engine
from workbench.sandboxing.fleet import Fleet
from workbench.sandboxing.network import ensure_network
from workbench.sandboxing.providers.docker import DockerSandbox

pytestmark = [pytest.mark.docker, pytest.mark.usefixtures("docker_engine")]
Start = Callable[[DockerConfig], Awaitable[DockerSandbox]]

SERVED = f"""FROM {DEBIAN_PYTHON}
WORKDIR /job
RUN printf '%s\\n' '#!/bin/sh' '(sleep 0.7; cd /job; exec python3 -m http.server 8000) > /dev/null 2>&1 &' \\
  'exec "$@"' > /entry.sh && chmod +x /entry.sh
ENTRYPOINT ["/entry.sh"]
"""
ASK = "import urllib.request as u; print(u.urlopen('http://127.0.0.1:{}/state').read().decode())"


@pytest.fixture(scope="module")
def serving_image(planned: Callable[[str], BuildPlan]) -> BuildPlan:
    return planned(SERVED)


@pytest.fixture(autouse=True)
def _own_fleet(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DockerSandbox, "fleet", classmethod(lambda cls: fleet))


async def answer(box: DockerSandbox, port: int) -> str:
    """What a service in the container says; empty when there is none."""
    return (await box.exec(["python3", "-c", ASK.format(port)], timeout=20)).stdout.strip()


async def served(box: DockerSandbox) -> DockerSandbox:
    """The container once its own service, which takes its time, answers."""
    await box.write_file("/job/state", "as it was")
    with anyio.fail_after(20):
        while await answer(box, 8000) != "as it was":
            await anyio.sleep(0.1)
    await box.note_services()
    return box


async def test_services_of_the_image_keep_their_state_and_those_of_a_root_agent_are_killed(
    start: Start, serving_image: BuildPlan
) -> None:
    box = await served(await start(DockerConfig(build=serving_image)))
    agents = "cd /job; echo agents > state; setsid python3 -m http.server 9000 > /dev/null 2>&1 & sleep 1"
    assert (await box.exec(["sh", "-c", agents], user="root", timeout=20)).success
    assert (await answer(box, 8000), await answer(box, 9000)) == ("agents", "agents")
    async with box.judged("none", fresh=False) as (where, swept):
        assert (await answer(where, 8000), await answer(where, 9000)) == ("agents", "")
        assert swept.incidents == []


async def test_F46_jobs_that_an_agent_left_to_a_scheduler_are_swept_where_one_may_run(
    start: Start, serving_image: BuildPlan
) -> None:
    box = await served(await start(DockerConfig(build=serving_image)))
    tabs = "/var/spool/cron/crontabs"
    plant = f"mkdir -p {tabs} /etc/cron.d; echo x > /etc/cron.d/x; echo x > {tabs}/root"
    assert (await box.exec(["sh", "-c", plant])).success
    async with box.judged("none", fresh=False) as (where, swept):
        assert swept.incidents == ["swept:jobs"]
        assert (await where.exec(["sh", "-c", f"cat {tabs}/root /etc/cron.d/x"])).stdout == ""


class NameServer:
    """A real DNS server on a host's address; answers every question for one name with one address."""

    def __init__(self, host: str, name: str, address: str) -> None:
        self.asked: list[str] = []
        self._name, self._address = name, socket.inet_aton(address)
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind((host, 53))
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self) -> None:
        self._socket.close()

    def _serve(self) -> None:
        while True:
            try:
                data, peer = self._socket.recvfrom(512)
                self._socket.sendto(self._reply(data), peer)
            except OSError:
                return

    def _reply(self, data: bytes) -> bytes:
        labels, at = [], 12
        while data[at]:
            labels.append(data[at + 1 : at + 1 + data[at]].decode())
            at += 1 + data[at]
        question, name = data[12 : at + 5], ".".join(labels)
        self.asked.append(name)
        known = name == self._name and question[-4:-2] == b"\0\1"
        head = data[:2] + struct.pack(">HHHHH", 0x8180, 1, int(known), 0, 0)
        return head + question + (b"\xc0\x0c\0\1\0\1\0\0\0\x3c\0\4" + self._address if known else b"")


class Asking(Fleet):
    """Containers whose engine has them ask one name server."""

    servers = ""

    async def name_servers(self, image: str) -> str:
        return self.servers


@pytest.mark.usefixtures("allow_lists")
async def test_F33_a_verifier_in_a_container_with_an_allow_list_has_its_own_network_and_real_names(
    engine: Engine, root_image: BuildPlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    network = await ensure_network(engine)
    found: Any = await engine.call(lambda api: api.inspect_network(network))
    host = found["IPAM"]["Config"][0]["Gateway"]
    server, fleet = NameServer(host, "files.example", "198.51.100.7"), Asking(engine)
    fleet.servers = f"nameserver {host}\n"
    monkeypatch.setattr(DockerSandbox, "fleet", classmethod(lambda cls: fleet))
    config = DockerConfig(build=root_image, allow=("files.example",), network_verify="public")
    try:
        box = DockerSandbox(await fleet.start(config), config)
        lies = "echo 192.0.2.1 files.example >> /etc/hosts; echo nameserver 192.0.2.2 > /etc/resolv.conf"
        assert (await box.exec(["sh", "-c", lies])).success
        async with box.judged("public", fresh=False) as (where, _):
            assert (await where.exec(["getent", "ahostsv4", "files.example"], timeout=20)).stdout.startswith(
                "198.51.100.7"
            )
            own = await where.exec(["sh", "-c", "getent hosts localhost && getent hosts $(hostname)"])
            assert own.success
        assert "files.example" in server.asked
    finally:
        server.close()
        await fleet.close(cleanup=True)


async def test_name_servers_are_those_of_a_plain_container(
    fleet: Fleet, engine: Engine, root_image: BuildPlan
) -> None:
    image = await engine.image(root_image.tag)
    assert image is not None
    before = set(fleet.running)
    servers = await fleet.name_servers(str(image["Id"]))
    assert "nameserver " in servers
    assert "nameserver 127." not in servers
    assert set(fleet.running) == before


@pytest.mark.usefixtures("allow_lists")
async def test_a_verifier_without_a_network_does_not_inherit_the_agents_allow_list(
    start: Start, engine: Engine, root_image: BuildPlan
) -> None:
    box = await start(DockerConfig(build=root_image, allow=("files.example",)))
    async with box.judged("none", fresh=False) as (where, _):
        assert (await where.exec(["ls", "/sys/class/net"])).stdout == "lo\n"
