"""Verification as Harbor does it: tests copied in, test.sh run, the reward read and nothing else believed.

The tests are proven by digest before they run. After them every process that is left is killed, so
that nothing rewrites a reward after its test has written it.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import shlex
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from inspect_ai.util import ExecResult, SandboxEnvironment

from workbench.benchmarks.task import BenchmarkTask
from workbench.core.errors import InfrastructureError, TrialError, VerifierError
from workbench.core.record import TestCase
from workbench.evaluation.container import docker_of, verifiers_home
from workbench.evaluation.layout import Layout
from workbench.evaluation.reward import MAX_JSON, MAX_TEXT, check_ran, read_reward, read_tests, report_path
from workbench.sandboxing.transfer import put_tree, tree_digest

_MAX_CTRF = 1024 * 1024
_UNBUFFERED = {"PYTHONUNBUFFERED": "1"}
"""That a session of pytest began is seen even if the code that it tests ends the process."""
Files = Mapping[str, tuple[bytes, bool]]
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")


@dataclass(frozen=True)
class Verdict:
    """What the verifier said: reward in [0, 1], its tests, how long it took, the tail of its output."""

    reward: float
    tests: tuple[TestCase, ...]
    seconds: float
    output: str


async def alive(sandbox: SandboxEnvironment) -> None:
    """Have a random token echoed by the sandbox.

    Raises:
        TrialError: with the sandbox's own cause, e.g. ``infra:engine``, else ``infra:sandbox_lost``;
            nothing that happened may be judged.
    """
    token = secrets.token_hex(8)
    try:
        result = await sandbox.exec(["sh", "-c", f"echo {token}"], timeout=30, timeout_retry=False)
    except TrialError:
        raise
    except Exception as error:
        raise InfrastructureError("infra:sandbox_lost", f"the sandbox does not answer: {error}") from error
    if result.stdout.strip() != token:
        raise InfrastructureError(
            "infra:sandbox_lost", f"the sandbox does not answer: {result.stderr[-200:]}"
        )


async def verify(
    sandbox: SandboxEnvironment, task: BenchmarkTask, layout: Layout, *, shared: bool = False
) -> Verdict:
    """Copy the tests in, run them, read the reward.

    Args:
        shared: the agent has worked in this sandbox, so the tests are proven again afterwards.

    Raises:
        InfrastructureError: the sandbox is gone.
        VerifierError: timed out, could not start, or wrote no valid reward.
        TrialError: ``tamper``, the tests are not what they were.
    """
    tests = read_folder(task.tests, executable=("test.sh",))
    await _prepare(sandbox, tests, layout)
    started = time.monotonic()
    result = await _run(sandbox, task, layout)
    seconds = time.monotonic() - started
    await _silence(sandbox)
    if shared:
        await _prove(sandbox, tests, layout, "after they ran")
    script = tests["test.sh"][0].decode("utf-8", "replace")
    reward, report = await _reward(sandbox, layout, script, result)
    return Verdict(reward, read_tests(report), seconds, _tail(result, 2000))


async def _reward(
    sandbox: SandboxEnvironment, layout: Layout, script: str, result: ExecResult[str]
) -> tuple[float, bytes | None]:
    """The reward, and the report that goes with it."""
    text = await _read(sandbox, layout, layout.reward_txt, MAX_TEXT)
    js = await _read(sandbox, layout, layout.reward_json, MAX_JSON)
    report = await _read(sandbox, layout, report_path(script) or layout.ctrf, _MAX_CTRF)
    if text is None and js is None and result.returncode in (126, 127):
        raise VerifierError("verifier_error:bootstrap", f"test.sh did not start: {_tail(result)}")
    try:
        reward = read_reward(text, js)
        check_ran(reward, script, report, f"{result.stdout}\n{result.stderr}", result.returncode)
    except VerifierError as error:
        raise VerifierError(error.cause, f"{error.detail}; its output ends: {_tail(result)}") from None
    return reward, report


async def _prepare(sandbox: SandboxEnvironment, tests: Files, layout: Layout) -> None:
    """Remove what an agent may have planted at the verifier's places, then copy the tests in."""
    places = f"{shlex.quote(layout.tests)} {shlex.quote(layout.logs + '/verifier')}"
    script = f"rm -rf {places} && mkdir -p {places}"
    result = await sandbox.exec(["sh", "-c", script], user=layout.user, timeout=60, timeout_retry=False)
    if not result.success:
        raise InfrastructureError("infra:transfer", f"cannot clear the verifier's places: {_tail(result)}")
    await put_tree(sandbox, tests, layout.tests, user=layout.user)
    await _prove(sandbox, tests, layout, "after they were copied in")


