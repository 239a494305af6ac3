"""The reference solution as agent: ``solution/solve.sh`` with only the condition's skills installed.

As Harbor's oracle, it proves that a task can be solved; and with skills withheld, that the task
needs them. A question is given its known answer where every gold skill is at hand, and none where
one is not, so that its score is the routing's alone. It needs no model.
"""

from __future__ import annotations

import shlex

from inspect_ai.model import ModelOutput
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import sandbox

from workbench.benchmarks.task import Question
from workbench.core.record import Load
from workbench.evaluation.agents.session import Session, session
from workbench.evaluation.loads import Call, detect
from workbench.evaluation.names import qualified
from workbench.evaluation.verify import read_folder, resolve_env
from workbench.sandboxing.transfer import put_tree


@solver(name=qualified("oracle"))
def oracle() -> Solver:
    """Replay the task's reference solution."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        del generate
        async with session("oracle", state, blind=True) as trial:
            if trial.task.question is None:
                await _run(trial)
            else:
                state.output = ModelOutput.from_content("oracle", _answer(trial, trial.task.question))
        state.completed = True
        return state

    return solve


def _answer(trial: Session, question: Question) -> str:
    at_hand = {skill.id for skill in trial.trial.skills}
    if question.solution is None:
        trial.incident("no_reference_solution")
    if question.solution is None or not at_hand.issuperset(question.gold):
        return ""
    for skill_id in question.gold:
        trial.observe(Load(id=skill_id, tier="body", via="oracle"))
    return question.solution


async def _run(trial: Session) -> None:
    task, layout = trial.task, trial.layout
    if task.solution is None:
        trial.incident("no_reference_solution")
        return
    files = read_folder(task.solution.parent, executable=("solve.sh",))
    await put_tree(sandbox(), files, layout.solution, user=layout.user)
    env = {**layout.env, **resolve_env(task.solution_env, f"{task.id}: [solution.env]")}
    command = ["bash", "-c", shlex.quote(f"{layout.solution}/solve.sh")]
    for load in _skills_named(trial, files["solve.sh"][0]):
        trial.observe(load)
    result = await trial.execute(command, env=env)
    if result is not None and not result.success:
        trial.incident("solution_failed")
        trial.note(f"solve.sh exited with {result.returncode}: {(result.stderr or result.stdout)[-400:]}")


def _skills_named(trial: Session, script: bytes) -> list[Load]:
    """Installed skills whose paths the script spells out."""
    call = Call(turn=1, tool="bash", arguments={"script": script.decode("utf-8", "replace")})
    return [
        load.model_copy(update={"via": "oracle"})
        for load in detect([call], trial.installed, trial.layout.skills)
    ]
