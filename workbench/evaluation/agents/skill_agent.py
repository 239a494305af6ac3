"""The default agent: a plain tool loop with a shell, Python, and the condition's skills.

It is Inspect's ``react`` loop with our prompt (skill_agent.md) and no other, the catalogue of the
chosen disclosure, and the task's own time limit, of which the agent is told.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from inspect_ai.agent import AgentPrompt, AgentState, react
from inspect_ai.model import get_model
from inspect_ai.model._model import ModelGenerateError
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import store_as
from tenacity import RetryError

from workbench.core.errors import TrialError
from workbench.core.plugins import load_plugin
from workbench.disclosure.presentation import DEFAULT_BUDGET, Presentation, ShownSkill
from workbench.evaluation.agents.session import Session, session
from workbench.evaluation.agents.tools import bash, python
from workbench.evaluation.names import qualified
from workbench.evaluation.state import TrialState
from workbench.skills.reader import read_skill


@solver(name=qualified("skill_agent"))
def skill_agent(budget: int = DEFAULT_BUDGET, tool_seconds: int = 180) -> Solver:
    """A tool-using agent that is shown the condition's skills.

    Args:
        budget: characters of catalogue text.
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
                shown = _present(trial, budget)
                tools = [bash(tool_seconds), python(tool_seconds), *shown.tools]
                agent = react(prompt=_prompt(trial, shown), tools=tools, submit=False)
                with _model_failures():
                    await agent(conversation)
        finally:
            state.messages, state.output = conversation.messages, conversation.output
        return state

    return solve


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


def _present(trial: Session, budget: int) -> Presentation:
    """Show the installed skills in the chosen way, and record what was shown."""
    way = load_plugin("workbench.disclosure", trial.disclosure, "disclosure")
    shown: Presentation = way.present(_skills(trial), budget, trial.observe)
    state = store_as(TrialState)
    if state.exposure is not None:
        state.exposure = state.exposure.model_copy(
            update={"shown": shown.shown, "not_shown": shown.not_shown, "catalogue_digest": shown.digest}
        )
    return shown


def _skills(trial: Session) -> list[ShownSkill]:
    skills: list[ShownSkill] = []
    taken: set[str] = set()
    for installed in trial.installed:
        text = trial.skill_texts[installed.id]
        read = read_skill(text.encode("utf-8"), installed.folder)
        name = _unique(read.name or installed.folder, taken)
        place = f"{trial.layout.skills[0]}/{installed.folder}"
        skills.append(ShownSkill(installed.id, name, read.description, place, text))
    return skills


def _unique(name: str, taken: set[str]) -> str:
    """`name`, or the first of ``name-2``, ``name-3``, ... that no skill has; it is taken then."""
    chosen, number = name, 1
    while chosen in taken:
        number += 1
        chosen = f"{name}-{number}"
    taken.add(chosen)
    return chosen


def _prompt(trial: Session, shown: Presentation) -> AgentPrompt:
    minutes = max(1, round(trial.task.limits.agent_seconds / 60))
    time = f"You have {minutes} minute{'s' if minutes > 1 else ''}."
    text = "\n\n".join(part for part in (_template(), time, shown.text) if part)
    return AgentPrompt(instructions=text, handoff_prompt=None, assistant_prompt=None, submit_prompt=None)


@cache
def _template() -> str:
    return Path(__file__).with_suffix(".md").read_text(encoding="utf-8").strip()
