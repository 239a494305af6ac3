"""Numbers that the papers print, beside ours, with what differs in the setting.

They live in ``results/published/<paper>.yaml``, one entry per table. Sameness of a benchmark's name is
no sameness of setting: what is known to differ is said, and what is not stated is said as well.

A number of ours stands in a column only if it is over the same tasks: all of them, those with several gold
skills, one set. Else the cell is empty, with the reason. Where a paper averages over sets and ours cannot,
the mean over tasks stands there, and the table says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

from pydantic import Field

from workbench.core.content import Content, load_content
from workbench.core.workspace import Workspace, packaged_root
from workbench.reporting.numbers import Estimate
from workbench.reporting.schema import (
    ArmSummary,
    Beside,
    Block,
    OwnRow,
    PrintedRow,
    RoutingSummary,
    Stratum,
    Summary,
)
from workbench.reporting.settings import written

_FOLDER = "results/published"
_MULTI = " (multi)"
"""Ends the name of a column that is over the tasks with several gold skills."""
_SHARED_STRATA = {"all", "single", "multi", "macro"}
"""Strata that are no set of a benchmark."""


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
    pool_size: int | tuple[int, ...] | None = Field(
        default=None, description="skills in the pool; several where the numbers are means over pools"
    )
    tier: str | None = Field(default=None, description="tier of the benchmark")
    subset: str | None = Field(default=None, description="the one set of the benchmark that it is on")
    gold: str = Field(default="", description="what counts as gold, if not the benchmark's labels")
    k: int | None = Field(default=None, description="skills given to the model")
    trials: int | None = Field(default=None, description="trials of each task")
    macro: bool | None = Field(
        default=None,
        description="true: mean over the benchmark's sets, each counting alike; false: over its tasks; "
        "null: not stated",
    )
    sets: int | None = Field(default=None, description="sets of the benchmark, where it has several")
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
            routed = [found for found in summary.routing if _same(found.suite, table.benchmark)]
            blocks = [block for block in summary.blocks if _same(block.suite, table.benchmark)]
            if table.kind == "routing" and routed:
                differs = _routing_differs(table, routed)
                yield _beside(paper, table, _routing_rows(table, routed), differs)
            elif table.kind == "success" and blocks:
                differs = _success_differs(table, blocks, routed)
                yield _beside(paper, table, _success_rows(table, blocks), differs)


def _beside(
    paper: PublishedPaper, table: PublishedTable, ours: Iterable[OwnRow], differs: Iterable[str]
) -> Beside:
    own = () if table.kind == "routing" else ("here",)
    blank = (None,) * len(own)
    where = [table.subset, table.pool and f"pool {table.pool}", table.tier and f"tier {table.tier}"]
    return Beside(
        paper=paper.paper,
        table=table.table,
        kind=table.kind,
        benchmark=" ".join([table.benchmark, *(f"({part})" for part in where if part)]),
        setting=table.setting,
        differs=tuple(differs),
        columns=(*table.columns, *own),
        theirs=tuple(PrintedRow(system=row.system, values=(*row.values, *blank)) for row in table.rows),
        ours=tuple(ours),
    )


def _routing_rows(table: PublishedTable, ours: Sequence[RoutingSummary]) -> Iterator[OwnRow]:
    for found in ours:
        values = tuple(_measured(table, column, found) for column in table.columns)
        yield OwnRow(system=f"{_told_apart(found, ours)}, here", values=values)


def _told_apart(found: RoutingSummary, ours: Sequence[RoutingSummary]) -> str:
    """``bm25``, and what tells it from its namesakes: ``bm25 pool=skillrouter-hard``."""
    others = [other.variant for other in ours if other.router == found.router]
    unlike = {k: v for k, v in found.variant.items() if any(other.get(k) != v for other in others)}
    if "pool" in unlike:
        unlike.pop("pool_fingerprint", None)
    return " ".join([found.router, *(written(name, value) for name, value in unlike.items())])


def _measured(table: PublishedTable, column: str, found: RoutingSummary) -> Estimate:
    """Our number for a column, over the column's own tasks or not at all."""
    wanted = "multi" if column.endswith(_MULTI) else table.subset or "all"
    if wanted == "all" and table.macro and _has_macro(found):
        wanted = "macro"
    part = _strata(found).get(wanted)
    if part is None or part.tasks == 0:
        return Estimate(value=None, tasks=0, reason=f"no tasks of {wanted} here")
    measured = part.metrics.get(column.removesuffix(_MULTI))
    return measured or Estimate(value=None, tasks=0, reason="not measured here")


