"""Numbers that the papers print, beside ours, with what differs in the setting.

They live in ``results/published/<paper>.yaml``, one entry per table. Sameness of a benchmark's name is
no sameness of setting: what is known to differ is said, and what is not stated is said as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal

from pydantic import Field

from workbench.core.content import Content, load_content
from workbench.core.workspace import Workspace, packaged_root
from workbench.reporting.schema import Beside, BesideRow, Block, RoutingSummary, Summary

_FOLDER = "results/published"


class PublishedRow(Content):
    """One system's numbers, in the order of the table's columns; ``null`` where none is printed."""

    system: str = Field(description="as the paper names it")
    values: tuple[float | None, ...] = Field(description="percent")


class PublishedTable(Content):
    """One table (or part of one, for one benchmark) of a paper."""

    table: str = Field(description="its number, or where in the text")
    kind: Literal["routing", "success"] = Field(description="what is measured")
    benchmark: str = Field(description="as the paper names it")
    queries: int | None = Field(default=None, description="queries or tasks")
    pool: str | None = Field(default=None, description="pool, where the paper has several")
    pool_size: int | None = Field(default=None, description="skills in the pool")
    tier: str | None = Field(default=None, description="tier of the benchmark")
    k: int | None = Field(default=None, description="skills given to the model")
    trials: int | None = Field(default=None, description="trials of each task")
    macro: bool = Field(default=False, description="mean over the benchmark's sets, each counting alike")
    setting: str = Field(default="", description="what else a reader must know")
    columns: tuple[str, ...] = Field(description="metrics by our names, or models")
    rows: tuple[PublishedRow, ...] = Field(description="systems, in the paper's order")


class PublishedPaper(Content):
    """All that is recorded of one paper."""

    schema_version: Literal[1] = Field(description="of this format")
    paper: str = Field(description="short name")
    title: str = Field(description="full title")
    tables: tuple[PublishedTable, ...] = Field(description="tables")


def load_published(workspace: Workspace) -> list[PublishedPaper]:
    """Every paper of the workspace and of the package, by name.

    Raises:
        ContentError: a file is wrong; names file and line.
    """
    found: dict[str, Path] = {}
    for root in (packaged_root(), workspace.base):
        found |= {path.stem: path for path in sorted((root / _FOLDER).glob("*.yaml"))}
    papers = [load_content(path, PublishedPaper) for _, path in sorted(found.items())]
    for paper, path in zip(papers, (p for _, p in sorted(found.items())), strict=True):
        _check(paper, path)
    return papers


def with_published(summary: Summary, papers: Sequence[PublishedPaper]) -> Summary:
    """The summary with the published tables on its suites beside our numbers."""
    return summary.model_copy(update={"published": tuple(_all(summary, papers))})


def _check(paper: PublishedPaper, path: Path) -> None:
    from workbench.core.errors import ContentError

    for table in paper.tables:
        for row in table.rows:
            if len(row.values) != len(table.columns):
                what = f"table {table.table}: {row.system}: {len(row.values)} values for"
                raise ContentError(path, None, f"{what} {len(table.columns)} columns")


def _all(summary: Summary, papers: Sequence[PublishedPaper]) -> Iterator[Beside]:
    for paper in papers:
        for table in paper.tables:
            if table.kind == "routing":
                ours = [found for found in summary.routing if _same(found.suite, table.benchmark)]
                if ours:
                    yield _beside(paper, table, _routing_rows(table, ours), _routing_differs(table, ours))
            else:
                blocks = [block for block in summary.blocks if _same(block.suite, table.benchmark)]
                if blocks:
                    yield _beside(paper, table, _success_rows(table, blocks), _success_differs(table, blocks))


def _beside(
    paper: PublishedPaper, table: PublishedTable, ours: Sequence[BesideRow], differs: Iterable[str]
) -> Beside:
    columns = table.columns if table.kind == "routing" else (*table.columns, "here")
    blank = () if table.kind == "routing" else (None,)
    rows = [BesideRow(system=r.system, ours=False, values=(*r.values, *blank)) for r in table.rows]
    lead = () if table.kind == "routing" else (None,) * len(table.columns)
    mine = [row.model_copy(update={"values": (*lead, *row.values)}) for row in ours]
    where = [table.pool and f"pool {table.pool}", table.tier and f"tier {table.tier}"]
    return Beside(
        paper=paper.paper,
        table=table.table,
        benchmark=" ".join([table.benchmark, *(f"({part})" for part in where if part)]),
        setting=table.setting,
        differs=tuple(differs),
        columns=columns,
        rows=(*rows, *mine),
    )


def _routing_rows(table: PublishedTable, ours: Sequence[RoutingSummary]) -> list[BesideRow]:
    rows = []
    for found in ours:
        strata = {stratum.name: stratum for stratum in found.strata}
        values = []
        for column in table.columns:
            metric, _, stratum = column.partition(" (")
            wanted = "multi" if stratum == "multi)" else "macro" if table.macro else "all"
            part = strata.get(wanted, strata["all"])
            value = None if (measured := part.metrics.get(metric)) is None else measured.value
            values.append(None if value is None else 100 * value)
        rows.append(BesideRow(system=f"{found.router}, here", ours=True, values=tuple(values)))
    return rows


def _success_rows(table: PublishedTable, blocks: Sequence[Block]) -> list[BesideRow]:
    rows = []
    for block in blocks:
        for arm in block.arms:
            value = (arm.macro if table.macro and arm.macro is not None else arm.success).value
            name = f"{arm.arm.removeprefix('routed-')}, {block.model}"
            shown = None if value is None else 100 * value
            rows.append(BesideRow(system=name, ours=True, values=(shown,)))
    return rows


def _routing_differs(table: PublishedTable, ours: Sequence[RoutingSummary]) -> Iterator[str]:
    tasks = {stratum.tasks for found in ours for stratum in found.strata if stratum.name == "all"}
    yield from _unlike("queries", table.queries, tasks)
    yield from _unlike("skills in the pool", table.pool_size, {f.pool_size for f in ours if f.pool_size})


def _success_differs(table: PublishedTable, blocks: Sequence[Block]) -> Iterator[str]:
    yield from _unlike("tasks", table.queries, {block.tasks for block in blocks})
    yield from _unlike("trials a task", table.trials, {n for block in blocks for n in block.trials})
    given = {int(arm.variant["k"]) for block in blocks for arm in block.arms if "k" in arm.variant}
    yield from _unlike("skills given", table.k, given)
    yield f"agent {', '.join(sorted({block.agent for block in blocks}))} here"


def _unlike(what: str, there: int | None, here: set[int]) -> Iterator[str]:
    shown = ", ".join(f"{value:,}" for value in sorted(here)) or "unknown"
    if there is None:
        yield f"{what}: not stated there, {shown} here"
    elif here != {there}:
        yield f"{what}: {there:,} there, {shown} here"


def _same(suite: str, benchmark: str) -> bool:
    """``skillsbench`` and ``SkillsBench``, ``srabench`` and ``SRA-Bench``."""
    return _letters(suite) == _letters(benchmark)


def _letters(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())
