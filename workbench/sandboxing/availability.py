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

from workbench.core.errors import suggestion
from workbench.sandboxing.contexts import chosen
from workbench.sandboxing.podman import is_podman

MINIMUM_API = (1, 41)
_SYSTEM_SOCKET = "/var/run/docker.sock"
_USER_SOCKETS = (".docker/run/docker.sock", ".orbstack/run/docker.sock", ".colima/default/docker.sock")
_RUNTIME_SOCKETS = ("docker.sock", "podman/podman.sock")
_PODMAN_SOCKET = "/run/podman/podman.sock"
_START = "start it with: sudo systemctl start docker (or: sudo dockerd &)"
_START_PODMAN = "start it with: systemctl --user start podman.socket (root: systemctl start podman.socket)"
_OWN_PODMAN = "unix://$XDG_RUNTIME_DIR/podman/podman.sock"
_REMOTE = "look on that machine whether it runs and listens there"
_NO_CONTEXT = "context"
_TLS = ("DOCKER_TLS_VERIFY", "DOCKER_TLS")
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
    """Where the engine is looked for, as the docker command line does.

    ``$DOCKER_HOST``, else the address of the chosen docker context (``context://NAME`` where it has
    none), else the first socket that exists among the usual (rootless, Desktop, Podman).
    """
    env = os.environ if environ is None else environ
    if env.get("DOCKER_HOST", "").strip():
        return env["DOCKER_HOST"].strip()
    context = chosen(env)
    if context is not None:
        return context.host or f"{_NO_CONTEXT}://{context.name}"
    return f"unix://{next((path for path in _usual(env) if _exists(path)), _SYSTEM_SOCKET)}"


def chosen_by(url: str, environ: Mapping[str, str]) -> str:
    """Who has chosen an address: ``DOCKER_HOST`` or a docker context; empty for a usual socket."""
    if environ.get("DOCKER_HOST", "").strip() == url:
        return "DOCKER_HOST"
    context = chosen(environ)
    return str(context) if context is not None and context.host == url else ""


def _usual(env: Mapping[str, str]) -> list[Path]:
    home = Path(env.get("HOME", "/nonexistent"))
    usual = [Path(_SYSTEM_SOCKET), *(home / name for name in _USER_SOCKETS)]
    if env.get("XDG_RUNTIME_DIR"):
        usual += [Path(env["XDG_RUNTIME_DIR"]) / name for name in _RUNTIME_SOCKETS]
    return [*usual, Path(_PODMAN_SOCKET)]


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
        return EngineStatus(False, _chosen(_explain(url, error), url, env), url)
    version, podman = str(answer.get("Version") or "?"), is_podman(answer)
    if speaks < MINIMUM_API:
        wanted = ".".join(map(str, MINIMUM_API))
        reason = f"the engine at {url} speaks API {api}, at least {wanted} (Docker 20.10, Podman 4) is needed"
        return EngineStatus(False, reason, url, api, version, podman)
    return EngineStatus(True, "", url, api, version, podman)


def unsupported(url: str, environ: Mapping[str, str]) -> str:
    """Why this kind of address cannot be used, and what to type instead; empty when it can."""
    parts = urlsplit(url)
    context = chosen(environ)
    who = f"{chosen_by(url, environ) or 'DOCKER_HOST'}: {url}"
    if parts.scheme == _NO_CONTEXT:
        names = context.known if context else ()
        near = suggestion(parts.netloc, names).rstrip("?")
        return f"{context or url}: there is no such context{near}; see: docker context ls"
    if parts.scheme == "unix":
        return ""
    if parts.scheme == "tcp":
        tls = any(environ.get(name) for name in _TLS) or (context is not None and context.tls)
        return f"{who}: TLS is not supported; {_forward(parts.hostname or 'HOST')}" if tls else ""
    if parts.scheme == "ssh":
        return f"{who}: ssh:// is not supported; {_forward(parts.netloc)}"
    if parts.scheme == "npipe":
        return f"{who}: named pipes are not supported; run inside WSL, where the engine has a unix socket"
    host = parts.netloc or (url if "//" not in url else "HOST:2375")
    meant = f"unix://{url}" if url.startswith("/") else f"tcp://{host}"
    return f"{who}: only unix:// and plain tcp:// are supported; export DOCKER_HOST={meant}"


def _forward(host: str) -> str:
    return (
        f"forward the socket with: ssh -NL /tmp/docker.sock:/var/run/docker.sock {host}, "
        "and export DOCKER_HOST=unix:///tmp/docker.sock"
    )


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


def _chosen(reason: str, url: str, env: Mapping[str, str]) -> str:
    """A reason that names who chose the address, and another engine that seems to be here."""
    by = chosen_by(url, env)
    if not by:
        return reason
    what, _, todo = reason.partition("; ")
    usual = next((path for path in _usual(env) if _exists(path) and f"unix://{path}" != url), None)
    if usual is not None:
        switch = "unset DOCKER_HOST" if by == "DOCKER_HOST" else f"export DOCKER_HOST=unix://{usual}"
        todo = f"{switch} (for the engine at unix://{usual}), or {todo}"
    return f"{what}, chosen by {by}; {todo}"


def _explain(url: str, error: Exception) -> str:
    if "podman" in url:
        return _explain_podman(url, error)
    if isinstance(error, PermissionError):
        return f"no right to use {url}; type: sudo usermod -aG docker $USER, and log in again"
    if isinstance(error, FileNotFoundError):
        return f"no Docker engine at {url}; {_INSTALL}"
    if isinstance(error, ConnectionRefusedError):
        return f"the Docker engine at {url} is not running; {_START if url.startswith('unix:') else _REMOTE}"
    if isinstance(error, TimeoutError):
        todo = "restart it with: sudo systemctl restart docker" if url.startswith("unix:") else _REMOTE
        return f"the Docker engine at {url} does not answer; {todo}"
    if isinstance(error, ValueError | http.client.HTTPException):
        return f"what answers at {url} is no Docker engine; correct the address, or {_START}"
    if not url.startswith("unix://"):
        return f"no Docker engine answers at {url} ({error}); {_REMOTE}"
    return f"no Docker engine answers at {url} ({error}); {_START}"


def _explain_podman(url: str, error: Exception) -> str:
    if isinstance(error, PermissionError):
        return f"no right to use {url}; {_START_PODMAN}, and set DOCKER_HOST to {_OWN_PODMAN}"
    if isinstance(error, TimeoutError):
        return f"Podman at {url} does not answer; re{_START_PODMAN.replace(' start ', ' restart ')}"
    return f"Podman does not listen at {url}; {_START_PODMAN}"
