"""Limits are what the machine can give, and what is not enforced is said."""

from __future__ import annotations

from typing import Any

import pytest

from workbench.sandboxing.config import DockerConfig
from workbench.sandboxing.container import Container
from workbench.sandboxing.fleet import Started
from workbench.sandboxing.limits import CAPABILITIES, Limits, effective, host_config, may_limit_storage
from workbench.sandboxing.providers.docker import DockerSandbox

INFO = {
    "NCPU": 2,
    "MemTotal": 4 << 30,
    "Driver": "overlay2",
    "DriverStatus": [["Backing Filesystem", "extfs"]],
    "MemoryLimit": True,
    "SwapLimit": True,
    "PidsLimit": True,
    "CpuCfsQuota": True,
}


def test_more_than_the_machine_has_is_cut_and_said() -> None:
    limits = effective(DockerConfig(image="a", cpus=8, memory_mb=65536), INFO)
    assert (limits.cpus, limits.memory) == (2.0, 4 << 30)
    assert limits.notes == ("cpus: 8 wanted, 2 here", "memory: 65536 MiB wanted, 4096 MiB here")


def test_what_is_not_enforced_is_said() -> None:
    limits = effective(DockerConfig(image="a", storage_mb=100), {**INFO, "SwapLimit": False})
    assert [note.partition(":")[0] for note in limits.notes] == ["storage", "swap"]
    assert may_limit_storage({"Driver": "overlay2", "DriverStatus": [["Backing Filesystem", "xfs"]]})
    assert not may_limit_storage(INFO)


def test_a_container_gets_nothing_of_the_host_and_no_rights_to_gain_more() -> None:
    config = DockerConfig(image="a", memory_mb=512, pids=64)
    wanted = host_config(config, effective(config, INFO), "none", storage=True)
    assert wanted["CapDrop"] == ["ALL"]
    assert wanted["SecurityOpt"] == ["no-new-privileges:true"]
    assert wanted["Memory"] == wanted["MemorySwap"] == 512 << 20
    assert wanted["PidsLimit"] == 64
    assert not {"Binds", "Mounts", "Privileged", "PidMode", "Devices"} & set(wanted)
    assert not {"NET_RAW", "SYS_ADMIN", "SYS_PTRACE", "MKNOD", "NET_ADMIN"} & set(CAPABILITIES)


@pytest.mark.parametrize(("unlimited", "named"), [((), True), (("memory", "pids"), False)])
async def test_without_a_limit_of_its_own_a_container_is_not_charged_with_the_machines_kills(
    fake: Any, container: Container, unlimited: tuple[str, ...], named: bool
) -> None:
    limits = Limits(1.0, 1 << 30, 64, unlimited=frozenset(unlimited))
    started = Started(container, {"Config": {"WorkingDir": "/w"}}, limits, None)
    box = DockerSandbox(started, DockerConfig(image="i"))
    fake.output, fake.record = [(1, b"memory 3\npids 2\n")], {"Running": False, "ExitCode": 137, "Pid": 9}
    done = await box.exec(["x"])
    assert ("memory limit of 1024 MiB" in done.stderr) is named
    assert box.incidents == (["out_of_memory", "pids_limit"] if named else [])
