"""The report protocol: a summary -> text. Each module in ``reports/`` is one report, by file name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, cast

from workbench.core.plugins import load_plugin, plugin_names
from workbench.reporting.schema import Summary

_PACKAGE = "workbench.reporting.reports"


@dataclass(frozen=True)
class Canvas:
    """What a report is drawn on.

    Attributes:
        width: columns, at least 20.
        colour: whether ANSI colours are understood and wanted.
        unicode: whether more than ASCII can be shown.
    """

    width: int = 100
    colour: bool = False
    unicode: bool = True


class Report(Protocol):
    """A module that renders summaries.

    Law, tested for every report: the text depends on nothing but the arguments, ends with one
    newline, shows every block, computes nothing that is not in the summary, holds no control
    character that came from a log, and is plain where the canvas is. An empty summary renders too.
    """

    def render(self, summary: Summary, canvas: Canvas) -> str:
        """The whole report."""


def report_names() -> list[str]:
    """Names of the reports there are, sorted."""
    return plugin_names(_PACKAGE)


def load_report(name: str) -> Report:
    """The report of a name.

    Raises:
        UnknownNameError: there is none; names the nearest.
    """
    return cast(Report, load_plugin(_PACKAGE, name, "report"))
