"""What Inspect discovers: tasks, the LiteLLM model API, the Docker sandbox, agents, the summary.

Loaded on every ``inspect`` command, so nothing heavy is imported here.
"""

from __future__ import annotations

from typing import Any

from inspect_ai.model import modelapi
from inspect_ai.util import sandboxenv

from workbench.evaluation.agents.auto import auto
from workbench.evaluation.agents.nop import nop
from workbench.evaluation.agents.oracle import oracle
from workbench.evaluation.agents.skill_agent import skill_agent
from workbench.evaluation.tasks import register_suites
from workbench.reporting.after_run import PrintSummary

AGENTS = (auto, nop, oracle, skill_agent)
HOOKS = (PrintSummary,)
TASKS = register_suites()


@modelapi(name="litellm")
def litellm() -> Any:
    """``litellm/<provider>/<model>``: any model LiteLLM knows, in process."""
    from workbench.models.litellm_api import LiteLLMAPI

    return LiteLLMAPI


@sandboxenv(name="docker-sdk")
def docker_sdk() -> Any:
    """Docker through the engine's API; no CLI and no compose plugin needed."""
    from workbench.sandboxing.providers.docker import DockerSandbox

    return DockerSandbox
