"""The default agent: a plain tool loop with a shell, Python, and the condition's skills.

It is Inspect's ``react`` loop with our prompt (skill_agent.md), the catalogue of the chosen
disclosure, and the task's own time limit, of which the agent is told.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from inspect_ai.agent import AgentState, react
from inspect_ai.model import get_model
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import sandbox, store_as

from workbench.core.errors import InfrastructureError, TrialError
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
        async with session("skill_agent", state, limited=True) as trial:
            shown = await _present(trial, budget)
            agent = react(
                prompt=_prompt(trial, shown),
                tools=[bash(tool_seconds), python(tool_seconds), *shown.tools],
                submit=False,
            )
            result = await agent(AgentState(messages=state.messages))
            state.messages, state.output = result.messages, result.output
        return state

    return solve


async def _prepare_model() -> None:
    """Let a model API that has something to prepare do so before the agent's time starts."""
    prepare = getattr(get_model().api, "prepare", None)
    if prepare is not None:
        await prepare()


async def _present(trial: Session, budget: int) -> Presentation:
    """Read the installed skills back from the sandbox and show them in the chosen way."""
    way = load_plugin("workbench.disclosure", trial.disclosure, "disclosure")
    skills = await _installed(trial)
    shown: Presentation = way.present(skills, budget, trial.observe)
    state = store_as(TrialState)
    if state.exposure is not None:
        state.exposure = state.exposure.model_copy(
            update={"shown": shown.shown, "not_shown": shown.not_shown, "catalogue_digest": shown.digest}
        )
    return shown


async def _installed(trial: Session) -> list[ShownSkill]:
    names: dict[str, int] = {}
    skills: list[ShownSkill] = []
    for installed in trial.installed:
        place = f"{trial.layout.skills[0]}/{installed.folder}"
        text = await _skill_md(place)
        read = read_skill(text.encode("utf-8"), installed.folder)
        name = read.name or installed.folder
        names[name] = names.get(name, 0) + 1
        unique = name if names[name] == 1 else f"{name}-{names[name]}"
        skills.append(ShownSkill(installed.id, unique, read.description, place, text))
    return skills


async def _skill_md(place: str) -> str:
    for name in ("SKILL.md", "skill.md", "Skill.md"):
        try:
            return await sandbox().read_file(f"{place}/{name}")
        except FileNotFoundError:
            continue
    raise InfrastructureError("infra:transfer", f"{place}/SKILL.md has gone from the sandbox")


def _prompt(trial: Session, shown: Presentation) -> str:
    parts = [_template()]
    if trial.task.limits.agent_seconds is not None:
        parts.append(f"You have {round(trial.task.limits.agent_seconds / 60, 1):g} minutes.")
    if shown.text:
        parts.append(shown.text)
    return "\n\n".join(parts)


@cache
def _template() -> str:
    return Path(__file__).with_suffix(".md").read_text(encoding="utf-8").strip()