async def _prove(sandbox: SandboxEnvironment, tests: Files, layout: Layout, when: str) -> None:
    """Raise unless every test file is byte for byte what the task holds; further files may lie there."""
    found = await tree_digest(sandbox, layout.tests)
    for path, (data, _) in tests.items():
        if found.get(path, (False, ""))[1] != hashlib.sha256(data).hexdigest():
            raise TrialError("tamper", f"{layout.tests}/{path} was changed or removed {when}")


async def _silence(sandbox: SandboxEnvironment) -> None:
    """Kill what the tests left running; in `local` there is nothing that may be killed."""
    if docker_of(sandbox) is not None:
        await sandbox.exec(["sh", "-c", "kill -KILL -1"], user="0", timeout=60, timeout_retry=False)


async def _run(sandbox: SandboxEnvironment, task: BenchmarkTask, layout: Layout) -> ExecResult[str]:
    seconds = max(1, round(task.limits.verifier_seconds))
    env = {
        **_UNBUFFERED,
        **verifiers_home(sandbox),
        **layout.env,
        **resolve_env(task.verifier_env, f"{task.id}: [verifier.env]"),
    }
    command = ["bash", "-c", shlex.quote(f"{layout.tests}/test.sh")]
    try:
        return await sandbox.exec(command, env=env, user=layout.user, timeout=seconds, timeout_retry=False)
    except TimeoutError:
        raise VerifierError("verifier_timeout", f"test.sh did not end within {seconds} s") from None


async def _read(sandbox: SandboxEnvironment, layout: Layout, path: str, limit: int) -> bytes | None:
    """A small regular file of the sandbox, or ``None``. One byte over `limit` is read, to be refused."""
    quoted = shlex.quote(path)
    script = f"if [ -f {quoted} ] && [ ! -L {quoted} ]; then head -c {limit + 1} {quoted}; else exit 44; fi"
    result = await sandbox.exec(["sh", "-c", script], user=layout.user, timeout=60, timeout_retry=False)
    return result.stdout.encode("utf-8", "replace") if result.success else None


def read_folder(folder: Path, executable: tuple[str, ...] = ()) -> dict[str, tuple[bytes, bool]]:
    """All regular files below a folder: relative POSIX path -> (bytes, executable). Links are not followed.

    Args:
        executable: relative paths that are made executable whatever their mode here.
    """
    files: dict[str, tuple[bytes, bool]] = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink():
            name = path.relative_to(folder).as_posix()
            files[name] = (path.read_bytes(), name in executable or bool(path.stat().st_mode & 0o111))
    return files


def resolve_env(env: Mapping[str, str], where: str, host: Mapping[str, str] | None = None) -> dict[str, str]:
    """``${NAME}`` and ``${NAME:-default}`` replaced from the host's environment, as Harbor does.

    Raises:
        TrialError: ``task:environment``, a variable without default is not set on the host.
    """
    values = os.environ if host is None else host

    def replace(match: re.Match[str]) -> str:
        name, default = match[1], match[2]
        if values.get(name):
            return values[name]
        if default is None:
            raise TrialError("task:environment", f"{where}: ${{{name}}} is not set; export {name}=...")
        return default

    return {key: _VARIABLE.sub(replace, value) for key, value in env.items()}


def host_variables(env: Mapping[str, str], host: Mapping[str, str] | None = None) -> list[str]:
    """Names of the host's variables that `resolve_env` would put into a sandbox, sorted."""
    values = os.environ if host is None else host
    return sorted({m[1] for value in env.values() for m in _VARIABLE.finditer(value) if values.get(m[1])})


def _tail(result: ExecResult[str], limit: int = 400) -> str:
    text = f"{result.stdout}\n{result.stderr}".strip()
    return text[-limit:] if text else f"(nothing; exit code {result.returncode})"
