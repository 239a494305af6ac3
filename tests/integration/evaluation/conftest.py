"""Runs the real `inspect` command in a folder of its own, without or with an engine."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from inspect_ai.log import EvalLog, list_eval_logs, read_eval_log

from tests.suites import write_suite
from workbench.core.record import TrialRecord

BIN = Path(sys.executable).parent
NOWHERE = "unix:///nonexistent/docker.sock"


@dataclass
class Bench:
    """A folder in which commands are run."""

    folder: Path
    env: dict[str, str]

    def run(
        self, *command: str, exits: int | None = 0, timeout: float = 300
    ) -> subprocess.CompletedProcess[str]:
        """Run a command; any exit code but `exits` (None: any) fails the test with its output."""
        program = BIN / command[0]
        done = subprocess.run(
            [str(program), *command[1:]],
            cwd=self.folder,
            env=self.env,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )
        assert exits is None or done.returncode == exits, done.stdout + done.stderr
        return done

    def inspect(self, *arguments: str, exits: int | None = 0) -> subprocess.CompletedProcess[str]:
        """`inspect ARGUMENTS --display plain`."""
        return self.run("inspect", *arguments, "--display", "plain", exits=exits)

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        """`inspect ARGUMENTS` in the background."""
        return subprocess.Popen(
            [str(BIN / "inspect"), *arguments, "--display", "plain"],
            cwd=self.folder,
            env=self.env,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def logs(self) -> list[EvalLog]:
        """All logs below ``results/``, oldest first."""
        infos = list_eval_logs(str(self.folder / "results"), descending=False)
        return [read_eval_log(info) for info in infos]

    def records(self, log: EvalLog | None = None) -> dict[str, TrialRecord]:
        """Sample id (and epoch, from the second on) -> joint record of a log (default: the newest)."""
        chosen = log or self.logs()[-1]
        found: dict[str, TrialRecord] = {}
        for sample in chosen.samples or []:
            name = str(sample.id) + (f"#{sample.epoch}" if sample.epoch > 1 else "")
            score = (sample.scores or {})["workbench"]
            found[name] = TrialRecord.model_validate((score.metadata or {})["record"])
        return found


def bench_in(folder: Path, **env: str) -> Bench:
    """A bench with the test's own cache and no provider keys."""
    kept = {
        k: v for k, v in os.environ.items() if not k.endswith("_API_KEY") and not k.startswith("INSPECT_")
    }
    return Bench(folder, {**kept, "LITELLM_LOCAL_MODEL_COST_MAP": "True", "COLUMNS": "100", **env})


@pytest.fixture
def local(tmp_path: Path) -> Bench:
    """No engine: the bundled suite runs in Inspect's local sandbox."""
    return bench_in(tmp_path, DOCKER_HOST=NOWHERE)


@pytest.fixture
def docker(tmp_path: Path, docker_engine: None) -> Bench:
    """A real engine."""
    return bench_in(tmp_path)


@pytest.fixture
def suite_of() -> Callable[[Path, str], Path]:
    """Writes a one-task suite ``own`` into a workspace; returns its task folder."""
    return write_suite
