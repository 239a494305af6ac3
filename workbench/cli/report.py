"""``workbench report``: what the logs say."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from workbench.cli._targets import check_targets, say_written, write_target
from workbench.core.errors import UnknownNameError
from workbench.core.terminal import console, safe
from workbench.core.workspace import find_workspace

if TYPE_CHECKING:
    from workbench.reporting.schema import Summary

INCOMPLETE = 4
_FILES = {"html": "html", "markdown": "markdown", "json": "json", "csv": "csv"}
"""Option -> report that it writes to a file."""


Decorated = TypeVar("Decorated", bound=Callable[..., Any])


def _file(option: str, help_text: str) -> Callable[[Decorated], Decorated]:
    kind = click.Path(path_type=Path, dir_okay=False)
    return click.option(f"--{option}", type=kind, metavar="FILE", help=help_text)


@click.command("report", short_help="Summarise logs: success, differences, funnel, routing, cost.")
@click.argument("logs", nargs=-1, type=click.Path(path_type=Path), metavar="[LOGS]...")
@click.option(
    "--format", "name", default="terminal", metavar="NAME", help="terminal, json, csv, markdown or html."
)
@click.option("-o", "--output", type=click.Path(path_type=Path, dir_okay=False), help="Write to a file.")
@click.option("--published", is_flag=True, help="Set the papers' numbers on the same benchmark beside ours.")
@_file("html", "One self-contained page, for a browser.")
@_file("markdown", "For a pull request.")
@_file("json", "Everything, for programs.")
@_file("csv", "One number a row, with interval and n.")
@_file("parquet", "One trial a row, for data frames.")
def command(
    logs: tuple[Path, ...],
    name: str,
    output: Path | None,
    published: bool,
    parquet: Path | None,
    **files: Path | None,
) -> int:
    """Summarise LOGS: log files, or folders of one run each. Default: the newest run in results/.

    Several are joined: trials found twice count once, arms are compared where suite, model and
    agent agree. Any of --html, --markdown, --json, --csv and --parquet write files instead of
    printing; the logs are read once.

    Exit codes: 0 the report is complete; 1 nothing could be read; 4 a log is damaged, or in some
    arm more than 2 % of the planned trials are excluded or pending.
    """
    from workbench.reporting.announce import summary_of
    from workbench.reporting.find import find_logs, newest_run
    from workbench.reporting.report import report_names
    from workbench.reporting.table import TrialTable

    if name not in report_names():
        raise UnknownNameError("report", name, report_names())
    wanted = {option: path for option, path in files.items() if path is not None}
    chosen = find_logs(logs) if logs else newest_run(find_workspace().results)
    check_targets({**wanted, "parquet": parquet, "output": output}, chosen)
    table = None if parquet is None else TrialTable()
    summary = summary_of(chosen, table)
    if published:
        summary = _beside(summary)
    for option, path in wanted.items():
        _write(summary, _FILES[option], path)
    if table is not None and parquet is not None:
        table.write(parquet)
        say_written(parquet)
    if output is not None:
        _write(summary, name, output)
    elif not wanted and parquet is None:
        _print(summary, name)
    return 0 if summary.complete else INCOMPLETE


def _beside(summary: Summary) -> Summary:
    from workbench.reporting.published import load_published, with_published

    papers = load_published(find_workspace())
    found = with_published(summary, papers)
    if not found.published:
        suites = ", ".join(sorted({block.suite for block in summary.blocks}))
        known = ", ".join(sorted({table.benchmark for paper in papers for table in paper.tables}))
        console(stderr=True).print(safe(f"no published table is on {suites}; there are tables on {known}"))
    return found


def _print(summary: Summary, name: str) -> None:
    from workbench.reporting.announce import canvas_of
    from workbench.reporting.report import load_report

    target = console()
    target.file.write(load_report(name).render(summary, canvas_of(target)))


def _write(summary: Summary, name: str, path: Path) -> None:
    from workbench.reporting.report import Canvas, load_report

    write_target(path, load_report(name).render(summary, Canvas()))
