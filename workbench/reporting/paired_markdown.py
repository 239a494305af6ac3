"""A paired report in Markdown, for pull requests: sentences, every comparison, what else differs, tasks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from workbench.reporting.gfm import page, table, text
from workbench.reporting.paired import PairedReport, PairedResult
from workbench.reporting.paired_words import aside, cautions, further, method, row_name, sentence, settings
from workbench.reporting.wording import interval, p_value, rate, signed

_HEADS = (
    "",
    "first",
    "second",
    "difference",
    "95% interval",
    "p",
    "Holm",
    "BH",
    "won/lost",
    "McNemar",
    "MDE",
)
_CHANGED = ("task", "first", "second", "difference", "trials")


def render(report: PairedReport) -> str:
    """GitHub-flavoured Markdown; names from logs are escaped."""
    lines: list[str] = []
    for result in report.results:
        said = text(sentence(result))
        lines += [f"{said if result.baseline else f'**{said}**'}  "]
        lines += [f"{text(line)}  " for line in (*further(result, report.margin), *cautions(result))]
        lines.append("")
    lines += [f"> {text(line)}  " for line in aside(report)]
    lines += ["", *table(_HEADS, [_row(result) for result in report.results])]
    differing = ("what else differs", "first", "second", "in")
    lines += table(differing, settings(report), "What else differs", numeric=False)
    for result in report.results:
        lines += table(_CHANGED, list(_changes(result)), f"{row_name(result)}: tasks that changed")
    return page([*lines, text(method(report))])


def _row(result: PairedResult) -> Sequence[str]:
    found = result.comparison
    return (
        row_name(result),
        rate(result.first.success.value),
        rate(result.second.success.value),
        signed(found.difference.value),
        interval(found.difference),
        p_value(found.p_value),
        p_value(found.p_adjusted),
        p_value(found.p_fdr),
        f"{found.better}/{found.worse} of {found.difference.tasks}",
        "-" if result.single is None else p_value(result.single.p_value),
        rate(found.detectable),
    )


def _changes(result: PairedResult) -> Iterator[Sequence[str]]:
    for change in result.comparison.changes:
        yield (
            change.task,
            rate(change.first),
            rate(change.second),
            signed(change.first - change.second),
            f"{change.trials[0]} and {change.trials[1]}",
        )
