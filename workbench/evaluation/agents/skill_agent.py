"""The default agent: a plain tool loop with a shell, Python, and the condition's skills.

It is Inspect's ``react`` loop with our prompt (skill_agent.md) and no other, the catalogue of the
chosen disclosure, and the task's own time limit, of which the agent is told. A question is answered
with what is shown and the tools that come with it, and without tools in a single reply.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import cast

from inspect_ai.agent import AgentPrompt, AgentState, react
from inspect_ai.model import ChatMessageUser, get_model
from inspect_ai.model._model import ModelGenerateError
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.tool import Tool, ToolDef
from tenacity import RetryError

from workbench.core.errors import TrialError
from workbench.core.plugins import load_plugin
from workbench.disclosure.presentation import Choice, Disclosure, Presentation
from workbench.evaluation.agents.session import Session, session
from workbench.evaluation.agents.tools import DEFAULT_SECONDS, bash, python
from workbench.evaluation.names import qualified

_CHOICES = 3


@solver(name=qualified("skill_agent"))
def skill_agent(tool_seconds: int = DEFAULT_SECONDS) -> Solver:
    """A tool-using agent that is shown the condition's skills.

    Args:
        tool_seconds: time for one command.
    """

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        del generate
        if str(get_model()) == "none/none":
            raise TrialError("config:model", "skill_agent needs a model: give --model NAME")
        await _prepare_model()
        conversation = AgentState(messages=state.messages)
        try:
            async with session("skill_agent", state, limited=True) as trial:
                with _model_failures():
                    shown = await _shown(trial)
                    tools = [*_own_tools(trial, tool_seconds), *shown.tools]
                    agent = react(prompt=_prompt(trial, shown), tools=tools, submit=False)
                    await agent(conversation)
        finally:
            state.messages, state.output = conversation.messages, conversation.output
        return state

    return solve


def _own_tools(trial: Session, seconds: int) -> list[Tool | ToolDef]:
    """A shell and Python where the task is worked on in a sandbox; for a question, what comes with it."""
    if trial.task.question is None:
        return [bash(seconds), python(seconds)]
    return list(trial.trial.kit)


async def _prepare_model() -> None:
    """Let a model API that has something to prepare do so before the agent's time starts."""
    prepare = getattr(get_model().api, "prepare", None)
    if prepare is not None:
        await prepare()


@contextmanager
def _model_failures() -> Iterator[None]:
    """Failures of Inspect's own providers, with the causes that our model API gives itself."""
    try:
        yield
    except RetryError as error:
        last = error.last_attempt.exception()
        raise TrialError(
            "api", f"given up after {error.last_attempt.attempt_number} attempts: {last}"
        ) from error
    except ModelGenerateError as error:
        detail = error.provider_message or str(error)
        refused = isinstance(error.__cause__, Exception) and get_model().api.is_auth_failure(error.__cause__)
        if refused or error.status_code in (401, 403):
            raise TrialError("config:auth", detail) from error
        raise TrialError("config:model" if error.status_code == 404 else "api", detail) from error


async def _shown(trial: Session) -> Presentation:
    """Show the skills in the chosen way, let the model choose where that is the way, and record it."""
    showing = trial.trial.showing
    way = cast("Disclosure", load_plugin("workbench.disclosure", showing.way, "disclosure"))
    shown = way.present(trial.trial.skills, showing, trial.observe)
    offered = shown.digest
    if shown.choice is not None:
        shown = await _chosen(trial, shown.choice)
    record = trial.record
    if record.exposure is not None:
        record.exposure = record.exposure.model_copy(
            update={"shown": shown.shown, "not_shown": shown.not_shown, "catalogue_digest": offered}
        )
    return shown


async def _chosen(trial: Session, choice: Choice) -> Presentation:
    """Ask the model what it wants to be shown; three replies that name nothing are an incident."""
    question = ChatMessageUser(content=f"{trial.task.instruction}\n\n{choice.prompt}")
    for _ in range(_CHOICES):
        output = await get_model().generate([question])
        picked = choice.pick(output.completion)
        if picked is not None:
            return picked
    trial.incident("no_choice")
    return choice.fallback()


def _prompt(trial: Session, shown: Presentation) -> AgentPrompt | None:
    """What the agent is told before the task; nothing where there is nothing to say."""
    if trial.task.question is not None:
        parts = [trial.task.question.form, shown.text]
    else:
        minutes = max(1, round(trial.task.limits.agent_seconds / 60))
        parts = [_template(), f"You have {minutes} minute{'s' if minutes > 1 else ''}.", shown.text]
    text = "\n\n".join(part for part in parts if part)
    if not text:
        return None
    return AgentPrompt(instructions=text, handoff_prompt=None, assistant_prompt=None, submit_prompt=None)


@cache
def _template() -> str:
    return Path(__file__).with_suffix(".md").read_text(encoding="utf-8").strip()
