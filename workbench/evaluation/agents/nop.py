"""The agent that does nothing: whatever it scores, a task gives away for free."""

from __future__ import annotations

from inspect_ai.solver import Generate, Solver, TaskState, solver

from workbench.evaluation.agents.session import session
from workbench.evaluation.names import qualified


@solver(name=qualified("nop"))
def nop() -> Solver:
    """Do nothing; needs no model."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        del generate
        async with session("nop", state, blind=True):
            state.completed = True
        return state

    return solve
