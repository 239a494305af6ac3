"""``workbench compare``: is one run, arm or model better than another, and is it sure?"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import click

from workbench.cli._numbers import Finite, Whole
from workbench.cli._targets import check_targets, write_target
from workbench.core.errors import GateError, UsageError
from workbench.core.terminal import console, print_table

if TYPE_CHECKING:
    from workbench.reporting.paired import PairedReport
    from workbench.reporting.pairing import Grouped, Pair

_LOGS = click.Path(path_type=Path)
_FILE = click.Path(path_type=Path, dir_okay=False)
INCOMPLETE = 4


@click.command("compare", short_help="Compare two runs, arms or models, paired by task.")
@click.argument("first", type=_LOGS, metavar="A")
@click.argument("second", type=_LOGS, metavar="[B]", required=False)
@click.option("--arm", metavar="ARM", help="Only this arm of both.")
@click.option("--arms", nargs=2, metavar="X Y", help="Two arms of run A, e.g. bm25 gold.")
@click.option("--models", nargs=2, metavar="X Y", help="Two models of run A.")
@click.option("--agents", nargs=2, metavar="X Y", help="Two agents of run A.")
@click.option("--margin", type=Finite(0, 1, min_open=True), help="Sameness: within this much reward.")
@click.option(
    "--require",
    type=click.Choice(("better", "not-worse", "equivalent")),
    help="Exit with 2 unless every comparison shows A to be this (the last two need --margin).",
)
@click.option(
    "--missing-by-chance",
    is_flag=True,
    help="--require looks at scored trials only. Else it must hold with all others counted against it.",
)
@click.option("--common", is_flag=True, help="Compare the tasks that both planned, where plans differ.")
@click.option(
    "--seed", type=Whole(0), default=0, show_default=True, help="Of the bootstrap and sampled tests."
)
@click.option("--markdown", type=_FILE, metavar="FILE", help="For a pull request.")
@click.option("--json", "json_file", type=_FILE, metavar="FILE", help="Everything, for programs.")
def command(
    first: Path,
    second: Path | None,
    arm: str | None,
    arms: tuple[str, str] | None,
    models: tuple[str, str] | None,
    agents: tuple[str, str] | None,
    margin: float | None,
    require: str | None,
    missing_by_chance: bool,
    common: bool,
    seed: int,
    markdown: Path | None,
    json_file: Path | None,
) -> int:
    """Compare runs A and B in every arm that both have, or two --arms, --models or --agents of A.

    Trials are averaged within tasks and tasks are paired. What is not paired (another suite, other
    or changed tasks) is refused with the reason. The routed arms of a call are one family for the
    corrections; no skills and gold beside them are baselines, which check what else changed between
    the two. Alone, they are the family. --require looks at the family.

    Exit codes: 0 done; 1 nothing could be paired; 2 --require does not hold; 4 trials are missing on
    either side beyond what a report may bear.
    """
    from workbench.reporting.find import find_logs
    from workbench.reporting.paired import Question, paired_report
    from workbench.reporting.paired_markdown import render
    from workbench.reporting.paired_view import build
    from workbench.reporting.pairing import on_common_tasks, require_same_tasks

    if require in {"not-worse", "equivalent"} and margin is None:
        raise UsageError(f"--require {require} needs --margin, e.g. --margin 0.03")
    logs = find_logs([path for path in (first, second) if path is not None])
    check_targets({"markdown": markdown, "json": json_file}, logs)
    found = _pairs(first, second, arm, arms=arms, models=models, agents=agents)
    require_same_tasks(found.pairs, common=common)
    question = Question(margin=margin, seed=seed)
    report = paired_report(on_common_tasks(found.pairs), question, found.unpaired)
    out = console()
    print_table(build(report, out.width))
    if markdown is not None:
        write_target(markdown, render(report))
    if json_file is not None:
        write_target(json_file, report.model_dump_json(indent=2) + "\n")
    if require is not None:
        _gate(report, require, by_chance=missing_by_chance)
    return 0 if found.complete else INCOMPLETE


@dataclass(frozen=True)
class _Found:
    """The pairs that were asked for, whether enough of their trials are there, and arms without a pair."""

    pairs: list[Pair]
    complete: bool
    unpaired: list[str] = field(default_factory=list)


def _pairs(first: Path, second: Path | None, arm: str | None, **within: tuple[str, str] | None) -> _Found:
    from workbench.reporting import pairing

    asked = {kind: names for kind, names in within.items() if names is not None}
    if (second is not None) + len(asked) != 1:
        raise UsageError("give two runs A B, or one run with --arms, --models or --agents X Y")
    run, complete = read_run(first)
    if second is not None:
        other, sound = read_run(second)
        _refuse_overlap(first, run, second, other)
        pairs = pairing.pair_runs(run, other, arm)
        alone = pairing.unpaired(run, other, pairs) if arm is None else []
        return _Found(pairs, complete and sound, alone)
    ((kind, names),) = asked.items()
    if kind == "arms":
        return _Found(pairing.pair_arms(run, *names), complete)
    pair = pairing.pair_models if kind == "models" else pairing.pair_agents
    return _Found(pair(run, *names, arm), complete)


def _refuse_overlap(first: Path, run: Grouped, second: Path, other: Grouped) -> None:
    """A trial compared with itself says nothing."""
    mine, theirs = _evaluations(run), _evaluations(other)
    if mine == theirs:
        raise UsageError(
            f"{first} and {second} hold the same evaluations;"
            " compare within one with --arms, --models or --agents X Y"
        )
    if shared := mine & theirs:
        raise UsageError(
            f"{first} and {second} have {len(shared)} of {len(mine | theirs)} evaluations in common;"
            " give two folders or logs that share none"
        )


def _evaluations(run: Grouped) -> set[str]:
    return {fact.run for cells in run.values() for cell in cells for fact in cell.facts}


def read_run(path: Path) -> tuple[Grouped, bool]:
    """The cells of a run, and whether enough of their trials are there.

    Raises:
        UsageError: nothing can be read; says what each file is.
    """
    from workbench.reporting.cells import group
    from workbench.reporting.facts import collect
    from workbench.reporting.find import find_logs
    from workbench.reporting.headline import too_many_missing
    from workbench.reporting.read import Notes, read_trials

    notes = Notes()
    grouped = group(collect(read_trials(find_logs([path]), notes)).facts)
    if not grouped:
        found = [*notes.unreadable, *notes.foreign]
        raise UsageError("; ".join(f"{log}: {reason}" for log, reason in found) or f"{path}: no trials")
    cells = [cell for found in grouped.values() for cell in found]
    missing = (sum(f.status != "scored" for f in cell.facts) / len(cell.facts) for cell in cells)
    return grouped, not notes.unreadable and not any(map(too_many_missing, missing))


def _gate(report: PairedReport, require: str, *, by_chance: bool) -> None:
    """Raise where something was required of the family and does not hold."""
    from workbench.reporting.paired_words import holds, sentence

    for result in report.results:
        if result.baseline or holds(result, require, by_chance=by_chance):
            continue
        advice = ""
        if holds(result, require, by_chance=True):
            advice = " It holds on what was scored: --missing-by-chance accepts that."
        raise GateError(f"--require {require} does not hold: {sentence(result)}{advice}")
