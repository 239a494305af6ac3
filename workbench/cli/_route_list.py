"""`workbench route --list` and `--explain`: which routers there are, and what one of them does."""

from __future__ import annotations

import json
import math
import re
import textwrap
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import click

from workbench.core.terminal import console, filled, safe

if TYPE_CHECKING:
    from workbench.core.workspace import Workspace
    from workbench.routing.explain import Described, Passage, StageLine

SCHEMA_VERSION = 1
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
    routes = any(options[option] for option in ("suite", "data", "pool", "queries", "qrels"))
    traced = _trace(name, workspace, options) if routes else None
    if options["as_json"]:
        click.echo(json.dumps(_explained_json(found, traced), indent=2))
        return
    _print_description(found)
    if traced is not None:
        _print_table(traced.passages)
        for note in traced.notes:
            click.echo(safe(note))


@dataclass(frozen=True)
class _Traced:
    """What came out of each stage, and what must be known to read it."""

    passages: list[Passage]
    notes: list[str]


def _explained_json(found: Described, traced: _Traced | None) -> dict[str, Any]:
    """The machine-readable description; what is undefined is null."""
    report = {
        "schema_version": SCHEMA_VERSION,
        "router": found.recipe.name,
        "description": found.recipe.description,
        "source": found.recipe.source,
        "stages": [
            {"place": line.place, "method": line.method, "options": line.options} for line in found.stages
        ],
        "lacks": found.lacks,
        "asks": found.asks,
    }
    if traced is None:
        return report
    return {**report, "passages": [_passage_json(each) for each in traced.passages], "notes": traced.notes}


def _passage_json(passage: Passage) -> dict[str, Any]:
    plain = {
        name: None if isinstance(value, float) and math.isnan(value) else value
        for name, value in asdict(passage).items()
    }
    return plain if passage.ranked else {**plain, "candidates": None, "gold_kept": None, "hit": None}


def _print_description(found: Described) -> None:
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


def _print_stage(line: StageLine) -> None:
    """The stage, and its options with every line of them under its name."""
    out = console()
    options = ", ".join(f"{key}: {_plain(value)}" for key, value in line.options.items())
    indent = "  " * line.depth
    shown = filled(
        safe(f"{line.place} {line.method}{f' ({options})' if options else ''}"), out.width - len(indent)
    )
    out.print(textwrap.indent(shown, indent), markup=False, soft_wrap=True)


def _plain(value: object) -> str:
    """A value as YAML's flow style has it; text in quotes where its blanks or marks matter."""
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key}: {_plain(inner)}' for key, inner in value.items())}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_plain, value))}]"
    if value is None:
        return "null"
    if isinstance(value, str) and re.fullmatch(r"[\w./:+-]+", value):
        return value
    return json.dumps(value, ensure_ascii=False)


def _trace(name: str, workspace: Workspace, options: dict[str, Any]) -> _Traced:
    """Route the queries stage by stage."""
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
    return _Traced(found, [note for note in (*router.notes(), complete.spending.line()) if note])


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
