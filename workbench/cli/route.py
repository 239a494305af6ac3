"""`workbench route`: how good and how fast is a router, without any agent?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from workbench.cli._numbers import Whole
from workbench.core.errors import UsageError

SCHEMA_VERSION = 1
_FILE = click.Path(path_type=Path, dir_okay=False)
_FOLDER = click.Path(path_type=Path, file_okay=False, exists=True)


@click.command()
@click.option("--list", "listed", is_flag=True, help="List the routers, and whether their weights are here.")
@click.option("--explain", metavar="NAME", help="A router's stages; with queries, what each kept and took.")
@click.option("--router", "routers", metavar="NAME[,NAME...]", help="Recipes in routers/.")
@click.option("--predictions", type=_FILE, help="Score this file (JSON or TREC run) instead of routing.")
@click.option("--suite", metavar="NAME", help="Route a suite's tasks; in place of --queries and --qrels.")
@click.option(
    "--data", type=_FOLDER, metavar="DIR", help="Folder of the suite's tasks (default: as fetched)."
)
@click.option("--pool", metavar="NAME|PATH", help="Skills to choose from.")
@click.option("--queries", type=_FILE, help="JSON Lines with task_id and instruction_text.")
@click.option("--qrels", type=_FILE, help="SkillRouter's relevance.json, or TREC qrels.")
@click.option("--k", default=50, show_default=True, type=Whole(1), help="Length of rankings.")
@click.option("--by", metavar="FIELD", help="Also score by this field of the queries, and macro-averaged.")
@click.option("--scorer-compat", is_flag=True, help="Also score as SkillRouter's own scorer does.")
@click.option(
    "--speed", is_flag=True, help="Build, open and ask a router in a cache of its own, and time it."
)
@click.option(
    "--diagnose", is_flag=True, help="Where a router's encoder loses skills, and what each module gains."
)
@click.option(
    "--seed", type=Whole(0), default=0, show_default=True, help="Of drawn routers and of the intervals."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--save-run", type=_FILE, help="Write the rankings as a TREC run.")
@click.option("--save-predictions", type=_FILE, help="Write the rankings as SkillRouter predictions.")
@click.option(
    "--llm", metavar="PROVIDER/MODEL", envvar="SKILL_WORKBENCH_LLM", help="In place of recipes' own."
)
@click.option("--llm-base-url", metavar="URL", envvar="SKILL_WORKBENCH_LLM_BASE_URL", help="Its endpoint.")
def command(listed: bool, explain: str | None, speed: bool, diagnose: bool, **options: Any) -> None:
    """Score routers on queries with known relevance: quality, and time per query.

    Queries, relevance and pools are read as the SkillRouter benchmark ships them (a pool may be a
    folder of .jsonl.gz shards). Tasks set the denominators: a task without a ranking counts 0.
    Several routers are compared with the first, query by query; put {router} into the names of the
    files to save.
    """
    modes = {"--list": listed, "--explain": explain is not None, "--speed": speed, "--diagnose": diagnose}
    if sum(modes.values()) > 1:
        raise UsageError(f"give only one of {', '.join(modes)}")
    if listed:
        from workbench.cli._route_list import print_routers

        print_routers(options["as_json"])
    elif explain is not None:
        from workbench.cli._route_list import print_explained

        print_explained(explain, **options)
    elif speed or diagnose:
        from workbench.cli._route_study import print_study

        print_study("speed" if speed else "diagnosis", **options)
    else:
        _score(**options)


def _score(**options: Any) -> None:
    from workbench.cli._route_request import Request
    from workbench.cli._route_result import Result, compared, report_json
    from workbench.core.workspace import find_workspace
    from workbench.skills.progress import shown_progress

    workspace = find_workspace()
    request = Request.of(workspace, **options)
    request.check_recipes(workspace)
    with shown_progress() as progress, request.open_pool(workspace, progress) as pool:
        queries, tasks = request.tasks(pool, workspace)
        request.require_gold(tasks, pool)
        results = [
            Result.of(about, routed, tasks, pool, request)
            for about, routed in request.rankings(pool, queries, workspace, progress)
        ]
        about = {"pool": pool.name, "pool_fingerprint": pool.fingerprint, "pool_size": len(pool)}
    if request.as_json:
        report = {"schema_version": SCHEMA_VERSION, **about, **report_json(results, request)}
        click.echo(json.dumps(report, indent=2))
        return
    from workbench.cli._route_print import print_comparison, print_result

    for result in results:
        print_result(result, pool, request)
    for comparison in compared(results, request.seed):
        print_comparison(comparison)
