"""An engine is found, or what to type is said, in milliseconds."""

from __future__ import annotations

import hashlib
import json
import re
import socket
import time
from pathlib import Path

import pytest

from workbench.sandboxing.availability import _explain, address, engine_status, engine_url, unsupported


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
    reason = engine_status({"DOCKER_HOST": f"unix://{path}"}).reason
    assert "is not running" in reason
    assert "start it with" in reason


def test_an_engine_that_says_nothing_is_not_waited_for(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(str(tmp_path / "s.sock"))
        silent.listen()
        status = engine_status({"DOCKER_HOST": f"unix://{tmp_path}/s.sock"}, timeout=0.05)
    assert "does not answer" in status.reason


def test_a_socket_without_rights_says_which_group() -> None:
    assert "usermod -aG docker" in _explain("unix:///s.sock", PermissionError())


TUNNEL = "ssh -NL /tmp/docker.sock:/var/run/docker.sock"


@pytest.mark.parametrize(
    ("environ", "said"),
    [
        ({"DOCKER_HOST": "ssh://me@box"}, f"{TUNNEL} me@box, and export DOCKER_HOST=unix:///tmp/docker.sock"),
        ({"DOCKER_HOST": "tcp://box:2376", "DOCKER_TLS_VERIFY": "1"}, f"TLS is not supported.*{TUNNEL} box"),
        ({"DOCKER_HOST": "tcp://box:2376", "DOCKER_TLS": "1"}, "TLS is not supported"),
        ({"DOCKER_HOST": "npipe:////./pipe/docker_engine"}, "run inside WSL"),
        ({"DOCKER_HOST": "http://box:2375"}, "export DOCKER_HOST=tcp://box:2375$"),
        ({"DOCKER_HOST": "https://box:2375"}, "export DOCKER_HOST=tcp://box:2375$"),
        ({"DOCKER_HOST": "/var/run/docker.sock"}, "export DOCKER_HOST=unix:///var/run/docker.sock$"),
        ({"DOCKER_HOST": "localhost:2375"}, "export DOCKER_HOST=tcp://localhost:2375$"),
        ({"DOCKER_HOST": "fd://"}, "export DOCKER_HOST=tcp://HOST:2375$"),
    ],
)
def test_addresses_that_cannot_be_used_are_never_tried_and_say_what_to_type(
    environ: dict[str, str], said: str
) -> None:
    status = engine_status(environ)
    assert (status.ok, status.api_version) == (False, None)
    assert re.search(said, status.reason)


def test_tls_variables_do_not_matter_for_a_socket() -> None:
    assert unsupported("unix:///s.sock", {"DOCKER_TLS_VERIFY": "1"}) == ""


@pytest.mark.parametrize(
    ("host", "said"),
    [
        ("tcp://127.0.0.1:1", "look on that machine"),
        ("tcp://box:port", "correct the address"),
    ],
)
def test_an_address_that_nobody_answers_at_names_who_chose_it(host: str, said: str) -> None:
    reason = engine_status({"DOCKER_HOST": host}).reason
    assert ", chosen by DOCKER_HOST; " in reason
    assert said in reason


def test_an_engine_of_this_machine_is_offered_where_a_chosen_one_is_not_there(tmp_path: Path) -> None:
    (tmp_path / ".docker/run").mkdir(parents=True)
    (tmp_path / ".docker/run/docker.sock").touch()
    reason = engine_status({"DOCKER_HOST": "unix:///absent.sock", "HOME": str(tmp_path)}).reason
    assert re.search(r"; unset DOCKER_HOST \(for the engine at unix://\S+docker.sock\), or install", reason)


def context(home: Path, name: str, host: str, *, tls: bool = False) -> None:
    """A context as ``docker context create`` writes it."""
    key = hashlib.sha256(name.encode()).hexdigest()
    meta = home / ".docker/contexts/meta" / key
    meta.mkdir(parents=True)
    (meta / "meta.json").write_text(json.dumps({"Name": name, "Endpoints": {"docker": {"Host": host}}}))
    if tls:
        (home / ".docker/contexts/tls" / key / "docker").mkdir(parents=True)


def test_the_docker_context_in_use_names_the_engine(tmp_path: Path) -> None:
    context(tmp_path, "lab", "tcp://lab:2375")
    context(tmp_path, "desk", "unix:///desk.sock")
    home = {"HOME": str(tmp_path)}
    (tmp_path / ".docker/config.json").write_text('{"currentContext": "lab"}')
    assert engine_url(home) == "tcp://lab:2375"
    assert engine_url({**home, "DOCKER_CONTEXT": "desk"}) == "unix:///desk.sock"
    assert engine_url({**home, "DOCKER_CONTEXT": "desk", "DOCKER_HOST": "tcp://box:1"}) == "tcp://box:1"
    assert engine_url({**home, "DOCKER_CONTEXT": "default"}).startswith("unix://")
    elsewhere = {"HOME": "/nonexistent", "DOCKER_CONFIG": str(tmp_path / ".docker")}
    assert engine_url(elsewhere) == "tcp://lab:2375"
    reason = engine_status({**home, "DOCKER_CONTEXT": "desk"}).reason
    assert (
        "no Docker engine at unix:///desk.sock, chosen by docker context 'desk' (DOCKER_CONTEXT);" in reason
    )


def test_a_context_that_is_missing_or_cannot_be_used_is_not_passed_over_for_another_engine(
    tmp_path: Path,
) -> None:
    context(tmp_path, "far", "ssh://me@box")
    context(tmp_path, "safe", "tcp://box:2376", tls=True)
    home = {"HOME": str(tmp_path)}
    reasons = {
        name: engine_status({**home, "DOCKER_CONTEXT": name}).reason for name in ("fra", "far", "safe")
    }
    assert (
        "docker context 'fra' (DOCKER_CONTEXT): there is no such context; did you mean 'far'"
        in reasons["fra"]
    )
    assert f"ssh:// is not supported; forward the socket with: {TUNNEL} me@box" in reasons["far"]
    assert "TLS is not supported" in reasons["safe"]


@pytest.mark.parametrize("broken", ["", "[]", "{", '{"currentContext": 3}', '{"currentContext": null}'])
def test_a_broken_docker_configuration_is_no_traceback(tmp_path: Path, broken: str) -> None:
    (tmp_path / ".docker").mkdir()
    (tmp_path / ".docker/config.json").write_text(broken)
    assert engine_url({"HOME": str(tmp_path)}).startswith(("unix://", "context://3"))


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
