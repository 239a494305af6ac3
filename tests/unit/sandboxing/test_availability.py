"""An engine is found, or what to type is said, in milliseconds."""

from __future__ import annotations

import socket
import time
from pathlib import Path

import pytest

from workbench.sandboxing.availability import _explain, address, engine_status, engine_url


def test_no_socket_is_found_out_at_once_and_says_what_to_install(tmp_path: Path) -> None:
    began = time.perf_counter()
    status = engine_status({"DOCKER_HOST": f"unix://{tmp_path}/absent.sock"})
    assert time.perf_counter() - began < 0.1
    assert not status.ok
    assert "install it with" in status.reason


def test_a_socket_that_nobody_listens_on_says_how_to_start(tmp_path: Path) -> None:
    path = tmp_path / "s.sock"
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(path))
    assert "is not running; start it with" in engine_status({"DOCKER_HOST": f"unix://{path}"}).reason


def test_an_engine_that_says_nothing_is_not_waited_for(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(str(tmp_path / "s.sock"))
        silent.listen()
        status = engine_status({"DOCKER_HOST": f"unix://{tmp_path}/s.sock"}, timeout=0.05)
    assert "does not answer" in status.reason


def test_a_socket_without_rights_says_which_group() -> None:
    assert "usermod -aG docker" in _explain("unix:///s.sock", PermissionError())


@pytest.mark.parametrize(
    "environ",
    [{"DOCKER_HOST": "ssh://me@box"}, {"DOCKER_HOST": "tcp://box:2376", "DOCKER_TLS_VERIFY": "1"}],
)
def test_addresses_that_cannot_be_used_say_what_to_do_instead(environ: dict[str, str]) -> None:
    assert "DOCKER_HOST=unix:///tmp/docker.sock" in engine_status(environ).reason


def test_docker_host_wins_and_user_sockets_are_found(tmp_path: Path) -> None:
    (tmp_path / ".docker/run").mkdir(parents=True)
    (tmp_path / ".docker/run/docker.sock").touch()
    assert engine_url({"DOCKER_HOST": "tcp://box:1", "HOME": str(tmp_path)}) == "tcp://box:1"
    if not Path("/var/run/docker.sock").exists():
        assert engine_url({"HOME": str(tmp_path)}) == f"unix://{tmp_path}/.docker/run/docker.sock"


def test_addresses_are_taken_apart() -> None:
    assert address("unix:///a/b.sock") == "/a/b.sock"
    assert address("tcp://box:1234") == ("box", 1234)
    assert address("tcp://box") == ("box", 2375)
