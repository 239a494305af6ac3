"""`workbench check SUITE`: is a suite fit to measure with?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from workbench.cli._numbers import Whole

if TYPE_CHECKING:
    from rich.table import Table

    from workbench.benchmarks.suite import Suite
    from workbench.core.workspace import Workspace
    from workbench.evaluation.checks import TaskCheck


@click.command("check")
@click.argument("suite", default="quickstart")
@click.option(
    "--oracle",
    is_flag=True,
    help="Run the reference solutions: with gold skills, without, and nothing at all.",
)
@click.option("--tasks", metavar="PATTERN[,...]", help="Only these tasks.")
@click.option("--data", type=click.Path(path_type=Path), help="Local copy of the suite's tasks.")
@click.option("--repeat", type=Whole(1, 100), default=1, show_default=True, help="Runs of each probe.")
def command(suite: str, oracle: bool, tasks: str | None, data: Path | None, repeat: int) -> int:
    """Check a suite's content; with --oracle also that its tasks can be solved, and only with skills.

    Exit code 2 when something does not hold.
    """
    from workbench.benchmarks.suite import load_suite
    from workbench.core.workspace import find_workspace

    workspace = find_workspace()
    loaded = load_suite(suite, workspace, data)
    chosen = loaded.select(tasks.split(",")) if tasks else loaded
    if oracle:
        given = {
            "tasks": None if tasks is None else tasks.split(","),
            "data": None if data is None else str(data),
        }
        return _oracle(chosen, {k: v for k, v in given.items() if v is not None}, workspace, repeat)
    return _content(chosen, workspace)


def _content(suite: Suite, workspace: Workspace) -> int:
    from rich.table import Table

    from workbench.benchmarks.suite import suite_data
    from workbench.core.terminal import console, safe
    from workbench.evaluation.gold import gold_of
    from workbench.skills.opening import open_pool

    pool = open_pool(
        suite.spec.pool,
        workspace,
        suite_data=lambda name: suite.data if name == suite.name else suite_data(name, workspace),
    )
    gold = gold_of(suite, pool)
    table = Table(
        title=f"{suite.name}: {len(suite.tasks)} tasks, pool {pool.name} with {len(pool)} skills", box=None
    )
    for title in ("task", "gold", "in pool", "remarks"):
        table.add_column(title, overflow="fold")
    wrong = 0
    for task in suite.tasks:
        known = gold[task.id]
        remarks = [*([f"not runnable: {task.unsupported}"] if task.unsupported else []), *task.notes]
        missing = len(known.ids) - len(known.in_pool)
        wrong += bool(missing) or bool(task.unsupported)
        table.add_row(task.id, str(len(known.ids)), str(len(known.in_pool)), safe("; ".join(remarks)))
    console().print(table)
    console().print(
        f"{len(suite.tasks) - wrong} of {len(suite.tasks)} tasks can be run and have all gold in the pool"
    )
    return 2 if wrong else 0


def _oracle(suite: Suite, given: dict[str, Any], workspace: Workspace, repeat: int) -> int:
    from workbench.core.terminal import console
    from workbench.evaluation.checks import failing, run_checks
    from workbench.evaluation.runs import run_folder

    folder = run_folder([f"check-{suite.name}"], workspace)
    display = "rich" if console().is_terminal else "plain"
    checks = run_checks(suite.name, workspace, given, folder, repeat=repeat, display=display)
    console().print(_table(checks, suite.spec.needs_skills))
    bad = failing(checks, suite.spec.needs_skills)
    console().print(f"{len(checks) - len(bad)} of {len(checks)} tasks hold; logs in {folder}")
    return 2 if bad else 0


def _table(checks: list[TaskCheck], needs_skills: bool) -> Table:
    from rich.table import Table

    from workbench.core.terminal import safe
    from workbench.evaluation.checks import PROBES

    table = Table(box=None)
    for title in ("task", "with gold", "nothing", "no skills", ""):
        table.add_column(title, overflow="fold")
    for check in checks:
        cells = [", ".join(f"{r:g}" for r in check.rewards.get(probe, [])) or "-" for probe in PROBES]
        table.add_row(check.task, *cells, safe("; ".join(check.problems(needs_skills)) or "ok", 400))
    return table
