"""`workbench route --list` and `--explain`: which routers there are, and what one of them does."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from workbench.core.terminal import console, safe

if TYPE_CHECKING:
    from workbench.core.workspace import Workspace
    from workbench.routing.explain import Described, Passage, StageLine

_NEEDS = {"extra": "pip install", "weights": "not published", "download": "downloaded"}
"""A word for the table, and what marks it in the full line."""

_LEGEND = """
needs  extra     pip install 'skill-workbench[dense]'
       download  weights, fetched when first used
       weights   that are not published: bring your own
       LLM       a language model, asked through LiteLLM; --llm names another
workbench route --explain NAME: a router's stages, and what each keeps and takes"""


def print_routers(as_json: bool) -> None:
    """Every router of the workspace: name, description, and what it lacks on this machine."""
    from rich.table import Table

    from workbench.core.workspace import find_workspace
    from workbench.routing.explain import described
    from workbench.routing.load import router_names

    workspace = find_workspace()
    found = [described(name, workspace) for name in router_names(workspace)]
    if as_json:
        rows = [
            {"router": d.recipe.name, "description": d.recipe.description, "lacks": d.lacks, "asks": d.asks}
            for d in found
        ]
        click.echo(json.dumps(rows, indent=2))
        return
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("router", no_wrap=True)
    table.add_column("needs", no_wrap=True)
    table.add_column("what it does", ratio=1)
    for each in found:
        table.add_row(safe(each.recipe.name), _needs(each), safe(each.recipe.description))
    console().print(table)
    click.echo(_LEGEND)


def _needs(found: Described) -> str:
    """In a word or two: what is missing here, and whether it asks a language model."""
    needs = [word for word, mark in _NEEDS.items() if any(mark in lack for lack in found.lacks)]
    return ", ".join([*needs, *(["LLM"] if found.asks else [])]) or "-"


def print_explained(name: str, **options: Any) -> None:
    """One router's stages and options; with pool and queries also what each stage kept and took."""
    from workbench.core.workspace import find_workspace
    from workbench.routing.explain import described

    workspace = find_workspace()
    found = described(name, workspace)
    out = console()
    out.print(f"{safe(found.recipe.name)}: {safe(found.recipe.description)}", markup=False, style="bold")
    if found.recipe.source:
        out.print(safe(" ".join(found.recipe.source.split())), markup=False)
    out.print()
    for line in found.stages:
        _print_stage(line)
    for lack in found.lacks:
        out.print(safe(f"lacks here: {lack}"), markup=False)
    for model in found.asks:
        out.print(safe(f"asks {model}, or what --llm names; answers are kept"), markup=False)
    if options["queries"] is not None or options["suite"] is not None:
        _print_passages(name, workspace, options)


def _print_stage(line: StageLine) -> None:
    place = "  " * line.depth + line.place
    options = ", ".join(f"{key}: {value}" for key, value in line.options.items())
    console().print(safe(f"{place} {line.method}{f' ({options})' if options else ''}"), markup=False)


def _print_passages(name: str, workspace: Workspace, options: dict[str, Any]) -> None:
    """Route the queries stage by stage, and print what came out of each."""
    from workbench.cli._route_request import Request
    from workbench.models.completion import Completer
    from workbench.routing.explain import passages
    from workbench.routing.load import load_router
    from workbench.skills.progress import shown_progress

    request = Request.of(workspace, **{**options, "routers": (name,)})
    complete = Completer(workspace.cache, request.llm, request.llm_base_url)
    with shown_progress() as progress, request.open_pool(workspace, progress) as pool:
        queries, tasks = request.tasks(pool, workspace)
        router = load_router(name, pool, workspace, seed=request.seed, progress=progress, complete=complete)
        found = passages(router, queries, tasks, pool, request.k)
    _print_table(found)
    for note in (*router.notes(), complete.spending.line()):
        if note:
            click.echo(safe(note))


def _print_table(found: list[Passage]) -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(1, 2, 0, 0))
    table.add_column("after", no_wrap=True)
    for column in ("candidates", "gold kept", "Hit@1", "ms a query"):
        table.add_column(column, justify="right", no_wrap=True)
    for each in found:
        numbers = (f"{each.candidates:.1f}", f"{100 * each.gold_kept:.1f} %", f"{100 * each.hit:.1f} %")
        shown = numbers if each.ranked else ("-", "-", "-")
        table.add_row(safe(each.method), *shown, f"{each.milliseconds:.1f}")
    console().print(table)
