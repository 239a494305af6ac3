"""Configurations are strict, hashable, and survive the log."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pydantic import ValidationError

from workbench.core.errors import ContentError, UsageError
from workbench.sandboxing.config import DockerConfig
from workbench.sandboxing.limits import effective, host_config
from workbench.sandboxing.providers.docker import DockerSandbox, resolve


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
    ],
)
def test_nonsense_is_refused(bad: dict[str, object]) -> None:
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


@pytest.mark.parametrize(
    "key",
    ["privileged", "volumes", "binds", "cap_add", "devices", "pid", "ipc", "network_mode", "security_opt",
     "userns", "extra_hosts", "secrets", "volumes_from", "extends"],
)  # fmt: skip
def test_F35_no_key_gives_a_container_a_part_of_the_host(key: str) -> None:
    with pytest.raises(ValidationError, match="Extra inputs are not permitted"):
        DockerConfig.model_validate({"image": "a", key: True})


def test_F35_F51_what_the_engine_is_asked_for_holds_nothing_of_the_host() -> None:
    config = DockerConfig(image="a", cpus=1, memory_mb=64, pids=32, storage_mb=8)
    asked = host_config(config, effective(config, {"NCPU": 2, "MemTotal": 1 << 30}), "none", storage=True)
    assert not set(asked) & {"Binds", "Mounts", "Devices", "Privileged", "PidMode", "VolumesFrom"}
    assert (asked["Memory"], asked["MemorySwap"], asked["PidsLimit"]) == (64 << 20, 64 << 20, 32)
    assert (asked["CapDrop"], asked["SecurityOpt"]) == (["ALL"], ["no-new-privileges:true"])
