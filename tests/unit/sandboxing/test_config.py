"""Configurations are strict, hashable, and survive the log."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pydantic import ValidationError

from tests.suites import write_suite
from workbench.benchmarks.formats.harbor import read_task
from workbench.core.errors import ContentError, UsageError
from workbench.sandboxing.config import DockerConfig
from workbench.sandboxing.configuration import resolve
from workbench.sandboxing.limits import effective, host_config
from workbench.sandboxing.providers.docker import DockerSandbox


def test_equal_configurations_are_equal_keys() -> None:
    one = DockerConfig(image="a", env={"B": "2", "A": "1"}, tmpfs={"/t": 8})  # type: ignore[arg-type]
    two = DockerConfig(image="a", env={"A": "1", "B": "2"}, tmpfs={"/t": 8})  # type: ignore[arg-type]
    assert len({one, two}) == 1


def test_a_configuration_comes_back_from_json(tmp_path: Path) -> None:
    (tmp_path / "Dockerfile").write_text("FROM a\n")
    config = DockerConfig(build=resolve(str(tmp_path)).build, env={"A": "1"})  # type: ignore[arg-type]
    read = DockerSandbox.config_deserialize(json.loads(config.model_dump_json()))
    assert read == config
    assert hash(read) == hash(config)


@pytest.mark.parametrize(
    "bad",
    [
        {},
        {"image": "a", "imagee": "b"},
        {"image": "a", "cpus": 0},
        {"image": "a", "network": "host"},
        {"image": "a", "workdir": "relative"},
        {"image": "a", "memory_mb": 1},
        {"image": "a", "memory_mb": 1 << 40},
        {"image": "a", "cpus": 0.001},
        {"image": "a", "cpus": float("inf")},
        {"image": "a", "pids": 0},
        {"image": "a", "pids": 1 << 40},
        {"image": "a", "shm_mb": 1 << 50},
        {"image": "a", "storage_mb": 0},
        {"image": "a", "workdir": "/a\0b"},
        {"image": "a", "tmpfs": {"relative": 8}},
        {"image": "a", "tmpfs": {"/t": 0}},
        {"image": "a", "tmpfs": {"/": 8}},
        {"image": "a", "tmpfs": {"//proc/": 8}},
        {"image": "a", "env": {"": "x"}},
        {"image": "a", "env": {"A=B": "x"}},
        {"image": "a", "env": {"A": "x\0y"}},
        {"image": "a", "env": {"A": "x" * 131072}},
        {"image": "a", "env": {f"A{i}": "x" * 131000 for i in range(9)}},
    ],
)
def test_what_an_engine_would_refuse_is_refused_before_it_is_asked(bad: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        DockerConfig.model_validate(bad)


def test_a_dockerfile_a_folder_and_a_yaml_file_are_configurations(tmp_path: Path) -> None:
    (tmp_path / "Dockerfile").write_text("FROM a\n")
    (tmp_path / "c.yaml").write_text("image: python:3.12-slim\nmemory_mb: 512\n")
    assert resolve(str(tmp_path)) == resolve(str(tmp_path / "Dockerfile"))
    assert resolve(str(tmp_path / "c.yaml")).memory_mb == 512


def test_a_broken_configuration_is_one_line_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text("image: a\nmemroy_mb: 512\n")
    with pytest.raises(ContentError, match=r"c.yaml:2: memroy_mb: unknown key; did you mean 'memory_mb'"):
        resolve(str(tmp_path / "c.yaml"))
    with pytest.raises(UsageError, match="found nothing; give a Dockerfile"):
        resolve(None)


OF_THE_HOST = {
    "privileged": "true",
    "volumes": "['/var/run/docker.sock:/var/run/docker.sock:ro', '/:/host:ro']",
    "binds": "['/etc:/etc:ro']",
    "mounts": "[{type: bind, source: /, target: /host}]",
    "network_mode": "host",
    "pid": "host",
    "ipc": "host",
    "uts": "host",
    "userns_mode": "host",
    "cgroup_parent": "/",
    "devices": "['/dev/kmsg:/dev/kmsg']",
    "device_cgroup_rules": "['a *:* rwm']",
    "cap_add": "[SYS_ADMIN]",
    "security_opt": "['seccomp:unconfined', 'apparmor:unconfined']",
    "extra_hosts": "['host.docker.internal:host-gateway']",
    "secrets": "[{file: ~/.ssh/id_rsa}]",
    "configs": "[{file: /etc/shadow}]",
    "env_file": "/srv/.env",
    "build": "{tag: a, digest: b, title: t, context: /etc, dockerfile: passwd}",
    "context": "..",
    "extends": "{file: ../other.yaml, service: x}",
    "include": "['https://example.com/compose.yaml']",
    "volumes_from": "['container:other']",
    "driver_opts": "{type: none, o: bind, device: /}",
    "sysctls": "{kernel.core_pattern: '|/x'}",
    "runtime": "other",
}
"""Key -> what would give a container a part of the host, or a build more than its own folder."""


@pytest.mark.parametrize("key", OF_THE_HOST)
def test_F35_no_key_gives_a_container_a_part_of_the_host(tmp_path: Path, key: str) -> None:
    image = "" if key == "build" else "image: a\n"
    (tmp_path / "c.yaml").write_text(f"{image}{key}: {OF_THE_HOST[key]}\n")
    with pytest.raises(UsageError, match=rf"c\.yaml(?::2)?: {key}: "):
        resolve(str(tmp_path / "c.yaml"))


@pytest.mark.parametrize(("key", "value"), [("network", "host"), ("network", "container:other")])
def test_F35_no_value_does_either(key: str, value: str) -> None:
    with pytest.raises(ValidationError, match="network"):
        DockerConfig.model_validate({"image": "a", key: value})


def test_F35_what_a_task_says_in_a_compose_file_is_ignored_and_said(tmp_path: Path) -> None:
    keys = "".join(f"    {key}: {value}\n" for key, value in OF_THE_HOST.items() if key != "build")
    task = write_suite(tmp_path)
    (task / "environment" / "docker-compose.yaml").write_text(f"services:\n  main:\n{keys}")
    read = read_task("own", task)
    assert read.unsupported is None
    assert [note for note in read.notes if note.startswith("docker-compose.yaml is ignored")]


def test_F35_F51_what_the_engine_is_asked_for_holds_nothing_of_the_host() -> None:
    config = DockerConfig(image="a", cpus=1, memory_mb=64, pids=32, storage_mb=8)
    asked = host_config(config, effective(config, {"NCPU": 2, "MemTotal": 1 << 30}), "none", storage=True)
    assert not set(asked) & {"Binds", "Mounts", "Devices", "Privileged", "PidMode", "VolumesFrom"}
    assert (asked["Memory"], asked["MemorySwap"], asked["PidsLimit"]) == (64 << 20, 64 << 20, 32)
    assert (asked["CapDrop"], asked["SecurityOpt"]) == (["ALL"], ["no-new-privileges:true"])