def _success_rows(table: PublishedTable, blocks: Sequence[Block]) -> Iterator[OwnRow]:
    several = len({(block.model, block.agent) for block in blocks}) > len({block.model for block in blocks})
    for block in blocks:
        place = f"{block.model}, {block.agent}" if several else block.model
        for arm in block.arms:
            name = f"{arm.arm.removeprefix('routed-')}, {place}"
            yield OwnRow(system=name, values=(*(None,) * len(table.columns), _succeeded(table, arm)))


def _succeeded(table: PublishedTable, arm: ArmSummary) -> Estimate:
    return arm.macro if table.macro and arm.macro is not None else arm.success


def _strata(found: RoutingSummary) -> dict[str, Stratum]:
    return {stratum.name: stratum for stratum in found.strata}


def _has_macro(found: RoutingSummary) -> bool:
    return "macro" in _strata(found)


def _routing_differs(table: PublishedTable, ours: Sequence[RoutingSummary]) -> Iterator[str]:
    over = table.subset or "all"
    tasks = {stratum.tasks for found in ours for stratum in found.strata if stratum.name == over}
    yield from _unlike("queries", table.queries, tasks)
    yield from _pools_differ(table, ours)
    if table.subset is None:
        yield from _average_differs(table, {found.router: _has_macro(found) for found in ours})
        yield from _sets_differ(table, ours)
    if table.gold:
        yield f"gold: {table.gold} there, the benchmark's labels here"


def _success_differs(
    table: PublishedTable, blocks: Sequence[Block], routed: Sequence[RoutingSummary]
) -> Iterator[str]:
    arms = [arm for block in blocks for arm in block.arms]
    yield from _unlike("tasks", table.queries, {block.tasks for block in blocks})
    yield from _unlike("trials a task", table.trials, {n for block in blocks for n in block.trials})
    yield from _unlike("skills given", table.k, {int(arm.variant["k"]) for arm in arms if "k" in arm.variant})
    if routed:
        yield from _pools_differ(table, routed)
    yield from _average_differs(table, {arm.arm: arm.macro is not None for arm in arms})
    yield from _sets_differ(table, routed)
    yield f"agent {', '.join(sorted({block.agent for block in blocks}))} here"


def _pools_differ(table: PublishedTable, ours: Sequence[RoutingSummary]) -> Iterator[str]:
    here = {found.pool_size for found in ours if found.pool_size}
    what, there = "skills in the pool", table.pool_size
    if isinstance(there, tuple):
        yield f"{what}: mean of {_listed(there)} there, {_listed(here) or 'unknown'} here, each by itself"
    else:
        yield from _unlike(what, there, here)


def _average_differs(table: PublishedTable, means_over_sets: Mapping[str, bool]) -> Iterator[str]:
    """Args: means_over_sets: whether ours has one, by row."""
    if table.macro:
        without = [name for name, has in means_over_sets.items() if not has]
        named = "" if len(without) == len(means_over_sets) else f" for {', '.join(without)}"
        if without:
            yield f"mean: over the sets there, over the tasks here{named}"
    elif table.macro is None and (table.sets is not None or any(means_over_sets.values())):
        yield "mean: over the sets or the tasks, not stated there; over the tasks here"


def _sets_differ(table: PublishedTable, ours: Sequence[RoutingSummary]) -> Iterator[str]:
    here = {len(_strata(found).keys() - _SHARED_STRATA) for found in ours if _has_macro(found)}
    if table.macro and table.sets is not None and here:
        yield from _unlike("sets", table.sets, here)


def _unlike(what: str, there: int | None, here: set[int]) -> Iterator[str]:
    shown = _listed(here) or "unknown"
    if there is None:
        yield f"{what}: not stated there, {shown} here"
    elif here != {there}:
        yield f"{what}: {there:,} there, {shown} here"


def _listed(values: Iterable[int]) -> str:
    return " and ".join(f"{value:,}" for value in sorted(values))


def _same(suite: str, benchmark: str) -> bool:
    """``skillsbench`` and ``SkillsBench``, ``srabench`` and ``SRA-Bench``."""
    return _letters(suite) == _letters(benchmark)


def _letters(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())
