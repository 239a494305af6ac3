"""`workbench build SUITE`: build the images of a suite before anything is run."""

from __future__ import annotations

from pathlib import Path

import click

from workbench.cli._numbers import Whole


@click.command("build")
@click.argument("suite")
@click.option("--tasks", metavar="PATTERN[,...]", help="Only these tasks.")
@click.option("--data", type=click.Path(path_type=Path), help="Local copy of the suite's tasks.")
@click.option("--parallel", type=Whole(1, 64), help="Builds at a time (default: cores, at most 4).")
def command(suite: str, tasks: str | None, data: Path | None, parallel: int | None) -> int:
    """Build one image per task, with the skills left out, so that one image serves every condition.

    An image that is already there is not built again. Exit code 2 when an image could not be built.
    """
    from workbench.core.terminal import console, safe
    from workbench.core.workspace import find_workspace
    from workbench.evaluation.building import build_suite

    results = build_suite(
        suite, find_workspace(), data=data, tasks=tasks.split(",") if tasks else (), parallel=parallel
    )
    failed = {task: reason for task, reason in results.items() if reason is not None}
    for task, reason in failed.items():
        console().print(f"{task}: {safe(reason, 2000)}")
    console().print(f"{len(results) - len(failed)} of {len(results)} images are ready")
    return 2 if failed else 0
