"""Every limit that a trial meets has a name of its own, and the record says who set it."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest
from inspect_ai.event import SampleLimitEvent
from inspect_ai.log import Transcript, transcript
from inspect_ai.log._transcript import init_transcript
from inspect_ai.util import ExecResult

from tests.suites import write_suite
from workbench.benchmarks.formats.harbor import read_task
from workbench.core.errors import POLICY, InfrastructureError, TrialError, VerifierError
from workbench.evaluation.agents.tools import MAX_OUTPUT, _shown
from workbench.evaluation.bounds import bounds_of
from workbench.evaluation.faults import cut_off, raise_earlier_fault
from workbench.evaluation.layout import container_layout
from workbench.evaluation.score import _incidents
from workbench.evaluation.state import TrialState
from workbench.evaluation.verify import _run
from workbench.sandboxing.config import DockerConfig
from workbench.sandboxing.container import Container, ContainerLostError
from workbench.sandboxing.counters import Counts
from workbench.sandboxing.engine import Engine
from workbench.sandboxing.fleet import Started
from workbench.sandboxing.limits import effective
from workbench.sandboxing.losses import Losses, SandboxSpentError
from workbench.sandboxing.providers.docker import DockerSandbox

INFO = {"NCPU": 2, "MemTotal": 4 << 30}


def box_of(config: DockerConfig, counts: Counts | None = None, **info: object) -> DockerSandbox:
    """A sandbox whose container was never asked for."""
    container = Container(Engine("unix:///nonexistent"), "c1")
    limits = effective(config, {**INFO, **info})
    box = DockerSandbox(Started(container, {"Config": {}}, limits, None), config)
    box._counted = counts or Counts()
    return box


class Endless(DockerSandbox):
    """Its commands run out of time."""

    async def exec(self, *args: object, **options: object) -> ExecResult[str]:
        raise TimeoutError


async def test_F51_each_limit_that_is_met_has_its_own_name(tmp_path: Path) -> None:
    box = box_of(DockerConfig(image="a"), Counts(memory=2, pids=1))
    box.container.disk_breaches = 1
    assert box.incidents == ["out_of_memory", "pids_limit", "disk_limit"]
    init_transcript(Transcript())
    for kind in ("message", "token", "cost", "working", "time"):
        transcript()._event(SampleLimitEvent(type=kind, message=f"{kind} is over", limit=1))  # type: ignore[arg-type]
    transcript()._event(SampleLimitEvent(type="operator", message=str(SandboxSpentError("gone")), limit=1))
    found = _incidents(TrialState(incidents=["agent_timeout"]))
    assert found == ("agent_timeout", "limit:message", "limit:token", "limit:cost", "limit:working")
    spent = ContainerLostError("x", {"OOMKilled": True}, ("out_of_memory",))
    with pytest.raises(SandboxSpentError) as over, Losses():
        raise spent
    task = read_task("own", write_suite(tmp_path))
    late = Endless(box.started, box.config)
    with pytest.raises(VerifierError) as judged:
        await _run(late, task, container_layout(()))
    causes = {over.value.cause, judged.value.cause}
    assert causes == {"agent_resource", "verifier_timeout"} <= set(POLICY)
    assert not causes & {*found, *box.incidents}


def test_F51_the_record_says_what_each_limit_was_and_who_set_it(tmp_path: Path) -> None:
    folder = write_suite(tmp_path)
    (folder / "task.toml").write_text(
        'version = "1.0"\n[agent]\ntimeout_sec = 600\n[environment]\ncpus = 8\nmemory = "512M"\n'
    )
    task = read_task("own", folder)
    box = box_of(DockerConfig(image="a", cpus=8, memory_mb=512))
    found = {bound.name: (bound.value, bound.origin) for bound in bounds_of(task, box)}
    assert found == {
        "agent_seconds": (600, "task"),
        "verifier_seconds": (600, "default"),
        "build_seconds": (600, "default"),
        "cpus": (2, "machine"),
        "memory_mb": (512, "task"),
        "pids": (512, "default"),
        "storage_mb": (10240, "default"),
        "shm_mb": (64, "default"),
    }
    times = {"agent_seconds", "verifier_seconds", "build_seconds"}
    assert {bound.name for bound in bounds_of(task, None)} == times
    free = box_of(DockerConfig(image="a"), MemoryLimit=False, PidsLimit=False, CpuCfsQuota=False)
    assert {bound.name for bound in bounds_of(task, free)} == {*times, "storage_mb", "shm_mb"}


def test_F29_the_model_is_told_how_much_was_cut_in_all() -> None:
    cut = "a" * MAX_OUTPUT + "\n[... 999000 bytes of output left out ...]\n" + "b" * MAX_OUTPUT
    shown = _shown(ExecResult(True, 0, cut, ""))
    assert f"[... {len(cut) - MAX_OUTPUT} characters and 999000 bytes left out ...]" in shown
    assert "[... 1 characters left out ...]" in _shown(ExecResult(True, 0, "a" * (MAX_OUTPUT + 1), ""))


def met(kind: str, message: str = "over") -> None:
    """A transcript in which this limit was met."""
    init_transcript(Transcript())
    transcript()._event(SampleLimitEvent(type=kind, message=message, limit=30))  # type: ignore[arg-type]


def test_a_limit_met_in_set_up_is_the_machines_and_one_met_by_the_agent_ends_nothing() -> None:
    """It was booked as a fault of the harness, without the limit's name."""
    met("time")
    with pytest.raises(InfrastructureError, match=r"^\[infra:start\] the time limit of 30 was met in set-up"):
        raise_earlier_fault(TrialState())
    raise_earlier_fault(TrialState(setup_ended=1.0))
    met("operator", "stopped by hand")
    with pytest.raises(TrialError, match=r"^\[cancelled\] .*stopped by hand"):
        raise_earlier_fault(TrialState())


async def test_a_verifier_that_inspect_cuts_off_has_timed_out_and_an_interrupt_stays_one() -> None:
    with anyio.CancelScope(deadline=anyio.current_time() + 0.01) as limit:
        said = r"^\[verifier_timeout\] did not end within 0\.0 s, half of"
        with pytest.raises(TrialError, match=said), cut_off("verifier_timeout"):
            await anyio.sleep_forever()
    assert not limit.cancelled_caught
    with anyio.CancelScope(deadline=anyio.current_time() + 60) as interrupted:
        interrupted.cancel()
        with cut_off("verifier_timeout"):
            await anyio.sleep_forever()
    assert interrupted.cancelled_caught
