"""Limits are what the machine can give, and what is not enforced is said."""

from __future__ import annotations

from workbench.sandboxing.config import DockerConfig
from workbench.sandboxing.limits import CAPABILITIES, effective, host_config, may_limit_storage

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
