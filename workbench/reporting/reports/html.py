"""For people in a browser: one file that needs no network, in light and dark, by mouse, key or ear."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from workbench import __version__
from workbench.reporting.findings import holm_words
from workbench.reporting.page import beside, causes, evidence, trials
from workbench.reporting.page.markup import Content, Html, el
from workbench.reporting.page.view import View, place, views
from workbench.reporting.report import Canvas
from workbench.reporting.schema import Summary
from workbench.reporting.wording import DETECTABLE, plural
from workbench.reporting.wording import trials as trials_each

_PARTS = Path(__file__).parent.parent / "page"
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"
_ANSWERS = 6
"""Blocks whose strongest sentence stands below the page's title."""


def render(summary: Summary, canvas: Canvas) -> str:
    """The page. Its policy forbids it to load anything, and there is nothing to load."""
    del canvas
    shown = views(summary)
    body = [
        el("a", "Skip to the findings", href="#findings", class_="skip"),
        _masthead(summary, shown),
        el(
            "main",
            _answer(shown),
            evidence.overview(summary, shown),
            _blocks(summary, shown),
            _ending(summary),
            id="findings",
            tabindex="-1",
        ),
    ]
    page = el("html", _head(summary), el("body", body, _script()), lang="en")
    return f"<!doctype html>\n{page}\n"


def _head(summary: Summary) -> Html:
    suites = ", ".join(dict.fromkeys(block.suite for block in summary.blocks)) or "no trials"
    return el(
        "head",
        el("meta", charset="utf-8"),
        el("meta", name="viewport", content="width=device-width, initial-scale=1"),
        el("meta", name="color-scheme", content="light dark"),
        el("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        el("title", f"Skill workbench: {suites}"),
        el("link", rel="icon", href="data:,"),
        el("style", Html((_PARTS / "page.css").read_text(encoding="utf-8"))),
    )


def _script() -> Html:
    return el("script", Html((_PARTS / "page.js").read_text(encoding="utf-8")))


def _masthead(summary: Summary, shown: Sequence[View]) -> Html:
    unread = summary.logs.unreadable
    missing = summary.planned - summary.scored
    facts = [
        plural(summary.planned, "trial") + " planned",
        f"{summary.scored:,} scored",
        (f"{missing:,} missing" if missing else "none missing") + (" in the logs read" if unread else ""),
        plural(len(summary.logs.read), "log"),
        *([f"{plural(len(unread), 'log')} not read"] if unread else []),
    ]
    links = [el("a", view.name or view.block.suite, href=f"#block-{view.number}") for view in shown]
    label = "Theme: switch between light and dark"
    theme = el("button", "Theme", type="button", id="theme", aria_label=label)
    return el(
        "header",
        el("p", el("span", "Skill workbench", class_="brand"), theme, class_="top"),
        el("h1", "Does the router make the agent succeed more often?"),
        el("p", " · ".join(facts), class_="facts"),
        _unreadable(summary),
        el("nav", links, aria_label="Blocks") if len(links) > 1 else None,
    )


def _answer(shown: Sequence[View]) -> list[Html]:
    """What the evidence says, right below the question: all of one block, the strongest of several."""
    if len(shown) < 2:
        return [said for view in shown for said in evidence.verdict(view.block)]
    said = [view for view in shown if view.block.headline]
    first = sorted(said, key=_strength)[:_ANSWERS]
    lines = [
        el("p", el("a", view.name, href=f"#block-{view.number}"), ": ", view.block.headline[0])
        for view in sorted(first, key=lambda view: view.number)
    ]
    left = len(said) - len(first)
    rest = el("p", f"The strongest; {plural(left, 'block')} more below.", class_="lead") if left else None
    return [el("div", lines, class_="verdict"), *([rest] if rest else [])] if lines else []


def _strength(view: View) -> tuple[float, float]:
    """Blocks with the smallest corrected p first, of those alike the largest difference."""
    over = [arm.vs_none for arm in view.block.arms if arm.condition == "routed" and arm.vs_none is not None]
    least = min((1.0 if c.p_adjusted is None else c.p_adjusted for c in over), default=1.0)
    return least, -max((abs(c.difference.value or 0) for c in over), default=0.0)


def _unreadable(summary: Summary) -> Html | None:
    files = [
        el("li", f"{file.path} cannot be read ({file.reason}); its trials are not counted")
        for file in summary.logs.unreadable
    ]
    return el("ul", files, class_="flags grave") if files else None


def _blocks(summary: Summary, shown: Sequence[View]) -> list[Html]:
    if not shown:
        return [el("p", f"No trials in {plural(len(summary.logs.read), 'log')}.", class_="verdict")]
    return [_block(view, alone=len(shown) == 1) for view in shown]


def _block(view: View, *, alone: bool) -> Html:
    """Everything about one block; of one that is alone, the verdict stands below the page's title."""
    block, heading = view.block, f"heading-{view.number}"
    facts = [
        f"{plural(block.tasks, 'task')} × {trials_each(block.trials)} × {plural(len(block.arms), 'arm')}",
        f"agent {block.agent}",
        *([f"sandbox {', '.join(block.sandboxes)}"] if block.sandboxes else []),
    ]
    title: Content = [block.suite, " ", el("span", place(block, "model"), class_="model")]
    return el(
        "article",
        el("h2", title, id=heading),
        el("p", " · ".join(facts), class_="facts"),
        None if alone else evidence.verdict(block),
        evidence.success(view),
        evidence.differences(view),
        evidence.funnel(view),
        causes.causes(view),
        causes.changes(view),
        causes.spending(view),
        evidence.passes(view),
        trials.trials(view),
        trials.exclusions(view),
        id=f"block-{view.number}",
        aria_labelledby=heading,
    )


def _ending(summary: Summary) -> list[Html | None]:
    lines = [
        "The task is the unit of analysis: trials are averaged within it, and every interval is clustered by"
        f" task, at the {100 * summary.level:g}% level (score intervals; Fieller's for ratios).",
        f"p: exact sign-flip test over tasks{holm_words(summary)}. {DETECTABLE}",
        "Excluded and pending trials are counted, never dropped."
        f" Seed {summary.seed}. Workbench {__version__}.",
    ]
    logs = [el("li", path) for path in summary.logs.read]
    others = [el("li", f"{file.path}: {file.reason}") for file in summary.logs.foreign]
    if summary.logs.superseded:
        others.append(el("li", f"{plural(summary.logs.superseded, 'older or incomplete trial')} superseded"))
    return [
        causes.routing(summary),
        beside.published(summary),
        el(
            "section",
            el("h2", "How to read this"),
            [el("p", line) for line in lines],
            el("details", el("summary", plural(len(logs), "log") + " read"), el("ul", logs)),
            el("details", el("summary", "Not used"), el("ul", others)) if others else None,
            class_="notes",
        ),
    ]
