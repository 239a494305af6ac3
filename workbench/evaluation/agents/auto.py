"""The default agent: the tool-using agent on a model, the reference solution without one."""

from __future__ import annotations

from inspect_ai.model import get_model
from inspect_ai.solver import Generate, Solver, TaskState, solver

from workbench.evaluation.agents.oracle import oracle
from workbench.evaluation.agents.skill_agent import skill_agent
from workbench.evaluation.names import qualified


@solver(name=qualified("auto"))
def auto() -> Solver:
    """``skill_agent`` on the evaluation's model; ``oracle`` for ``--model none``."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        chosen = oracle() if str(get_model()) in {"none", "none/none"} else skill_agent()
        return await chosen(state, generate)

    return solve
