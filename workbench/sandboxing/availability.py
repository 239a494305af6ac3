"""Whether an engine answers, found out in milliseconds and without importing the docker SDK."""

from __future__ import annotations

import http.client
import json
import os
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from workbench.sandboxing.podman import is_podman

MINIMUM_API = (1, 41)
_SYSTEM_SOCKET = "/var/run/docker.sock"
_USER_SOCKETS = (".docker/run/docker.sock", ".orbstack/run/docker.sock", ".colima/default/docker.sock")
_RUNTIME_SOCKETS = ("docker.sock", "podman/podman.sock")
_PODMAN_SOCKET = "/run/podman/podman.sock"
_START = "start it with: sudo systemctl start docker (or: sudo dockerd &)"
_START_PODMAN = "start it with: systemctl --user start podman.socket (root: systemctl start podman.socket)"
_OWN_PODMAN = "unix://$XDG_RUNTIME_DIR/podman/podman.sock"
_INSTALL = "install it with: sudo apt-get install docker.io (or Docker Desktop)"


@dataclass(frozen=True)
class EngineStatus:
    """What is known of the engine.

    Attributes:
        ok: it answers and is recent enough.
        reason: why not, and what to type; empty when `ok`.
        url: where it was looked for.
        api_version: e.g. ``1.41``, ``None`` when it did not answer.
        version: the engine's own version.
        podman: whether it is Podman, which speaks Docker's API.
    """

    ok: bool
    reason: str
    url: str
    api_version: str | None = None
    version: str | None = None
    podman: bool = False

    @property
    def name(self) -> str:
        """For people, e.g. ``Docker 26.1.5``."""
        return f"{'Podman' if self.podman else 'Docker'} {self.version}"


def engine_url(environ: Mapping[str, str] | None = None) -> str:
    """``$DOCKER_HOST``, else the first socket that exists among the usual (rootless, Desktop, Podman)."""
    env = os.environ if environ is None else environ
    if env.get("DOCKER_HOST"):
        return env["DOCKER_HOST"]
    home = Path(env.get("HOME", "/nonexistent"))
    usual = [Path(_SYSTEM_SOCKET), *(home / name for name in _USER_SOCKETS)]
    if env.get("XDG_RUNTIME_DIR"):
        usual += [Path(env["XDG_RUNTIME_DIR"]) / name for name in _RUNTIME_SOCKETS]
    usual.append(Path(_PODMAN_SOCKET))
    return f"unix://{next((path for path in usual if _exists(path)), _SYSTEM_SOCKET)}"


def engine_status(environ: Mapping[str, str] | None = None, timeout: float = 3.0) -> EngineStatus:
    """Ask the engine for its version. Never raises; takes at most about `timeout` seconds."""
    env = os.environ if environ is None else environ
    url = engine_url(env)
    refused = unsupported(url, env)
    if refused:
        return EngineStatus(False, refused, url)
    try:
        answer = _version(url, timeout)
        api = str(answer.get("ApiVersion") or "0.0")
        speaks = tuple(map(int, api.split(".")))
    except (OSError, http.client.HTTPException, ValueError) as error:
        return EngineStatus(False, _explain(url, error), url)
    version, podman = str(answer.get("Version") or "?"), is_podman(answer)
    if speaks < MINIMUM_API:
        wanted = ".".join(map(str, MINIMUM_API))
        reason = f"the engine at {url} speaks API {api}, at least {wanted} (Docker 20.10, Podman 4) is needed"
        return EngineStatus(False, reason, url, api, version, podman)
    return EngineStatus(True, "", url, api, version, podman)


def unsupported(url: str, environ: Mapping[str, str]) -> str:
    """Why this kind of address cannot be used; empty when it can."""
    scheme = urlsplit(url).scheme
    if scheme not in ("unix", "tcp", "http") or (environ.get("DOCKER_TLS_VERIFY") and scheme != "unix"):
        return (
            f"DOCKER_HOST={url}: only unix:// and plain tcp:// are supported; "
            "forward the socket with: ssh -NL /tmp/docker.sock:/var/run/docker.sock HOST, "
            "and set DOCKER_HOST=unix:///tmp/docker.sock"
        )
    return ""


def address(url: str) -> str | tuple[str, int]:
    """The socket path of a ``unix://`` address, or host and port of a ``tcp://`` one."""
    parts = urlsplit(url)
    if parts.scheme == "unix":
        return parts.path or f"/{parts.netloc}"
    return parts.hostname or "localhost", parts.port or 2375


class _UnixConnection(http.client.HTTPConnection):
    """HTTP over a unix socket."""

    def __init__(self, path: str, timeout: float) -> None:
        super().__init__("localhost", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


def _version(url: str, timeout: float) -> dict[str, object]:
    where = address(url)
    if isinstance(where, str):
        connection: http.client.HTTPConnection = _UnixConnection(where, timeout)
    else:
        connection = http.client.HTTPConnection(*where, timeout=timeout)
    try:
        connection.request("GET", "/version")
        answer = json.loads(connection.getresponse().read(1 << 20))
    finally:
        connection.close()
    if not isinstance(answer, dict):
        raise ValueError("not an answer of an engine")
    return answer


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:
        return False


def _explain(url: str, error: Exception) -> str:
    if "podman" in url:
        return _explain_podman(url, error)
    if isinstance(error, PermissionError):
        return f"no right to use {url}; type: sudo usermod -aG docker $USER, and log in again"
    if isinstance(error, FileNotFoundError):
        return f"no Docker engine at {url}; {_INSTALL}"
    if isinstance(error, ConnectionRefusedError):
        return f"the Docker engine at {url} is not running; {_START}"
    if isinstance(error, TimeoutError):
        return f"the Docker engine at {url} does not answer; restart it with: sudo systemctl restart docker"
    return f"no Docker engine answers at {url} ({error}); {_START}"


def _explain_podman(url: str, error: Exception) -> str:
    if isinstance(error, PermissionError):
        return f"no right to use {url}; {_START_PODMAN}, and set DOCKER_HOST to {_OWN_PODMAN}"
    if isinstance(error, TimeoutError):
        return f"Podman at {url} does not answer; re{_START_PODMAN.replace(' start ', ' restart ')}"
    return f"Podman does not listen at {url}; {_START_PODMAN}"
