"""For people at a terminal: what the evidence says first, then what it rests on."""

from __future__ import annotations

import io
from collections.abc import Iterator

from rich.console import Console, Group, RenderableType
from rich.rule import Rule
from rich.text import Text

from workbench.core.terminal import safe
from workbench.reporting import associations, sections, usage
from workbench.reporting.drawing import ASCII, UNICODE, Glyphs
from workbench.reporting.published_view import published
from workbench.reporting.report import Canvas
from workbench.reporting.schema import Block, Summary
from workbench.reporting.wording import AGREEMENT, HARM, ended, plural, trials, wrapped

_SENTENCES = 5


def render(summary: Summary, canvas: Canvas) -> str:
    """The report as text, with ANSI colours where the canvas takes them."""
    target = Console(
        file=io.StringIO(),
        width=canvas.width,
        force_terminal=canvas.colour,
        color_system="standard" if canvas.colour else None,
        no_color=not canvas.colour,
        highlight=False,
        emoji=False,
        legacy_windows=False,
    )
    target.print(build(summary, canvas))
    assert isinstance(target.file, io.StringIO)
    lines = [line.rstrip() for line in target.file.getvalue().splitlines()]
    return "\n".join(lines).strip("\n") + "\n"


def build(summary: Summary, canvas: Canvas) -> RenderableType:
    """The report as something rich can print."""
    glyphs = UNICODE if canvas.unicode else ASCII
    parts: list[RenderableType] = [*sections.unreadable(summary)]
    if not summary.blocks:
        parts.append(Text(f"No trials in {plural(len(summary.logs.read), 'log')}."))
    for number, block in enumerate(summary.blocks):
        parts += [Text(""), Rule(style="dim", characters=glyphs.rule), Text("")] if number else []
        parts.extend(_block(block, canvas.width, glyphs))
    for title, content in (
        ("Routing alone, each task once", usage.routing(summary, canvas.width)),
        ("Published numbers", published(summary, canvas.width)),
        ("", sections.notes(summary, canvas.width, glyphs)),
    ):
        parts.extend(_section(title, content))
    return Group(*parts)


def _block(block: Block, width: int, glyphs: Glyphs) -> Iterator[RenderableType]:
    yield _title(block, glyphs)
    yield Text("")
    for sentence in block.headline[:_SENTENCES]:
        yield Text(wrapped(safe(sentence), width), style="bold")
    if (more := len(block.headline) - _SENTENCES) > 0:
        yield Text(f"{plural(more, 'more comparison')} below.", style="dim")
    for flag in block.flags:
        yield Text(wrapped(f"! {safe(flag)}", width), style="yellow")
    for title, content in (
        (sections.success_title(block), sections.success(block, width, glyphs)),
        ("Difference, on tasks scored in both arms", sections.differences(block, width)),
        (ended(block.arms), sections.funnel(block, width, glyphs)),
        ("What goes with success (associations, not effects)", associations.given(block, width)),
        (HARM, associations.harm(block, width)),
        (AGREEMENT, associations.agreement(block, width)),
        ("Over repeated trials (over so many tasks)", sections.passes(block, width)),
        ("Skills used (over so many tasks)", usage.use(block, width)),
        ("Spent (over so many tasks)", usage.spending(block, width)),
        ("Success against price", usage.worth(block, width)),
        ("Excluded", sections.exclusions(block)),
    ):
        yield from _section(title, content)


def _title(block: Block, glyphs: Glyphs) -> Text:
    dot = f" {glyphs.dot} "
    scored, planned = sum(a.scored for a in block.arms), sum(a.planned for a in block.arms)
    size = f"{plural(block.tasks, 'task')} {glyphs.times} {trials(block.trials)}"
    facts = [size, plural(len(block.arms), "arm"), f"{scored:,} of {planned:,} trials scored"]
    facts += [f"sandbox {', '.join(block.sandboxes)}"] if block.sandboxes else []
    names = Text.assemble(
        (safe(block.suite), "bold cyan"), dot, safe(block.model), dot, f"agent {safe(block.agent)}"
    )
    return Text("\n").join([names, Text(safe(dot.join(facts)), style="dim")])


def _section(title: str, content: RenderableType | None) -> Iterator[RenderableType]:
    if content is None:
        return
    yield Text("")
    if title:
        yield Text(title, style="bold")
    yield content
