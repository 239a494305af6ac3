"""`workbench pool build | info | show | check`: skill pools from the command line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from workbench.cli._numbers import Whole

if TYPE_CHECKING:
    from rich.table import Table

    from workbench.skills.opening import PoolOpener
    from workbench.skills.pool import Pool
    from workbench.skills.schema import BuildCounts

_POOL = click.argument("pool", metavar="NAME|PATH")
_DATA = click.option(
    "--data",
    type=click.Path(path_type=Path),
    help="Folder of a suite's tasks, for pools that take skills from them (default: as fetched).",
)
_SHOWN_NAMES = 8
_SHOWN_FILES = 40
_MAX_SHOWN_BODY = 20_000


@click.group()
def command() -> None:
    """Build, inspect and check skill pools.

    A pool is a name in pools/, a folder of skills or of shards, or a .jsonl, .jsonl.gz, .parquet,
    .yaml or built .pool file.
    """


@command.command()
@_POOL
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="File to write (default: in the cache)."
)
@click.option(
    "--max-rejects",
    type=Whole(0),
    metavar="N",
    help="Rejects that are allowed (default: as the pool's file says, else 0).",
)
@_DATA
def build(pool: str, output: Path | None, max_rejects: int | None, data: Path | None) -> None:
    """Read all sources, write the pool, and account for everything that was found.

    Rejects are listed in a .rejects.jsonl file beside the pool. Exits with 2, and writes no pool,
    when there are more than allowed.
    """
    from workbench.core.terminal import console, safe
    from workbench.skills.build import rejects_file

    with _opener(data) as opener:
        recipe = opener.recipe(pool)
        out = output or opener.cached(recipe)
        defined = recipe.identity.suffix == ".yaml"
        budget = max_rejects if max_rejects is not None or defined else 0
        header = opener.build(recipe, out, budget=budget, report=_print_counts)
    console().print(f"{header.count:,} skills, fingerprint {header.fingerprint[:12]}")
    click.echo(safe(f"pool     {out}\nrejects  {rejects_file(out)}"))


@command.command()
@_POOL
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@_DATA
def info(pool: str, as_json: bool, data: Path | None) -> None:
    """What a pool holds: count, fingerprint, sources, sizes, repeated names, rejects."""
    import json

    from workbench.core.terminal import console, safe
    from workbench.skills.build import rejects_file

    with _opener(data) as opener, opener.open(pool) as opened:
        facts = _facts(opened)
    if as_json:
        click.echo(json.dumps(facts, indent=2))
        return
    hidden = ("counts", *(() if facts["links"] else ("links",)))
    rows = {key.replace("_", " "): _shown(value) for key, value in facts.items() if key not in hidden}
    counts = opened.header.counts
    rows["rejected"] = _sum(counts.rejected, counts.reasons)
    console().print(_table(rows))
    if counts.rejected:
        console().print(safe(f"{rejects_file(opened.path)} says which"), style="dim")


@command.command()
@_POOL
@click.argument("skill_id", metavar="ID")
@_DATA
def show(pool: str, skill_id: str, data: Path | None) -> None:
    """One skill: its texts, files and digest. Control characters are made visible."""
    from workbench.core.terminal import console, safe

    with _opener(data) as opener, opener.open(pool) as opened:
        skill = opened.get(skill_id)
        files = opened.tree(skill_id).files
        others = [other for other in opened.by_name(skill.name) if other != skill_id]
    listed = [f"{path}  {len(file.data):,} bytes" for path, file in sorted(files.items())]
    if len(listed) > _SHOWN_FILES:
        listed[_SHOWN_FILES:] = [f"... {len(listed) - _SHOWN_FILES:,} more"]
    rows = {
        "id": skill.id,
        "name": skill.name,
        "same name": ", ".join(others),
        "folder": skill.folder,
        "digest": skill.digest,
        "description": skill.description,
        "files": "\n".join(listed),
    }
    console().print(_table({key: value for key, value in rows.items() if value}))
    click.echo("\n" + safe(skill.body, _MAX_SHOWN_BODY))


@command.command()
@_POOL
@click.option("--strict-spec", is_flag=True, help="Also report what breaks the Agent Skills specification.")
@_DATA
def check(pool: str, strict_spec: bool, data: Path | None) -> None:
    """Read the whole pool back, compare every digest, and report what is unusual.

    Exits with 2 when --strict-spec is given and something breaks the specification. No skill is
    filtered by it.
    """
    from workbench.core.errors import GateError
    from workbench.core.terminal import console

    with _opener(data) as opener, opener.open(pool) as opened:
        opened.verify()
        console().print(
            f"{opened.name}: {len(opened):,} skills, all digests and the fingerprint match", markup=False
        )
        _print_counts(opened.header.counts)
        rules = _spec_breaches(opened) if strict_spec else {}
    if rules:
        console().print(_table(rules, "breach of the specification"))
        raise GateError(
            f"{pool}: breaks {len(rules)} rules of the specification; see agentskills.io/specification"
        )


@contextmanager
def _opener(data: Path | None) -> Iterator[PoolOpener]:
    """Opens the pools of the workspace around the current folder, with progress in a terminal."""
    from workbench.core.workspace import find_workspace
    from workbench.skills.opening import PoolOpener
    from workbench.skills.progress import shown_progress

    workspace = find_workspace()

    def tasks_of(suite: str) -> Path:
        from workbench.benchmarks.suite import suite_data

        return suite_data(suite, workspace, data)

    with shown_progress() as progress:
        yield PoolOpener(workspace, tasks_of, progress)


def _print_counts(counts: BuildCounts) -> None:
    """What was found and what became of it; the three parts add up to the whole."""
    from workbench.core.terminal import console

    rows = {"found": f"{counts.found:,}"}
    rows["accepted"] = f"{counts.accepted:,}"
    for label, total, kinds in (
        ("repaired", counts.repaired, counts.repairs),
        ("rejected", counts.rejected, counts.reasons),
    ):
        rows[label] = _sum(total, kinds)
    if counts.notes:
        rows["noted"] = _kinds(counts.notes)
    if counts.nested:
        rows["nested"] = f"{counts.nested:,} inside another skill's folder"
    if counts.links:
        rows["links"] = f"{counts.links:,} resolved inside the root"
    console().print(_table(rows))


def _sum(total: int, kinds: Mapping[str, int]) -> str:
    return f"{total:,}  ({_kinds(kinds)})" if kinds else f"{total:,}"


def _kinds(numbers: Mapping[str, int]) -> str:
    """Most frequent first."""
    ordered = sorted(numbers.items(), key=lambda pair: (-pair[1], pair[0]))
    return ", ".join(f"{kind} {number:,}" for kind, number in ordered)


def _facts(pool: Pool) -> dict[str, object]:
    header = pool.header
    names, copies = pool.repeated_names(), pool.repeated_digests()
    return {
        "name": header.name,
        "skills": header.count,
        "fingerprint": header.fingerprint,
        "sources": list(header.sources),
        "text_bytes": header.text_bytes,
        "files": header.files,
        "file_bytes": header.file_bytes,
        "repeated_names": dict(names[:_SHOWN_NAMES]),
        "skills_with_a_repeated_name": sum(number for _, number in names),
        "skills_with_a_byte_equal_copy": sum(number for _, number in copies),
        "path": str(pool.path),
        "links": list(header.links),
        "counts": header.counts.model_dump(),
    }


def _spec_breaches(pool: Pool) -> dict[str, str]:
    """rule -> how many skills break it, with one example, most frequent first."""
    from workbench.skills.lint import spec_findings

    numbers: Counter[str] = Counter()
    examples: dict[str, str] = {}
    for skill in pool.skills():
        findings = {finding.rule: finding for finding in spec_findings(skill, pool.tree(skill.id))}
        numbers.update(findings.keys())
        for rule, finding in findings.items():
            examples.setdefault(rule, f"{skill.id}: {finding.detail}")
    return {rule: f"{number:,}  e.g. {examples[rule]}" for rule, number in numbers.most_common()}


def _shown(value: object) -> str:
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, dict):
        return ", ".join(f"{key} ({number:,})" for key, number in value.items()) or "none"
    return "\n".join(map(str, value)) if isinstance(value, list) else str(value)


def _table(rows: Mapping[str, str], title: str | None = None) -> Table:
    """Two columns without a frame; all text made safe."""
    from rich.table import Table
    from rich.text import Text

    from workbench.core.terminal import safe

    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0), title=title, title_justify="left")
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for key, value in rows.items():
        table.add_row(Text(safe(key)), Text(safe(value)))
    return table
