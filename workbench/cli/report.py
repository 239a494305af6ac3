"""``workbench report``: what the logs say."""

from __future__ import annotations

from pathlib import Path

import click

from workbench.core.atomic import write_text
from workbench.core.errors import UnknownNameError
from workbench.core.terminal import console
from workbench.core.workspace import find_workspace

INCOMPLETE = 4


@click.command("report", short_help="Summarise logs: success, differences, funnel, routing, cost.")
@click.argument("logs", nargs=-1, type=click.Path(path_type=Path), metavar="[LOGS]...")
@click.option("--format", "name", default="terminal", metavar="NAME", help="terminal, json, csv or markdown.")
@click.option("-o", "--output", type=click.Path(path_type=Path, dir_okay=False), help="Write to a file.")
def command(logs: tuple[Path, ...], name: str, output: Path | None) -> int:
    """Summarise LOGS: log files, or folders of one run each. Default: the newest run in results/.

    Several are joined: trials found twice count once, arms are compared where suite, model and
    agent agree.

    Exit codes: 0 the report is complete; 1 nothing could be read; 4 a log is damaged, or in some
    arm more than 2 % of the planned trials are excluded or pending.
    """
    from workbench.reporting.announce import canvas_of, summary_of
    from workbench.reporting.find import find_logs, newest_run
    from workbench.reporting.report import Canvas, load_report, report_names

    if name not in report_names():
        raise UnknownNameError("report", name, report_names())
    chosen = find_logs(logs) if logs else newest_run(find_workspace().results)
    summary = summary_of(chosen)
    target = console()
    text = load_report(name).render(summary, Canvas() if output else canvas_of(target))
    if output is None:
        target.file.write(text)
    else:
        write_text(output, text)
    return 0 if summary.complete else INCOMPLETE
